-- Ends what an epoch handed on, by downstream's receipt.
--
-- `word` has what will stand, with the result of the acceptance where the receipt brings none; `said` has the receipt's
-- own words.
local read, epoch, state, word, said, doubt, reference =
  ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5], ARGV[6], ARGV[7], ARGV[8]

if not r then return reply('absent') end
if not is_as_read(read) then return reply('moved') end

-- By compare-and-set on the epoch: an overtaken epoch's receipt is no proof for the one that runs now.
if r.epoch ~= epoch then return reply('not owner') end

local NO_RESULT = '\0'
local function says_the_same()
  local brings = result(said)
  return (brings == NO_RESULT or brings == result(r.word))
    and (reference == '' or r.reference ~= '' and text(r.reference) == text(reference))
end

if r.reads == ACCEPTED or r.reads == IN_FLIGHT or r.reads == UNKNOWN then
  if state == FAILED and r.taken == 1 then
    keep_acceptance()
    r.word = doubt
    move(UNKNOWN)
    save(r)
    return reply('in doubt')
  end
  r.word, r.before = word, ''
  if reference ~= '' then r.reference = reference end
  move(state)
  save(r)
  return reply('received')
end

if r.reads == state and says_the_same() then return reply('received') end
-- Before the first claim there is no owner whose word it could be.
if r.first ~= 0 then keep_evidence(r.owner, r.epoch, said) end
return reply('not owner')
