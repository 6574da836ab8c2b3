-- What every transition begins with: the record that stands, `r`, nil where there is none or its time is over.

-- Each reply begins with the caller's own words, so that it can tell it from another call's.
local function reply(what, more)
  return {ARGV[1], what, now, more}
end

local r
do
  local value = redis.call('GET', KEYS[1])
  if value then
    local fine, parsed = pcall(parse, value)
    if not fine then return reply('corrupt') end
    local at = purge_at(parsed)
    if not at or at > now then r = parsed end
  end
end

local function is_held_by(owner, epoch)
  return r.owner == owner and r.epoch == epoch
end

-- Whether the record is still the one that the caller read, and made its words for.
local function is_as_read(digest)
  return redis.sha1hex(r.value) == digest
end

local function due(deadline)
  r.due, r.deadline = 1, deadline
end

local function move(state)
  r.state, r.due, r.deadline = state, 0, NEVER
end

-- A word without a result of its own leaves the acceptance's in place.
local function keep_acceptance()
  if r.state == ACCEPTED then r.before = r.word end
end

-- The longer of a running lease and one of so many milliseconds from now.
local function lengthen(lease)
  local running = struct.unpack('>I8', r.deadline)
  due(bytes(math.max(running, now + lease)))
end

-- Keeps what somebody said who had lost the epoch: the last four, and a copy of what is kept already not twice.
local function keep_evidence(owner, epoch, word)
  local kept, at = {}, 1
  while at <= #r.evidence do
    local start, when, its_owner, its_epoch, said = at, nil, nil, nil, nil
    when, its_owner, its_epoch, said, at = struct.unpack('>I8c16c8I4c0', r.evidence, at)
    if its_owner == owner and its_epoch == epoch and content(said) == content(word) then return end
    kept[#kept + 1] = r.evidence:sub(start, at - 1)
  end
  if #kept >= 4 then table.remove(kept, 1) end
  kept[#kept + 1] = struct.pack('>I8c16c8I4c0', now, owner, epoch, #word, word)
  r.evidence = table.concat(kept)
  save(r)
end
