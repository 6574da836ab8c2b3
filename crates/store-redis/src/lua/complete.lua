-- Writes down how a run ended, was handed on, or that nobody knows.
local owner, epoch, state, word, doubt, reference =
  ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5], ARGV[6], ARGV[7]

if not r then return reply('not owner') end

local running = r.reads == IN_FLIGHT or r.reads == UNKNOWN
local function says_the_same()
  local due, its_deadline = deadline(word)
  return result(r.word) == result(word)
    and (reference == '' or r.reference ~= '' and text(r.reference) == text(reference))
    and r.due == due and r.deadline == its_deadline
end

local answer
if not is_held_by(owner, epoch) then
  answer = nil
elseif running and state == UNKNOWN then
  keep_acceptance()
  r.word = word
  move(UNKNOWN)
  answer = 'completed'
elseif running and state == FAILED and r.taken == 1 then
  -- After a takeover an honest `failed` is doubt: an earlier attempt may have done it.
  keep_acceptance()
  r.word = doubt
  move(UNKNOWN)
  answer = 'in doubt'
elseif running then
  move(state)
  r.due, r.deadline = deadline(word)
  r.word, r.before = word, ''
  if reference ~= '' then r.reference = reference end
  answer = 'completed'
elseif state == ACCEPTED and (r.reads == DONE or r.reads == FAILED) then
  -- Its reply was lost, and the receipt was faster: that one's result stands.
  return reply('completed')
elseif state == r.reads and state ~= UNKNOWN and says_the_same() then
  return reply('completed')
end

if answer then
  save(r)
  return reply(answer)
end
keep_evidence(owner, epoch, word)
return reply('not owner')
