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

-- Ids of a day that have to stay: open, or not past their time yet. No more than p_limit.
CREATE FUNCTION {schema}.stragglers(day bigint, p_limit integer) RETURNS uuid[]
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    found_ids uuid[];
BEGIN
    EXECUTE format('SELECT ARRAY(
            SELECT t.operation_id FROM %I.%I AS t
            WHERE ({schema}.purge_at(t.state, t.updated, t.exp, t.retention) <= $1) IS NOT TRUE LIMIT $2
        )', {schema_text}, {schema}.partition_of(day)) INTO found_ids USING {schema}.now_ms(), p_limit;
    RETURN found_ids;
END
$$;

-- Drops the partition of a day whose time is over, and says how that went: `dropped`; `none`, if there is no such
-- partition; `stragglers`, if more than p_movable of its rows have to stay; `busy`, if a lock was not to be had. All but
-- the first leave everything as it was. Call it in a transaction of its own.
--
-- The rows are judged with the day's writers shut out, so that no verdict is out of date when it is carried out: what is
-- past its time stays so unless somebody writes. What stays moves to the default partition, where its id belongs once the
-- day has no partition of its own. That takes the lock on the whole table, without which a statement planned before could
-- look for a row where it no longer is; it is taken last, for no longer than moving a few rows takes.
CREATE FUNCTION {schema}.drop_day(
    day bigint, p_movable integer, OUT answer text, OUT dropped bigint, OUT stragglers bigint
)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
SET lock_timeout = '{ddl_lock_timeout}' AS $$
DECLARE
    partition_name text := {schema}.partition_of(day);
    stay uuid[];
    total bigint;
BEGIN
    dropped := 0;
    stragglers := 0;
    IF to_regclass(format('%I.%I', {schema_text}, partition_name)) IS NULL THEN
        answer := 'none';
        RETURN;
    END IF;
    -- A look that makes nobody wait, and ends early where many rows have to stay.
    stay := {schema}.stragglers(day, p_movable + 1);
    IF cardinality(stay) <= p_movable THEN
        EXECUTE format('LOCK TABLE ONLY %I.%I IN SHARE ROW EXCLUSIVE MODE', {schema_text}, partition_name);
        stay := {schema}.stragglers(day, p_movable + 1);
    END IF;
    stragglers := cardinality(stay);
    IF stragglers > p_movable THEN
        answer := 'stragglers';
        RETURN;
    END IF;
    EXECUTE format('SELECT count(*) FROM %I.%I', {schema_text}, partition_name) INTO total;

    LOCK TABLE ONLY {schema}.operations IN ACCESS EXCLUSIVE MODE;
    EXECUTE format('ALTER TABLE {schema}.operations DETACH PARTITION %I.%I', {schema_text}, partition_name);
    EXECUTE format('INSERT INTO {schema}.operations SELECT t.* FROM %I.%I AS t WHERE t.operation_id = ANY ($1)',
        {schema_text}, partition_name) USING stay;
    EXECUTE format('DROP TABLE %I.%I', {schema_text}, partition_name);
    dropped := total - stragglers;
    answer := 'dropped';
EXCEPTION WHEN lock_not_available OR deadlock_detected OR undefined_table THEN
    -- Of two that drop the same day, the second may find it gone while it waits.
    answer := 'busy';
    dropped := 0;
    stragglers := 0;
END
$$;
