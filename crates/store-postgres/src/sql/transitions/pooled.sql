-- The transitions that have no settings of their own, for sessions that nobody could greet: a transaction pooler's.

CREATE FUNCTION {schema}.{table}_acquire_pooled(
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
    SELECT a.* INTO claim FROM {schema}.{table}_acquire(
        p_id, p_tenant, p_principal, p_scope, p_hash, p_owner, p_lease, p_exp, p_retention, p_needs_approval,
        p_seen_state, p_seen_epoch, p_takeover_within) AS a;
    answer := claim.answer;
    now := claim.now;
    r := claim.r;
END
$$;

CREATE FUNCTION {schema}.{table}_complete_pooled(
    p_id uuid, p_owner uuid, p_epoch bigint, p_state smallint, p_deadline bigint,
    p_result_format text, p_result bytea, p_result_ref text, p_reason text,
    OUT answer text
)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
SET lock_timeout = '{lock_timeout}' SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    answer := {schema}.{table}_complete(
        p_id, p_owner, p_epoch, p_state, p_deadline, p_result_format, p_result, p_result_ref, p_reason);
END
$$;
