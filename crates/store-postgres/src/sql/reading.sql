-- Small functions that every transition shares. They have no search path of their own, which would keep them from being
-- inlined: whatever is called from outside has one, and they are called by that. Times are milliseconds since 1970, UTC.

-- The one clock: it judges `exp`, leases and retention.
CREATE FUNCTION {schema}.now_ms() RETURNS bigint
LANGUAGE sql VOLATILE AS $$
    SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint
$$;

-- What stands at `now`: a lapsed lease and an overdue receipt read as unknown.
CREATE FUNCTION {schema}.reads_as(state smallint, deadline bigint, now bigint) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN state IN ({in_flight}, {accepted}) AND deadline <= now THEN {unknown}::smallint ELSE state END
$$;

-- Whether the owner of what stands may still say how it ended.
CREATE FUNCTION {schema}.is_open(state smallint, deadline bigint, now bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT state IN ({in_flight}, {unknown}) OR (state = {accepted} AND coalesce(deadline <= now, false))
$$;

-- Whether a reconciler holds what is unknown.
CREATE FUNCTION {schema}.is_held(state smallint, deadline bigint, now bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT state = {unknown} AND coalesce(deadline > now, false)
$$;

-- When a record may be dropped; null while it is open business.
CREATE FUNCTION {schema}.purge_at(state smallint, updated bigint, exp bigint, retention bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN state IN ({denied}, {cancelled}, {released}, {done}, {failed})
        THEN greatest(updated, exp) + retention + {skew} END
$$;

-- What an owner said, as evidence keeps it: a field is its length and its bytes, one that is not there has length -1.
CREATE FUNCTION {schema}.field(content bytea) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN content IS NULL THEN int4send(-1) ELSE int4send(length(content)) || content END
$$;

CREATE FUNCTION {schema}.said(
    owner uuid, epoch bigint, state smallint, deadline bigint,
    result_format text, result bytea, result_ref text, reason text
) RETURNS bytea
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT uuid_send(owner) || int8send(epoch) || int2send(state) || {schema}.field(int8send(deadline))
        || {schema}.field(convert_to(result_format, 'UTF8')) || {schema}.field(result)
        || {schema}.field(convert_to(result_ref, 'UTF8')) || {schema}.field(convert_to(reason, 'UTF8'))
$$;

-- Evidence with one more thing that was said, at `now`. The last four are kept; a copy of what is kept already pushes
-- nothing out.
CREATE FUNCTION {schema}.kept(evidence bytea[], said bytea, now bigint) RETURNS bytea[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN EXISTS (SELECT FROM unnest(evidence) AS entry WHERE substr(entry, 9) = said) THEN evidence
        ELSE coalesce(evidence[greatest(cardinality(evidence) - 2, 1):], '{}') || (int8send(now) || said)
    END
$$;
