-- Days. They are counted from 1970, UTC.

-- The first id of a day.
CREATE FUNCTION {schema}.first_id(day bigint) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT (lpad(to_hex(day * 86400000), 12, '0') || repeat('0', 20))::uuid
$$;

CREATE FUNCTION {schema}.partition_of(day bigint) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT 'operations_' || to_char(date 'epoch' + day::integer, 'YYYYMMDD')
$$;

-- Today and the next two days, and whether they have a partition.
CREATE FUNCTION {schema}.next_days(OUT day bigint, OUT is_made boolean) RETURNS SETOF record
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
    SELECT day, to_regclass(format('%I.%I', {schema_text}, {schema}.partition_of(day))) IS NOT NULL
    FROM (SELECT {schema}.now_ms() / 86400000 AS today) AS clock, generate_series(today, today + 2) AS day
$$;

-- How many rows of a table a condition is true of; null if they are more than may move while all calls wait, or larger.
CREATE FUNCTION {schema}.movable(place text, condition text) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    few bigint;
BEGIN
    EXECUTE format('SELECT CASE WHEN count(*) <= {movable} AND coalesce(sum(f.bytes), 0) <= {movable_bytes} THEN count(*) END
        FROM (
            SELECT coalesce(pg_column_size(result), 0)::bigint + coalesce(pg_column_size(evidence), 0) AS bytes
            FROM %s WHERE %s LIMIT {movable} + 1
        ) AS f', place, condition) INTO few;
    RETURN few;
END
$$;

-- How the transitions plan: once in a session while days are few, and each call anew when they are many. The first locks
-- every partition at each call, the second only its own and costs the planning. Whoever calls this holds a lock on the
-- default partition, so that no two change the same function.
CREATE FUNCTION {schema}.fit_plans() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    are_many boolean;
    transition regprocedure;
    fit text;
BEGIN
    SELECT count(*) > {many_days} INTO are_many
    FROM pg_inherits AS i WHERE i.inhparent = '{schema}.operations'::regclass;
    FOR transition, fit IN
        SELECT t.oid, CASE
            WHEN are_many THEN 'SET plan_cache_mode = force_custom_plan'
            WHEN t.has_none THEN 'RESET plan_cache_mode'
            ELSE 'SET plan_cache_mode = force_generic_plan'
        END
        FROM (
            -- These two have no settings of their own as long as their session's are right.
            SELECT p.oid, p.proname IN ('operations_acquire', 'operations_complete') AS has_none,
                (SELECT c FROM unnest(p.proconfig) AS c WHERE c LIKE 'plan\_cache\_mode=force%') AS mode
            FROM pg_proc AS p
            WHERE p.pronamespace = {schema_text}::regnamespace AND p.proname LIKE 'operations\_%'
        ) AS t
        WHERE (t.has_none OR t.mode IS NOT NULL)
            AND coalesce(t.mode = 'plan_cache_mode=force_custom_plan', false) <> are_many
    LOOP
        EXECUTE format('ALTER FUNCTION %s %s', transition, fit);
    END LOOP;
EXCEPTION WHEN insufficient_privilege THEN
    -- Whoever owns the tables need not own the functions. Then they stay as they are.
    NULL;
END
$$;

-- Makes the partition of a day, and says whether there is one now. Call it in a transaction of its own.
--
-- Whoever is planning a statement on the default partition meanwhile looks for its row there and nowhere else. So a row
-- is moved only while nobody is planning anything: with the whole table locked, which makes all calls wait, and is tried
-- for a short while only and for few rows. Where there are more, they stay where they are, and so does their day.
--
-- The server reads the whole default partition before it attaches one, and all calls wait meanwhile. So where it has more
-- than p_readable bytes, nothing is done. Null is no limit: for a person, who knows what it holds up.
CREATE FUNCTION {schema}.create_partition(day bigint, p_readable bigint DEFAULT {readable}) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
SET lock_timeout = '{ddl_lock_timeout}' AS $$
DECLARE
    partition_name text := {schema}.partition_of(day);
    first uuid := {schema}.first_id(day);
    next uuid := {schema}.first_id(day + 1);
    early bigint;
BEGIN
    IF pg_relation_size('{schema}.operations_default') > p_readable THEN
        RETURN false;
    END IF;
    early := {schema}.movable('{schema}.operations_default',
        format('operation_id >= %L AND operation_id < %L', first, next));
    IF early IS NULL THEN
        RETURN false;
    END IF;
    IF early > 0 THEN
        LOCK TABLE ONLY {schema}.operations IN ACCESS EXCLUSIVE MODE;
    END IF;
    LOCK TABLE ONLY {schema}.operations_default IN ACCESS EXCLUSIVE MODE;
    -- Many processes come to the same idea at midnight.
    IF to_regclass(format('%I.%I', {schema_text}, partition_name)) IS NOT NULL THEN
        RETURN true;
    END IF;
    EXECUTE format('CREATE TABLE %I.%I (LIKE {schema}.operations INCLUDING ALL) WITH (fillfactor = {fillfactor})',
        {schema_text}, partition_name);
    IF early > 0 THEN
        EXECUTE format('WITH moved AS (
                DELETE FROM {schema}.operations_default WHERE operation_id >= $1 AND operation_id < $2 RETURNING *
            ) INSERT INTO %I.%I SELECT * FROM moved', {schema_text}, partition_name) USING first, next;
    END IF;
    -- Fails, and undoes all of it, if a row of this day has come to the default partition since the look at it.
    EXECUTE format('ALTER TABLE {schema}.operations ATTACH PARTITION %I.%I FOR VALUES FROM (%L) TO (%L)',
        {schema_text}, partition_name, first, next);
    PERFORM {schema}.fit_plans();
    -- The locks are held until the commit is through. A standby that lost this would still have the rows where they were.
    PERFORM set_config('synchronous_commit', 'local', true);
    RETURN true;
END
$$;
