-- The caller calls an operation off before it runs. Where nothing stands, a tombstone stops later claims, up to `exp`: at
-- and after it there are none. Without a tombstone p_scope is null.
CREATE FUNCTION {schema}.{table}_cancel(
    p_id uuid, p_tenant text, p_principal text, p_reason text,
    p_scope text, p_hash bytea, p_exp bigint, p_retention bigint,
    OUT answer text, OUT now bigint, OUT r {schema}.{table}
)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
SET lock_timeout = '{lock_timeout}' SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    FOR round IN 1..{rounds} LOOP
        now := {schema}.now_ms();
        IF p_scope IS NOT NULL AND p_exp > now THEN
            INSERT INTO {schema}.{table} AS t (
                operation_id, created, updated, exp, retention, epoch, attempts, state,
                param_hash, scope, tenant, principal, reason, settled_tenant, settled_principal
            ) VALUES (
                p_id, now, now, p_exp, p_retention, 0, 0, {cancelled},
                p_hash, p_scope, p_tenant, p_principal, p_reason, p_tenant, p_principal
            ) ON CONFLICT DO NOTHING
            RETURNING t.* INTO r;
            IF FOUND THEN
                answer := 'cancelled';
                RETURN;
            END IF;
        END IF;

        SELECT t.* INTO r FROM {schema}.{table} AS t WHERE t.operation_id = p_id FOR UPDATE;
        IF NOT FOUND THEN
            IF p_scope IS NULL OR p_exp <= now THEN
                answer := CASE WHEN p_scope IS NULL THEN 'absent' ELSE 'expired' END;
                RETURN;
            END IF;
            CONTINUE;
        END IF;

        now := {schema}.now_ms();
        -- A tombstone's scope and hash come from the credential. Where they are not the record's, it is not the operation
        -- that the caller means.
        IF r.tenant <> p_tenant OR r.principal <> p_principal
            OR coalesce(r.scope <> p_scope, false) OR coalesce(r.param_hash <> p_hash, false)
        THEN
            answer := 'foreign';
            r := NULL;
        ELSIF r.state = {cancelled} THEN
            answer := 'cancelled';
        ELSIF r.state = {released} THEN
            UPDATE {schema}.{table} AS t SET
                state = {cancelled}, deadline = NULL, updated = now,
                reason = p_reason, settled_tenant = p_tenant, settled_principal = p_principal
            WHERE t.operation_id = p_id
            RETURNING t.* INTO r;
            answer := 'cancelled';
        ELSE
            answer := 'too_late';
        END IF;
        RETURN;
    END LOOP;
    RAISE EXCEPTION 'the record moved on {rounds} times' USING ERRCODE = 'serialization_failure';
END
$$;
