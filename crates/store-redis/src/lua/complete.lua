-- Writes down how a run ended, was handed on, or that nobody knows.
local by, by_epoch, doubt = holder:sub(1, 16), holder:sub(17), ARGV[5]

local is_held = owner == by and epoch == by_epoch
local is_running = reads == IN_FLIGHT or reads == UNKNOWN

-- The result in a sealed word, and its deadline: whether there is one, and its bytes. They follow its state.
local function result_and_deadline(sealed)
  local result, flags, at = struct.unpack('>I4c0B', sealed, inside(sealed) + 1)
  if flags < 32 then return result, 0, NEVER end
  return result, 1, sealed:sub(at, at + 7)
end

if is_held and is_running then
  answer = 'completed'
  -- After a takeover an honest `failed` is doubt: an earlier attempt may have done it.
  if says == FAILED and taken == 1 then
    says, said, answer = UNKNOWN, doubt, 'in doubt'
  end
  if says == UNKNOWN then
    -- A word without a result of its own leaves the acceptance's in place.
    if state == ACCEPTED then acceptance = word end
  else
    acceptance = ''
    if brings_ref ~= '' then result_ref = brings_ref end
  end
  state, word, due, deadline = says, said, 0, NEVER
  if says == ACCEPTED then
    local _, is_due, ends = result_and_deadline(said)
    due, deadline = is_due, ends
  end
elseif is_held and says == ACCEPTED and (reads == DONE or reads == FAILED) then
  -- Its reply was lost, and the receipt was faster: that one's result stands.
  return {ARGV[1], 'completed', now}
elseif is_held and says == reads then
  local result, is_due, ends = result_and_deadline(word)
  local said_result, said_due, said_ends = result_and_deadline(said)
  local same_end = is_due == said_due and ends == said_ends
  local same_ref = brings_ref == '' or result_ref ~= '' and text(result_ref) == text(brings_ref)
  if result == said_result and same_end and same_ref then return {ARGV[1], 'completed', now} end
end

-- Whoever has lost it, or says something else: it is kept, and changes nothing.
local late = not answer and {by, by_epoch, said}
