-- Claims an operation, or tells what stands.
local owner, wished_identity, claim, epoch, lease = ARGV[2], ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6])
local seen_state, seen_epoch, window = tonumber(ARGV[7]), ARGV[8], tonumber(ARGV[9])
local needs_approval = ARGV[10] == '1'

local who, exp = identity(wished_identity)
local expired = exp and now >= exp

-- The epoch is the record's: a call that comes again may name what it read since.
local function claimed()
  save(r)
  return reply('claimed', r.epoch .. struct.pack('>I4', r.attempts))
end

local function in_flight()
  r.state, r.owner, r.epoch, r.claim = IN_FLIGHT, owner, epoch, claim
  due(bytes(now + lease))
  if r.first == 0 then r.first = now end
  r.attempts = math.min(r.attempts + 1, 4294967295)
  return claimed()
end

if not r then
  -- A claim that names what it read is of another time than this absence.
  if needs_approval then return reply('approval missing') end
  if expired then return reply('expired') end
  if seen_state then return reply('gone') end
  r = begin(wished_identity)
  return in_flight()
end

-- Who and what come first, in every state. The caller finds out which of them it is.
if r.who ~= who then return reply('another', r.value) end

if r.reads == IN_FLIGHT and r.owner == owner then
  -- The same call again, its reply lost: the same claim, and a fresh lease as a renewal would give.
  lengthen(lease)
  return claimed()
end

local named = seen_state == r.reads and seen_epoch == r.epoch and r.owner ~= owner

if r.reads == RELEASED then
  if expired then return reply('expired', r.value) end
  if needs_approval then return reply('approval missing') end
  if not named then return reply('found', r.value) end
  r.taken, r.provider, r.reference = 0, '', ''
elseif r.reads == UNKNOWN then
  local in_window = window and now < r.first + window
  if not (in_window and not r.held and named) then return reply('found', r.value) end
  r.taken = 1
else
  return reply('found', r.value)
end

-- A new attempt speaks for itself.
r.word, r.before = '', ''
return in_flight()
