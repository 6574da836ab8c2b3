-- A claim on what nobody has claimed yet, and on what has ended: most claims are one of these, and pay for no more than
-- they need.
local by, wished, claim_seal, next_epoch, lease = ARGV[2], ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6])
local seen_state, needs_approval = ARGV[7], ARGV[10] == '1'

local limited, exp = struct.unpack('>BI8', wished, 18 + wished:byte(17))
local expired = limited == 1 and now >= exp

if not value then
  -- A claim that names what it read is of another time than this absence.
  if needs_approval then return {ARGV[1], 'approval missing', now} end
  if expired then return {ARGV[1], 'expired', now} end
  if seen_state ~= '' then return {ARGV[1], 'gone', now} end
  redis.call('SET', KEYS[1], struct.pack('>BBBBc16c8I8I6I6I6I4I2c0I2c0I4I4I4I4', 1, IN_FLIGHT, 0, 1, by, next_epoch,
    now + lease, now, now, now, 1, #wished, wished, #claim_seal, claim_seal, 0, 0, 0, 0))
  return {ARGV[1], 'claimed', now, next_epoch .. '\0\0\0\1'}
end

-- Whose it is the caller finds out, who can verify it.
local ended = value:byte(2)
if ended == DONE or ended == FAILED or ended == CANCELLED then return {ARGV[1], 'found', now, value} end
