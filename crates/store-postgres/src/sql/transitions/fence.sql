-- A reconciler takes the epoch of what is unknown, so that whatever the old owner still says changes nothing. Of two
-- reconcilers one holds it, until its hold lapses.
CREATE FUNCTION {schema}.{table}_fence(
    p_id uuid, p_owner uuid, p_seen_epoch bigint, p_hold bigint,
    OUT answer text, OUT now bigint, OUT r {schema}.{table}
)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
SET lock_timeout = '{lock_timeout}' SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    SELECT t.* INTO r FROM {schema}.{table} AS t WHERE t.operation_id = p_id FOR UPDATE;
    now := {schema}.now_ms();
    IF NOT FOUND THEN
        answer := 'absent';
    ELSIF {schema}.reads_as(r.state, r.deadline, now) <> {unknown} THEN
        answer := 'refused';
    ELSIF {schema}.is_held(r.state, r.deadline, now) THEN
        -- The same call again, or another reconciler's.
        answer := CASE WHEN r.owner = p_owner THEN 'fenced' ELSE 'refused' END;
    ELSIF r.epoch <> p_seen_epoch THEN
        answer := 'refused';
    ELSE
        UPDATE {schema}.{table} AS t SET
            state = {unknown}, owner = p_owner, epoch = t.epoch + 1, deadline = now + p_hold, updated = now
        WHERE t.operation_id = p_id
        RETURNING t.* INTO r;
        answer := 'fenced';
    END IF;
END
$$;
