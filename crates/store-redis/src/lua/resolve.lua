-- Settles an unknown operation.
local by, seen_epoch, next_epoch, says, vouched, said, brings_ref, claim_seal =
  ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6]), ARGV[7] == '1', ARGV[8], ARGV[9], ARGV[10]

if reads ~= UNKNOWN or epoch ~= seen_epoch then return {ARGV[1], 'refused', now, value} end
if held and owner ~= by then return {ARGV[1], 'refused', now, value} end
if says ~= DONE and not vouched then return {ARGV[1], 'unvouched', now} end

if says == RELEASED then
  -- Whoever frees it without having fenced takes the next epoch now, so that a fence raised to it is one that no attempt
  -- was ever given.
  if owner ~= by then owner, epoch, claim = by, next_epoch, claim_seal end
elseif brings_ref ~= '' then
  result_ref = brings_ref
end
state, word, acceptance, due, deadline = says, said, '', 0, NEVER
answer = 'resolved'
