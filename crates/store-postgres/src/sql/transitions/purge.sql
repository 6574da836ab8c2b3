-- Drops up to p_limit records whose time is over, out of the p_window ids from p_from on. No time is indexed, so whoever
-- purges walks the table window by window; `next` is where the next one begins, null at the table's end. `due` is when the
-- next of the records that stay behind in this window can be dropped, as far as that is known now. Before p_not_before it
-- does not look at all.
--
-- A record that somebody is writing is passed over, and judged again once its lock is had: a released one that is claimed
-- at this moment is open business.
CREATE FUNCTION {schema}.{table}_purge(
    p_from uuid, p_window integer, p_limit integer, p_not_before bigint,
    OUT now bigint, OUT dropped integer, OUT next uuid, OUT due bigint
)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET plan_cache_mode = auto
AS $$
BEGIN
    now := {schema}.now_ms();
    dropped := 0;
    IF now < p_not_before THEN
        due := p_not_before;
        RETURN;
    END IF;

    SELECT t.operation_id INTO next FROM {schema}.{table} AS t
    WHERE t.operation_id >= p_from ORDER BY t.operation_id OFFSET p_window LIMIT 1;

    DELETE FROM {schema}.{table} AS t WHERE t.operation_id = ANY (ARRAY(
        SELECT d.operation_id FROM {schema}.{table} AS d
        WHERE d.operation_id >= p_from AND (next IS NULL OR d.operation_id < next)
            AND {schema}.purge_at(d.state, d.updated, d.exp, d.retention) <= now
        ORDER BY d.operation_id
        LIMIT p_limit
        FOR UPDATE SKIP LOCKED
    ));
    GET DIAGNOSTICS dropped = ROW_COUNT;

    SELECT min({schema}.purge_at(t.state, t.updated, t.exp, t.retention)) INTO due FROM {schema}.{table} AS t
    WHERE t.operation_id >= p_from AND (next IS NULL OR t.operation_id < next);
END
$$;
