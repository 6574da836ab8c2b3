-- The owner did nothing. The record stays, with its owner and epoch. After a takeover it is doubt: an earlier attempt may
-- have done it.
CREATE FUNCTION {schema}.{table}_release(p_id uuid, p_owner uuid, p_epoch bigint, OUT answer text)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
SET lock_timeout = '{lock_timeout}' SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    now bigint := {schema}.now_ms();
    became smallint;
BEGIN
    UPDATE {schema}.{table} AS t SET
        state = CASE WHEN t.in_doubt THEN {unknown} ELSE {released} END,
        deadline = NULL,
        updated = CASE WHEN t.state = {unknown} AND t.in_doubt THEN t.updated ELSE now END,
        reason = CASE
            WHEN NOT t.in_doubt THEN NULL
            -- It is unknown already: its reason stands.
            WHEN t.state = {unknown} AND t.deadline IS NULL THEN t.reason
            ELSE '{in_doubt_reason}'
        END
    WHERE t.operation_id = p_id AND t.owner = p_owner AND t.epoch = p_epoch AND {t_is_open}
    RETURNING t.state INTO became;
    IF FOUND THEN
        answer := CASE WHEN became = {released} THEN 'released' ELSE 'in_doubt' END;
        RETURN;
    END IF;
    -- Said again, its reply lost. A lock and no mere look: it has to be committed, and a commit that waits for a standby waits
    -- for all before it, also for a release whose own wait was cut short.
    PERFORM FROM {schema}.{table} AS t
    WHERE t.operation_id = p_id AND t.owner = p_owner AND t.epoch = p_epoch AND t.state = {released}
    FOR UPDATE;
    answer := CASE WHEN FOUND THEN 'released' ELSE 'not_owner' END;
END
$$;
