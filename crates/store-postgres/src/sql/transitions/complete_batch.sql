-- Many completions in one statement and one commit: those of owners that hold their epochs, by one update. p_first marks
-- the first of each id: an update takes one of several, and not a known one.
--
-- The settings leave the planner one way only, from each call to its record along the primary key, in the order of the
-- ids: batches that went in different orders would deadlock, and a plan made while the table was small must not be one
-- that reads all of it.
--
-- Gives the answers with their places. A call without one changed nothing here, and is to be made alone: a lost owner locks
-- the row too, for its evidence. Locked after the update, and so in an order of its own, it would wait for a batch that
-- waits for this one.
CREATE FUNCTION {schema}.{table}_complete_batch(
    p_first boolean[], p_ids uuid[], p_owners uuid[], p_epochs bigint[], p_states smallint[], p_deadlines bigint[],
    p_result_formats text[], p_results bytea[], p_result_refs text[], p_reasons text[],
    OUT places bigint[], OUT answers text[]
)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
SET lock_timeout = '{batch_lock_timeout}' SET plan_cache_mode = force_generic_plan
SET enable_hashjoin = off SET enable_mergejoin = off SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
    now bigint := {schema}.now_ms();
    calls integer := cardinality(p_ids);
    begun timestamptz := clock_timestamp();
BEGIN
    -- A shorter list would be filled up with nulls.
    IF calls <> ALL (ARRAY[
        cardinality(p_first), cardinality(p_owners), cardinality(p_epochs), cardinality(p_states),
        cardinality(p_deadlines), cardinality(p_result_formats), cardinality(p_results), cardinality(p_result_refs),
        cardinality(p_reasons)
    ]) THEN
        RAISE EXCEPTION 'the lists differ in length' USING ERRCODE = 'array_subscript_error';
    END IF;

    WITH updated AS (
        UPDATE {schema}.{table} AS t SET
            {complete_set}
        FROM (
            SELECT c.* FROM unnest(
                p_first, p_ids, p_owners, p_epochs, p_states, p_deadlines,
                p_result_formats, p_results, p_result_refs, p_reasons
            ) WITH ORDINALITY AS c(
                is_first, p_id, p_owner, p_epoch, p_state, p_deadline,
                p_result_format, p_result, p_result_ref, p_reason, place
            )
            WHERE c.is_first
            ORDER BY c.p_id
        ) AS u
        WHERE t.operation_id = p_id AND t.owner = p_owner AND t.epoch = p_epoch AND {t_is_open}
            -- The lists are sorted. With their ends known, only the partitions in between are opened.
            AND t.operation_id BETWEEN p_ids[1] AND p_ids[calls]
        RETURNING u.place, CASE WHEN t.state = u.p_state THEN 'completed' ELSE 'in_doubt' END AS answer
    )
    SELECT coalesce(array_agg(d.place), '{}'), coalesce(array_agg(d.answer), '{}') INTO places, answers
    FROM updated AS d;

    -- Many short waits are a long one, and no other caller's.
    IF clock_timestamp() > begun + interval '{batch_patience}' THEN
        RAISE EXCEPTION 'the batch waited for too long' USING ERRCODE = 'lock_not_available';
    END IF;
END
$$;
