-- What stands: `value`, nil where there is nothing under the key, or its time is over.
--
-- Each reply begins with the caller's own words, so that it can tell it from another call's.

local value = redis.call('GET', KEYS[1])
if value then
  -- As far as it is read here: the version, the head, and the length of the identity's key id.
  local version, state = value:byte(1, 2)
  local key_id = value:byte(77)
  if version ~= 1 or not key_id or #value < 94 + key_id then return {ARGV[1], 'corrupt', now} end
  if state == CANCELLED or state >= RELEASED then
    local limited, exp, retention = struct.unpack('>BI8I8', value, 78 + key_id)
    -- It is kept from the later of `exp` and its last change. Where `exp` alone keeps it, as mostly, that is enough.
    if limited ~= 1 or exp + retention + SKEW <= now then
      local last = struct.unpack('>I6', value, 49)
      if limited == 1 and exp > last then last = exp end
      if last + retention + SKEW <= now then value = nil end
    end
  end
end
