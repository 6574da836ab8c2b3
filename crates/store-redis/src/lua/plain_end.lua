-- How most runs end: its owner says `done` or `failed` of what is in flight, with no doubt left by a takeover, and with no
-- reference, now or before. Then a few bytes of the head change, the word is put in, and all else stays the bytes that it
-- is. Whatever is not exactly so, also what is damaged, is left to what follows, which takes the record apart.
local holder, says, said, brings_ref = ARGV[2], ARGV[3]:byte(), ARGV[4], ARGV[6] or ''

local _, stands_as, was_taken = value:byte(1, 3)
if stands_as == IN_FLIGHT and was_taken == 0 and value:sub(5, 28) == holder and (says == DONE or says == FAILED)
  and brings_ref == '' then
  local key_id = value:byte(77)
  local high, low = value:byte(59, 60)
  local claim_at = 61 + 256 * high + low
  high, low = value:byte(claim_at, claim_at + 1)
  -- Behind the claim are four slots, of which each is nothing but its length, and no evidence.
  local NEVER, NOTHING = '\0\0\0\0\0\0\0\0', '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
  if low and claim_at >= 95 + key_id and claim_at + 17 + 256 * high + low == #value and value:sub(-16) == NOTHING then
    local limited, exp, retention = struct.unpack('>BI8I8', value, 78 + key_id)
    value = '\1' .. ARGV[3] .. '\0\0' .. holder .. NEVER .. value:sub(37, 48) .. struct.pack('>I6', now)
      .. value:sub(55, -17) .. struct.pack('>I4', #said) .. said .. '\0\0\0\0\0\0\0\0\0\0\0\0'
    local purge_at = now
    if limited == 1 and exp > now then purge_at = exp end
    purge_at = purge_at + retention + SKEW
    if purge_at < 2 ^ 53 then
      redis.call('SET', KEYS[1], value, 'PXAT', string.format('%d', purge_at))
    else
      redis.call('SET', KEYS[1], value)
    end
    return {ARGV[1], 'completed', now}
  end
end
