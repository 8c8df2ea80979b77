-- One signed event after another, none twice. Where a run ended is kept beside the events, because
-- the next one begins there.
local path = os.getenv("BENCH_EVENTS")
local position = path .. ".position"

local function read(name)
  local file = io.open(name)
  if file == nil then return "" end
  local text = file:read("*a")
  file:close()
  return text
end

local ids, signatures, at = {}, {}, 0
local head, tail = "", ""

init = function()
  head, tail = read(path .. ".head"), read(path .. ".tail")
  for id, signature in read(path):gmatch("(%S+) (%S+)") do
    ids[#ids + 1] = id
    signatures[#signatures + 1] = signature
  end
  at = tonumber(read(position)) or 0
end

request = function()
  at = at + 1
  if at > #ids then error("too few events were made for this machine") end
  local headers = {
    ["content-type"] = "application/json",
    ["webhook-signature"] = "t=nonce,s=" .. signatures[at],
  }
  return wrk.format("POST", "/v1/gateway/nmi/" .. at % 32, headers, head .. ids[at] .. tail)
end

done = function(summary)
  local file = io.open(position, "r")
  local before = 0
  if file ~= nil then
    before = tonumber(file:read("*a")) or 0
    file:close()
  end
  file = io.open(position, "w")
  file:write(before + summary.requests + 1000)
  file:close()
end
