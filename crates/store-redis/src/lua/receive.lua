-- Ends what an epoch handed on, by downstream's receipt.
--
-- `stands` has what will be on record, with the result of the acceptance where the receipt brings none; `said` has the
-- receipt's own words.
local by_epoch, says, stands, said, doubt, brings_ref =
  ARGV[3], tonumber(ARGV[4]), ARGV[5], ARGV[6], ARGV[7], ARGV[8]

-- By compare-and-set on the epoch: an overtaken epoch's receipt is no proof for the one that runs now.
if epoch ~= by_epoch then return {ARGV[1], 'not owner', now} end

local late
if reads == ACCEPTED or reads == IN_FLIGHT or reads == UNKNOWN then
  if says == FAILED and taken == 1 then
    -- A word without a result of its own leaves the acceptance's in place.
    if state == ACCEPTED then acceptance = word end
    state, word, answer = UNKNOWN, doubt, 'in doubt'
  else
    state, word, acceptance, answer = says, stands, '', 'received'
    if brings_ref ~= '' then result_ref = brings_ref end
  end
  due, deadline = 0, NEVER
else
  if reads == says then
    local NO_RESULT = '\0'
    local brings = struct.unpack('>I4c0', said, inside(said) + 1)
    local same_result = brings == NO_RESULT or brings == struct.unpack('>I4c0', word, inside(word) + 1)
    local same_ref = brings_ref == '' or result_ref ~= '' and text(result_ref) == text(brings_ref)
    if same_result and same_ref then return {ARGV[1], 'received', now} end
  end
  -- Before the first claim there is no owner whose word it could be.
  if first == 0 then return {ARGV[1], 'not owner', now} end
  late = {owner, epoch, said}
end
