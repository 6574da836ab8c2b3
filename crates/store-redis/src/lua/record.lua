-- The record as one string, and what it says at `now`.
--
-- The head is written here, in the step that judges the clock. What the slots hold was sealed by the caller and is
-- stored as it came. Owners, epochs and deadlines are compared as the bytes that they are: a number of Lua is a double,
-- and exact only below 2^53.

local CANCELLED, IN_FLIGHT, ACCEPTED, UNKNOWN, RELEASED, DONE, FAILED = 3, 4, 5, 6, 7, 8, 9

local VERSION = 1
local LAYOUT = '>BBBBc16c8c8I6I6I6I4I2c0I2c0I4c0I4c0I4c0I4c0'
local NEVER = string.rep('\0', 8)
local SKEW = 300000
local EXACT = 2 ^ 53

-- Where the content of a sealed slot begins: behind the tag, the length of the key's id, and the id.
local function inside(sealed)
  return 18 + sealed:byte(17)
end

local function content(sealed)
  return sealed:sub(inside(sealed))
end

-- Scope, subject and hash in a sealed identity, and what is in front of them.
local function identity(sealed)
  local at = inside(sealed)
  local limited, exp, retention = struct.unpack('>BI8I8', sealed, at)
  return sealed:sub(at + 17), limited == 1 and exp or nil, retention
end

-- The result in a sealed word, of which nothing is known here but whether two are the same.
local function result(word)
  return (struct.unpack('>I4c0', word, inside(word) + 1))
end

-- The deadline in a sealed word: whether there is one, and its bytes.
local function deadline(word)
  local _, flags, at = struct.unpack('>I4c0B', word, inside(word) + 1)
  if flags < 32 then return 0, NEVER end
  return 1, (struct.unpack('c8', word, at))
end

-- The text of a sealed reference: behind its owner and epoch.
local function text(reference)
  return reference:sub(inside(reference) + 24)
end

local function bytes(ms)
  return struct.pack('>I8', ms)
end

-- When the record may be dropped; nil while it is open, and where that time is too far to be counted.
local function purge_at(r)
  local open = r.state == IN_FLIGHT or r.state == ACCEPTED or r.state == UNKNOWN
  local at = math.max(r.updated, r.exp or 0) + r.retention + SKEW
  if open or at >= EXACT then return nil end
  return at
end

local function parse(value)
  local r, version, rest = {value = value}, nil, nil
  version, r.state, r.taken, r.due, r.owner, r.epoch, r.deadline, r.first, r.created, r.updated, r.attempts,
    r.identity, r.claim, r.word, r.before, r.provider, r.reference, rest = struct.unpack(LAYOUT, value)
  if version ~= VERSION then error() end
  r.evidence = value:sub(rest)
  r.who, r.exp, r.retention = identity(r.identity)
  r.stood_at, r.stood_in = r.epoch, r.state

  -- What time has done: a lapsed lease and an overdue receipt read as unknown, a lapsed hold as free.
  local over = r.due == 1 and now >= (struct.unpack('>I8', r.deadline))
  local open = r.state == IN_FLIGHT or r.state == ACCEPTED or r.state == UNKNOWN
  r.reads = open and over and UNKNOWN or r.state
  r.held = r.reads == UNKNOWN and r.due == 1 and not over
  return r
end

-- Writes the record. `updated` moves with state and epoch, and not with a renewal. What has ended expires by itself;
-- what is open never does.
local function save(r)
  if r.state ~= r.stood_in or r.epoch ~= r.stood_at then r.updated = now end
  r.value = struct.pack(LAYOUT, VERSION, r.state, r.taken, r.due, r.owner, r.epoch, r.deadline, r.first, r.created,
    r.updated, r.attempts, #r.identity, r.identity, #r.claim, r.claim, #r.word, r.word, #r.before, r.before,
    #r.provider, r.provider, #r.reference, r.reference) .. r.evidence
  local at = purge_at(r)
  if at then
    redis.call('SET', KEYS[1], r.value, 'PXAT', string.format('%.0f', at))
  else
    redis.call('SET', KEYS[1], r.value)
  end
end

-- A record that is written for the first time.
local function begin(sealed_identity)
  local r = {
    taken = 0, due = 0, deadline = NEVER, first = 0, created = now, updated = now, attempts = 0,
    identity = sealed_identity, claim = '', word = '', before = '', provider = '', reference = '', evidence = '',
  }
  r.who, r.exp, r.retention = identity(sealed_identity)
  return r
end
