-- For wrk: sends the requests of a file in turn, with a text of its own in each wherever @id stands.
--   wrk -s batch.lua URL -- FILE TAG
-- FILE holds whole requests, each ended by a zero byte, whose Content-Length counts 20 characters for
-- each @id; TAG is four characters that no run before used. Prints one line of JSON at the end.
local threads = 0

function setup(thread)
  threads = threads + 1
  thread:set("number", threads)
end

-- The text around each @id, once: to look for them in 100 KB would take longer than the server does.
local function pieces(text)
  local all = {}
  local from = 1
  while true do
    local at, last = text:find("@id", from, true)
    all[#all + 1] = text:sub(from, (at or 0) - 1)
    if not at then return all end
    from = last + 1
  end
end

function init(args)
  local file = assert(io.open(args[1], "rb"))
  requests = {}
  for text in file:read("*a"):gmatch("[^%z]+") do requests[#requests + 1] = pieces(text) end
  file:close()
  tag = args[2]
  made = 0
end

function request()
  made = made + 1
  local id = string.format("%s-%02d-%012d", tag, number, made)
  return table.concat(requests[(made + number * 7) % #requests + 1], id)
end

dofile(debug.getinfo(1, "S").source:sub(2):match("^(.*)/") .. "/summary.lua")
