-- One of the seeded stores at random, each time.
math.randomseed(os.time())

request = function()
  return wrk.format("GET", "/v1/tenants/store-" .. math.random(10000) .. "/site")
end
