-- The first id of a day that is counted from 1970, UTC.
CREATE FUNCTION {schema}.first_id(day bigint) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT (lpad(to_hex(day * 86400000), 12, '0') || repeat('0', 20))::uuid
$$;

-- Makes the partition of a day, if there is none, and moves what the default partition has of that day into it: all in
-- one transaction. Other days' operations go on meanwhile; only those in the default partition wait.
CREATE FUNCTION {schema}.create_partition(day bigint) RETURNS boolean
LANGUAGE plpgsql SET lock_timeout = '{ddl_lock_timeout}' AS $$
DECLARE
    partition_name text := 'operations_' || to_char(date 'epoch' + day::integer, 'YYYYMMDD');
    first uuid := {schema}.first_id(day);
    next uuid := {schema}.first_id(day + 1);
BEGIN
    IF to_regclass(format('%I.%I', {schema_text}, partition_name)) IS NOT NULL THEN
        RETURN false;
    END IF;
    -- Many processes come to the same idea at midnight. The lock also keeps what is moved from being written.
    LOCK TABLE {schema}.operations_default IN ACCESS EXCLUSIVE MODE;
    IF to_regclass(format('%I.%I', {schema_text}, partition_name)) IS NOT NULL THEN
        RETURN false;
    END IF;
    EXECUTE format('CREATE TABLE %I.%I (LIKE {schema}.operations INCLUDING ALL) WITH (fillfactor = {fillfactor})',
        {schema_text}, partition_name);
    EXECUTE format('WITH moved AS (DELETE FROM {schema}.operations_default WHERE operation_id >= $1 AND operation_id < $2 RETURNING *)
        INSERT INTO %I.%I SELECT * FROM moved', {schema_text}, partition_name) USING first, next;
    EXECUTE format('ALTER TABLE {schema}.operations ATTACH PARTITION %I.%I FOR VALUES FROM (%L) TO (%L)',
        {schema_text}, partition_name, first, next);
    RETURN true;
END
$$;

-- Today's partition and those of the next two days; the first millisecond that has none.
CREATE FUNCTION {schema}.create_partitions() RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    today bigint := {schema}.now_ms() / 86400000;
BEGIN
    PERFORM {schema}.create_partition(day) FROM generate_series(today, today + 2) AS day;
    RETURN (today + 3) * 86400000;
END
$$;
