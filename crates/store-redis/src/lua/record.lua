-- The record, each part in a local: the head, which is written here in the step that judges the clock, and the slots,
-- which a caller sealed and which are stored as they came. Times are numbers, but for the deadline. Owners, epochs and
-- deadlines are compared as the bytes that they are: a number of Lua is a double, and exact only below 2^53.

local LAYOUT = '>BBBBc16c8c8I6I6I6I4I2c0I2c0I4c0I4c0I4c0I4c0'
local NEVER = '\0\0\0\0\0\0\0\0'

local fine, version, state, taken, due, owner, epoch, deadline, first, created, updated, attempts,
  identity, claim, word, acceptance, provider_ref, result_ref, rest = pcall(struct.unpack, LAYOUT, value)
if not fine or #identity < 34 + (identity:byte(17) or 255) then return {ARGV[1], 'corrupt', now} end
local evidence = value:sub(rest)
local stood_in, stood_at = state, epoch

-- What time has done: a lapsed lease and an overdue receipt read as unknown, a lapsed hold as free.
local reads, held = state, false
if due == 1 and state >= IN_FLIGHT and state <= UNKNOWN then
  if now >= (struct.unpack('>I8', deadline)) then
    reads = UNKNOWN
  else
    held = state == UNKNOWN
  end
end

-- A sealed slot: where its content begins, behind the tag, the length of the key's id, and the id.
local function inside(sealed)
  return 18 + sealed:byte(17)
end

-- The text of a sealed reference: behind its owner and epoch.
local function text(reference)
  return reference:sub(inside(reference) + 24)
end

-- What follows here changes the locals and names its `answer`, or returns and changes nothing.
local answer
