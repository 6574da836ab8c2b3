-- How a run ended, or that it was handed on, or that it is not known: p_state is the state that its owner says. Also
-- after the lease lapsed, as long as nobody took the epoch. After a takeover `failed` is doubt.
-- Here and in all transitions, statements are planned once in a session: planning each call anew, to look at one partition
-- only, would cost more than the call, until there are many days (`fit_plans`).
CREATE FUNCTION {schema}.{table}_complete(
    p_id uuid, p_owner uuid, p_epoch bigint, p_state smallint, p_deadline bigint,
    p_result_format text, p_result bytea, p_result_ref text, p_reason text,
    OUT answer text
)
LANGUAGE plpgsql AS $$
DECLARE
    now bigint := {schema}.now_ms();
    became smallint;
    r {schema}.{table};
    same boolean;
BEGIN
    UPDATE {schema}.{table} AS t SET
        {complete_set}
    WHERE t.operation_id = p_id AND t.owner = p_owner AND t.epoch = p_epoch AND {t_is_open}
    RETURNING t.state INTO became;
    IF FOUND THEN
        answer := CASE WHEN became = p_state THEN 'completed' ELSE 'in_doubt' END;
        RETURN;
    END IF;

    SELECT t.* INTO r FROM {schema}.{table} AS t WHERE t.operation_id = p_id FOR UPDATE;
    IF NOT FOUND THEN
        answer := 'not_owner';
        RETURN;
    END IF;
    -- Sent again, its reply lost: it says what is on record. An acceptance may have been overtaken by its receipt.
    same := r.owner = p_owner AND r.epoch = p_epoch AND CASE
        WHEN p_state = {accepted} AND r.state IN ({done}, {failed}) THEN true
        WHEN p_state IN ({done}, {failed}, {accepted}) AND r.state = p_state THEN
            r.deadline IS NOT DISTINCT FROM p_deadline
            AND r.result_format IS NOT DISTINCT FROM p_result_format
            AND r.result IS NOT DISTINCT FROM p_result
            AND coalesce(p_result_ref = r.result_ref, p_result_ref IS NULL)
        ELSE false
    END;
    IF same THEN
        answer := 'completed';
        RETURN;
    END IF;
    UPDATE {schema}.{table} AS t SET evidence = {schema}.kept(t.evidence, {schema}.said(
        p_owner, p_epoch, p_state, p_deadline, p_result_format, p_result, p_result_ref, p_reason), now)
    WHERE t.operation_id = p_id;
    answer := 'not_owner';
END
$$;
