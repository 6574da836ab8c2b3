-- What an owner notes while it runs. What a note leaves out stays.
CREATE FUNCTION {schema}.{table}_annotate(
    p_id uuid, p_owner uuid, p_epoch bigint, p_provider_ref text, p_result_ref text,
    OUT answer text
)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
SET lock_timeout = '{lock_timeout}' SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    now bigint := {schema}.now_ms();
BEGIN
    UPDATE {schema}.{table} AS t SET
        provider_ref = coalesce(p_provider_ref, t.provider_ref),
        result_ref = coalesce(p_result_ref, t.result_ref)
    WHERE t.operation_id = p_id AND t.owner = p_owner AND t.epoch = p_epoch AND {t_is_open};
    answer := CASE WHEN FOUND THEN 'annotated' ELSE 'not_owner' END;
END
$$;
