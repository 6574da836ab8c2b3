-- What stands. The clock is read before the record, so that "there was none at `now`" is true.
CREATE FUNCTION {schema}.{table}_find(p_id uuid, OUT now bigint, OUT r {schema}.{table})
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET plan_cache_mode = auto
AS $$
BEGIN
    now := {schema}.now_ms();
    SELECT t.* INTO r FROM {schema}.{table} AS t WHERE t.operation_id = p_id;
END
$$;
