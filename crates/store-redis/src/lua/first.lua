-- A claim on what nobody has claimed yet, and on what has ended: most claims are one of these, and pay for no more than
-- they need. What a first claim writes comes from the caller as it will stand, on both sides of the times: `begins` is the
-- head up to the epoch, `slots` the number of attempts and the slots behind it.
--
-- What a claim read before comes last, and not at all where it read nothing.
local begins, slots, lease, seen, needs_approval = ARGV[2], ARGV[3], ARGV[4], ARGV[5] or '', ARGV[7] == '1'

local limited, exp = struct.unpack('>BI8', slots, 24 + slots:byte(23))
local expired = limited == 1 and now >= exp

if not value then
  -- A claim that names what it read is of another time than this absence.
  if needs_approval then return {ARGV[1], 'approval missing', now} end
  if expired then return {ARGV[1], 'expired', now} end
  if seen ~= '' then return {ARGV[1], 'gone', now} end
  redis.call('SET', KEYS[1], begins .. struct.pack('>I8I6I6I6', now + lease, now, now, now) .. slots)
  return {ARGV[1], 'claimed', now}
end

-- Whose it is the caller finds out, who can verify it.
local ended = value:byte(2)
if ended == DONE or ended == FAILED or ended == CANCELLED then return {ARGV[1], 'found', now, value} end
