-- A reconciler or a person settles what is unknown: p_state is done, failed or released. Whoever frees it without having
-- fenced takes the next epoch now, so that it is one that no attempt was ever given.
CREATE FUNCTION {schema}.{table}_resolve(
    p_id uuid, p_owner uuid, p_seen_epoch bigint, p_state smallint, p_vouched boolean,
    p_result_format text, p_result bytea, p_result_ref text, p_reason text,
    p_settled_tenant text, p_settled_principal text,
    OUT answer text, OUT now bigint, OUT r {schema}.{table}
)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
SET lock_timeout = '{lock_timeout}' SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    frees boolean := p_state = {released};
    own_hold boolean;
BEGIN
    SELECT t.* INTO r FROM {schema}.{table} AS t WHERE t.operation_id = p_id FOR UPDATE;
    now := {schema}.now_ms();
    own_hold := coalesce(r.owner = p_owner, false);
    IF r.operation_id IS NULL THEN
        answer := 'absent';
    ELSIF {schema}.reads_as(r.state, r.deadline, now) <> {unknown} OR r.epoch <> p_seen_epoch THEN
        answer := 'refused';
    ELSIF {schema}.is_held(r.state, r.deadline, now) AND NOT own_hold THEN
        answer := 'refused';
    ELSIF p_state <> {done} AND NOT p_vouched THEN
        answer := 'unvouched';
    ELSE
        UPDATE {schema}.{table} AS t SET
            state = p_state,
            owner = CASE WHEN frees THEN p_owner ELSE t.owner END,
            epoch = CASE WHEN frees AND NOT own_hold THEN t.epoch + 1 ELSE t.epoch END,
            deadline = NULL,
            in_doubt = false,
            updated = now,
            -- What an acceptance told its caller is not how it ended.
            result_format = CASE WHEN frees THEN NULL ELSE p_result_format END,
            result = CASE WHEN frees THEN NULL ELSE p_result END,
            result_ref = CASE WHEN frees THEN t.result_ref ELSE coalesce(p_result_ref, t.result_ref) END,
            reason = p_reason,
            settled_tenant = p_settled_tenant,
            settled_principal = p_settled_principal
        WHERE t.operation_id = p_id
        RETURNING t.* INTO r;
        answer := 'resolved';
    END IF;
END
$$;
