-- For wrk: creates items, every one with an id of its own.
--   wrk -s create.lua URL -- FILE TAG
-- FILE holds requests cut in two where the id belongs (20 characters), each half ended by a zero
-- byte; TAG is four characters that no run before used. Prints one line of JSON at the end.
local threads = 0

function setup(thread)
  threads = threads + 1
  thread:set("number", threads)
end

function init(args)
  local file = assert(io.open(args[1], "rb"))
  halves = {}
  for text in file:read("*a"):gmatch("[^%z]+") do halves[#halves + 1] = text end
  file:close()
  tag = args[2]
  made = 0
end

function request()
  made = made + 1
  local at = (made * 2 + number * 338) % #halves
  return halves[at + 1] .. string.format("%s-%02d-%012d", tag, number, made) .. halves[at + 2]
end

dofile(debug.getinfo(1, "S").source:sub(2):match("^(.*)/") .. "/summary.lua")
