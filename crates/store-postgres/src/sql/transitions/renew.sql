-- The owner asks for more time. A renewal never takes time away, and brings no lapsed lease back.
CREATE FUNCTION {schema}.{table}_renew(p_id uuid, p_owner uuid, p_epoch bigint, p_lease bigint, OUT answer text)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
SET lock_timeout = '{lock_timeout}' SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    now bigint := {schema}.now_ms();
BEGIN
    UPDATE {schema}.{table} AS t SET deadline = greatest(t.deadline, now + p_lease)
    WHERE t.operation_id = p_id AND t.owner = p_owner AND t.epoch = p_epoch
        AND t.state = {in_flight} AND t.deadline > now;
    IF FOUND THEN
        answer := 'renewed';
        RETURN;
    END IF;
    PERFORM FROM {schema}.{table} AS t
    WHERE t.operation_id = p_id AND t.owner = p_owner AND t.epoch = p_epoch
        AND {schema}.reads_as(t.state, t.deadline, now) = {unknown};
    answer := CASE WHEN FOUND THEN 'lapsed' ELSE 'not_owner' END;
END
$$;
