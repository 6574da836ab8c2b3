-- The store's clock: the server's, in milliseconds since 1970. It judges `exp`, leases and retention.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
