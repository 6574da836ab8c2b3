-- Takes the epoch of an unknown operation for reconciling. `stands` and `accepted` say again what stood, in the words of
-- the new owner.
local by, seen_epoch, next_epoch, hold, claim_seal, stands, accepted =
  ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6]), ARGV[7], ARGV[8], ARGV[9]

if reads ~= UNKNOWN then return {ARGV[1], 'refused', now, value} end
-- The same call again: it holds it already.
if held and owner == by then return {ARGV[1], 'fenced', now, value} end
if held or epoch ~= seen_epoch then return {ARGV[1], 'refused', now, value} end

state, owner, epoch, claim, word, acceptance = UNKNOWN, by, next_epoch, claim_seal, stands, accepted
due, deadline = 1, struct.pack('>I8', now + hold)
answer = 'fenced'
