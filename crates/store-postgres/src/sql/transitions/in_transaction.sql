-- The same transitions in a transaction of the caller's, whose end decides about them and about whatever else is in it.

-- A claim that meets another transaction's must not wait for it: the wait would end in an error, and the error would end
-- the caller's transaction. Claims made like this see each other by an advisory lock, and the others, which last no longer
-- than a commit, in a subtransaction. `locked` comes with the record as it stood before the other transaction.
CREATE FUNCTION {schema}.{table}_acquire_in(
    p_id uuid, p_tenant text, p_principal text, p_scope text, p_hash bytea,
    p_owner uuid, p_lease bigint, p_exp bigint, p_retention bigint, p_needs_approval boolean,
    p_seen_state smallint, p_seen_epoch bigint, p_takeover_within bigint,
    OUT answer text, OUT now bigint, OUT r {schema}.{table}
)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
SET lock_timeout = '{lock_timeout}' SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    claim record;
BEGIN
    now := {schema}.now_ms();
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        answer := 'isolation';
        RETURN;
    END IF;
    answer := 'locked';
    IF pg_try_advisory_xact_lock(hashtextextended('{schema_name}.{table} ' || p_id, 0)) THEN
        BEGIN
            SELECT a.* INTO claim FROM {schema}.{table}_acquire(
                p_id, p_tenant, p_principal, p_scope, p_hash, p_owner, p_lease, p_exp, p_retention, p_needs_approval,
                p_seen_state, p_seen_epoch, p_takeover_within) AS a;
            answer := claim.answer;
            now := claim.now;
            r := claim.r;
        EXCEPTION WHEN lock_not_available THEN
            answer := 'locked';
        END;
    END IF;
    IF answer = 'locked' THEN
        SELECT t.* INTO r FROM {schema}.{table} AS t WHERE t.operation_id = p_id;
    END IF;
END
$$;

CREATE FUNCTION {schema}.{table}_complete_in(
    p_id uuid, p_owner uuid, p_epoch bigint, p_state smallint, p_deadline bigint,
    p_result_format text, p_result bytea, p_result_ref text, p_reason text,
    OUT answer text
)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
SET lock_timeout = '{lock_timeout}' SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        answer := 'isolation';
    ELSE
        answer := {schema}.{table}_complete(
            p_id, p_owner, p_epoch, p_state, p_deadline, p_result_format, p_result, p_result_ref, p_reason);
    END IF;
END
$$;
