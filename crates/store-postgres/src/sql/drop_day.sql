-- Dropping the partition of a day whose time is over.
--
-- The rows that have to stay must be known exactly at a moment when nobody can write, and that moment must be short. So an
-- index of just these rows is built first, CONCURRENTLY: claims and completions go on, and the server enters what they
-- write. Its predicate has the time of the judging in it. What was past its time then is so later too, unless somebody
-- writes it, so that the index may have a row too many and never misses one.

-- The days before today that have a partition and whose rows may all be past their time, oldest first.
CREATE FUNCTION {schema}.past_days() RETURNS SETOF bigint
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
    SELECT d.day FROM (
        SELECT (to_date(right(c.relname, 8), 'YYYYMMDD') - date 'epoch')::bigint AS day
        FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
        WHERE i.inhparent = '{schema}.operations'::regclass AND c.relname ~ '^operations_[0-9]+$'
    ) AS d
    WHERE (d.day + 1) * 86400000 + {skew} <= {schema}.now_ms()
    ORDER BY d.day
$$;

-- Which rows of a day have to stay: open, or not past their time at `at`. The opposite of `purge_at(…) <= at`, as text with
-- a constant in it and no call, so that the server finds an index and a statement to be about the same rows. An index is
-- made in a session with a search path of its own, so that each operator says where it is from.
CREATE FUNCTION {schema}.stays(at bigint) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT format('(state OPERATOR(pg_catalog.<>) ALL (ARRAY[{denied}, {cancelled}, {released}, {done}, {failed}]::smallint[])'
        ' OR GREATEST(updated, exp) OPERATOR(pg_catalog.+) retention OPERATOR(pg_catalog.+) {skew}::bigint'
        ' OPERATOR(pg_catalog.>) %s::bigint)', at)
$$;

-- The next step in dropping a day. To be called in a transaction of its own, and again after `run`:
--
-- `run`: `ddl` is to be run first, by itself: the server does not do that in a function. An index to build, or the rest of
--     a build that was cut short, to clear up.
-- `dropped`: the partition is gone, with about so many rows; so many had to stay, and are in the default partition.
-- `none`: there is no such partition.
-- `stragglers`: too many rows have to stay, or too large ones. If there is a `ddl`, it clears up.
-- `taken`: another process is at this day.
-- `busy`: a transaction held the table for longer than this waits. Worth another try soon.
--
-- All but `dropped` leave everything as it was.
CREATE FUNCTION {schema}.drop_day(
    day bigint, OUT answer text, OUT ddl text, OUT dropped bigint, OUT moved bigint
)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
SET lock_timeout = '{day_lock_timeout}' SET enable_seqscan = off SET jit = off AS $$
DECLARE
    place text := format('%I.%I', {schema_text}, {schema}.partition_of(day));
    stay_index text;
    is_valid boolean;
    stays text;
    reading text;
    plan json;
    now bigint := {schema}.now_ms();
BEGIN
    dropped := 0;
    moved := 0;
    -- In an older snapshot a row that came since would be missing, and lost.
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'a day is dropped in READ COMMITTED only' USING ERRCODE = 'invalid_transaction_state';
    END IF;
    -- Before, an index that was built CONCURRENTLY could miss rows.
    IF current_setting('server_version_num')::integer < 140004 THEN
        RAISE EXCEPTION 'a day is dropped on Postgres 14.4 or later only' USING ERRCODE = 'feature_not_supported';
    END IF;
    IF to_regclass(place) IS NULL THEN
        answer := 'none';
        RETURN;
    END IF;
    -- Whoever builds an index waits for everybody who began before, so that to wait for him would be a deadlock. Another
    -- role's build is seen, but not on which table.
    answer := 'taken';
    IF EXISTS (
        SELECT FROM pg_stat_progress_create_index AS p
        WHERE p.datname = current_database() AND coalesce(p.relid = to_regclass(place), true)
    ) THEN
        RETURN;
    END IF;
    -- Shuts out whoever else builds or drops here. No call of the store waits for it; a vacuum gives way.
    EXECUTE format('LOCK TABLE ONLY %s IN SHARE UPDATE EXCLUSIVE MODE', place);

    SELECT c.relname, i.indisvalid INTO stay_index, is_valid
    FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
    WHERE i.indrelid = to_regclass(place) AND c.relname ~ '_stay_[0-9]+_[0-9]+$'
    ORDER BY i.indisvalid DESC, c.relname DESC LIMIT 1;
    IF stay_index IS NULL THEN
        -- A look first, which ends early where many rows have to stay.
        IF {schema}.movable(place, {schema}.stays(now)) IS NULL THEN
            answer := 'stragglers';
            RETURN;
        END IF;
        answer := 'run';
        -- Two that come here at the same moment may deadlock, and one goes on: it must not meet the other's name.
        ddl := format('CREATE INDEX CONCURRENTLY %I ON %s (operation_id) WHERE %s',
            format('%s_stay_%s_%s', {schema}.partition_of(day), now, pg_backend_pid()), place, {schema}.stays(now));
        RETURN;
    END IF;
    ddl := format('DROP INDEX CONCURRENTLY IF EXISTS %I.%I', {schema_text}, stay_index);
    IF NOT is_valid THEN
        answer := 'run';
        RETURN;
    END IF;

    -- All that the lock will be held for: to read these rows from their index, which is as long as they are many.
    stays := {schema}.stays(substring(stay_index FROM '_stay_([0-9]+)')::bigint);
    reading := format('SELECT t.* FROM %s AS t WHERE %s LIMIT {movable} + 1', place, stays);
    EXECUTE 'EXPLAIN (FORMAT JSON) ' || reading INTO plan;
    IF strpos(plan::text, stay_index) = 0 THEN
        RAISE EXCEPTION 'the index of what stays would not be used' USING ERRCODE = 'internal_error';
    END IF;
    IF {schema}.movable(place, stays) IS NULL THEN
        answer := 'stragglers';
        RETURN;
    END IF;
    ddl := NULL;
    SELECT greatest(c.reltuples, 0)::bigint INTO dropped FROM pg_class AS c WHERE c.oid = to_regclass(place);

    -- The whole table, without which a statement planned before could look for a row where it no longer is. All calls
    -- queue behind this, so that it is given up soon; for the partitions it does not wait at all.
    answer := 'busy';
    PERFORM set_config('lock_timeout', '{ddl_lock_timeout}', true);
    LOCK TABLE ONLY {schema}.operations IN ACCESS EXCLUSIVE MODE;
    EXECUTE format('LOCK TABLE ONLY %s, ONLY {schema}.operations_default IN ACCESS EXCLUSIVE MODE NOWAIT', place);
    EXECUTE format('ALTER TABLE {schema}.operations DETACH PARTITION %s', place);
    EXECUTE 'INSERT INTO {schema}.operations ' || reading;
    GET DIAGNOSTICS moved = ROW_COUNT;
    IF moved > {movable} THEN
        RAISE EXCEPTION 'too many rows have to stay' USING ERRCODE = 'program_limit_exceeded';
    END IF;
    EXECUTE format('DROP TABLE %s', place);
    PERFORM {schema}.fit_plans();
    -- The lock is held until the commit is through. A standby that lost this would still have the day: it is not waited
    -- for, and what is acknowledged after it comes after it.
    PERFORM set_config('synchronous_commit', 'local', true);
    dropped := greatest(dropped - moved, 0);
    answer := 'dropped';
EXCEPTION
    WHEN lock_not_available OR deadlock_detected THEN
        dropped := 0;
        moved := 0;
    WHEN program_limit_exceeded THEN
        answer := 'stragglers';
        dropped := 0;
        moved := 0;
    WHEN undefined_table THEN
        -- Another one dropped it while this waited.
        answer := 'none';
END
$$;

-- Ends a `ddl` of the above that nobody waits for any more. Its text has the index's name, which no other one has.
CREATE FUNCTION {schema}.give_up(ddl text) RETURNS bigint
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
    SELECT count(pg_cancel_backend(a.pid)) FROM pg_stat_activity AS a
    WHERE a.query = ddl AND a.state = 'active' AND a.pid <> pg_backend_pid()
$$;
