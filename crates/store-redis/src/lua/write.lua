-- Writes the record and gives the answer. `updated` moves with state and epoch, and not with a renewal. What has ended
-- expires by itself, unless that time is too far to be counted; what is open never does.

if state ~= stood_in or epoch ~= stood_at then updated = now end
value = struct.pack(LAYOUT, 1, state, taken, due, owner, epoch, deadline, first, created, updated, attempts,
  #identity, identity, #claim, claim, #word, word, #acceptance, acceptance,
  #provider_ref, provider_ref, #result_ref, result_ref) .. evidence

local purge_at
if state == CANCELLED or state >= RELEASED then
  local limited, exp, retention = struct.unpack('>BI8I8', identity, inside(identity))
  purge_at = updated
  if limited == 1 and exp > purge_at then purge_at = exp end
  purge_at = purge_at + retention + SKEW
end
if purge_at and purge_at < 2 ^ 53 then
  redis.call('SET', KEYS[1], value, 'PXAT', purge_at)
else
  redis.call('SET', KEYS[1], value)
end
