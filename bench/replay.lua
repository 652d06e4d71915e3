-- For wrk: sends the requests of a file in turn, each thread from a place of its own.
--   wrk -s replay.lua URL -- FILE
-- FILE holds whole requests, each ended by a zero byte. Prints one line of JSON at the end.
local threads = 0

function setup(thread)
  thread:set("turn", threads * 7919)
  threads = threads + 1
end

function init(args)
  local file = assert(io.open(args[1], "rb"))
  requests = {}
  for text in file:read("*a"):gmatch("[^%z]+") do requests[#requests + 1] = text end
  file:close()
end

function request()
  turn = turn + 1
  return requests[turn % #requests + 1]
end

dofile(debug.getinfo(1, "S").source:sub(2):match("^(.*)/") .. "/summary.lua")
