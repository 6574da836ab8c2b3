-- Writes a record where none stands, only to stop later claims.
if value then return {ARGV[1], 'moved', now} end

local LAYOUT = '>BBBBc16c8c8I6I6I6I4I2c0I2c0I4c0I4c0I4c0I4c0'
local identity, word, owner, epoch = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local state, taken, due, deadline, first, created, updated, attempts = CANCELLED, 0, 0, '\0\0\0\0\0\0\0\0', 0, now, now, 0
local claim, acceptance, provider_ref, result_ref, evidence = '', '', '', '', ''
local stood_in, stood_at

local function inside(sealed)
  return 18 + sealed:byte(17)
end

-- At or after `exp` there are no claims to stop.
local limited, exp = struct.unpack('>BI8', identity, inside(identity))
if limited == 1 and now >= exp then return {ARGV[1], 'expired', now} end
local answer = 'cancelled'
