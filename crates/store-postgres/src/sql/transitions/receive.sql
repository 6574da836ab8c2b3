-- Downstream's receipt for what an epoch handed on: it can be faster than the acceptance, and can come after its deadline.
-- What it leaves out it does not deny. After a takeover `failed` is doubt.
CREATE FUNCTION {schema}.{table}_receive(
    p_id uuid, p_epoch bigint, p_state smallint, p_result_format text, p_result bytea, p_result_ref text,
    OUT answer text
)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
SET lock_timeout = '{lock_timeout}' SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    now bigint := {schema}.now_ms();
    became smallint;
    r {schema}.{table};
BEGIN
    UPDATE {schema}.{table} AS t SET
        state = CASE WHEN {t_stays_unknown} THEN {unknown} ELSE p_state END,
        deadline = NULL,
        updated = CASE WHEN t.state = {unknown} AND {t_stays_unknown} THEN t.updated ELSE now END,
        result_format = CASE WHEN {t_stays_unknown} OR p_result IS NULL THEN t.result_format ELSE p_result_format END,
        result = CASE WHEN {t_stays_unknown} OR p_result IS NULL THEN t.result ELSE p_result END,
        result_ref = CASE WHEN {t_stays_unknown} THEN t.result_ref ELSE coalesce(p_result_ref, t.result_ref) END,
        reason = CASE WHEN {t_stays_unknown} THEN '{in_doubt_reason}' END
    WHERE t.operation_id = p_id AND t.epoch = p_epoch AND t.state IN ({in_flight}, {accepted}, {unknown})
    RETURNING t.state INTO became;
    IF FOUND THEN
        answer := CASE WHEN became = p_state THEN 'received' ELSE 'in_doubt' END;
        RETURN;
    END IF;

    SELECT t.* INTO r FROM {schema}.{table} AS t WHERE t.operation_id = p_id FOR UPDATE;
    IF NOT FOUND THEN
        answer := 'absent';
    ELSIF r.epoch = p_epoch AND r.state = p_state
        AND (p_result IS NULL
            OR (r.result IS NOT DISTINCT FROM p_result AND r.result_format IS NOT DISTINCT FROM p_result_format))
        AND coalesce(p_result_ref = r.result_ref, p_result_ref IS NULL)
    THEN
        answer := 'received';
    ELSE
        UPDATE {schema}.{table} AS t SET evidence = {schema}.kept(t.evidence, {schema}.said(
            t.owner, p_epoch, p_state, NULL, p_result_format, p_result, p_result_ref, NULL), now)
        WHERE t.operation_id = p_id AND t.epoch = p_epoch AND t.owner IS NOT NULL;
        answer := 'not_owner';
    END IF;
END
$$;
