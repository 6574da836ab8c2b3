-- Up to p_limit records from p_from on that read as p_state, in the order of their ids. No state is indexed: it walks the
-- table along its primary key. It stops early once results and evidence weigh {page_weight} bytes, and says so by a last row
-- without a record.
CREATE FUNCTION {schema}.{table}_list(p_state smallint, p_tenant text, p_from uuid, p_limit integer, OUT now bigint, OUT r {schema}.{table})
RETURNS SETOF record
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET plan_cache_mode = auto
AS $$
DECLARE
    weight bigint := 0;
BEGIN
    now := {schema}.now_ms();
    FOR r IN
        SELECT t.* FROM {schema}.{table} AS t
        WHERE t.operation_id >= p_from
            AND {schema}.reads_as(t.state, t.deadline, now) = p_state
            AND (p_tenant IS NULL OR t.tenant = p_tenant)
        ORDER BY t.operation_id
        LIMIT p_limit
    LOOP
        RETURN NEXT;
        weight := weight + coalesce(octet_length(r.result), 0)
            + (SELECT coalesce(sum(octet_length(entry)), 0) FROM unnest(r.evidence) AS entry);
        IF weight >= {page_weight} THEN
            r := NULL;
            RETURN NEXT;
            RETURN;
        END IF;
    END LOOP;
END
$$;
