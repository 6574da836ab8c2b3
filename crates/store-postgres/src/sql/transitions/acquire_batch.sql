-- Many claims in one statement and one commit: those that found nothing on record by one insert, all others through the
-- transition, which alone knows what to say to them, and which here has no more patience with a held row than the batch.
-- p_fresh marks those to insert, of each id at most one.
--
-- Both go in the order of the ids. Two batches then wait for each other in one direction only, where they would deadlock
-- otherwise. Each is a command of its own in this function, with a snapshot of its own, so that whoever conflicted with
-- another transaction's insert sees what that one wrote.
--
-- The first row has the ids that the insert claimed, and each further row the answer to one more call, by its place. A
-- record that is large is not sent along with others: its answer is `alone`, and nothing was written for that call.
CREATE FUNCTION {schema}.{table}_acquire_batch(
    p_fresh boolean[], p_ids uuid[], p_tenants text[], p_principals text[], p_scopes text[], p_hashes bytea[],
    p_owners uuid[], p_leases bigint[], p_exps bigint[], p_retentions bigint[], p_need_approval boolean[],
    p_seen_states smallint[], p_seen_epochs bigint[], p_takeovers_within bigint[],
    OUT claimed uuid[], OUT place bigint, OUT answer text, OUT now bigint, OUT r {schema}.{table}
)
RETURNS SETOF record
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
SET lock_timeout = '{batch_lock_timeout}' SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    calls integer := cardinality(p_ids);
    begun timestamptz := clock_timestamp();
BEGIN
    -- A shorter list would be filled up with nulls.
    IF calls <> ALL (ARRAY[
        cardinality(p_fresh), cardinality(p_tenants), cardinality(p_principals), cardinality(p_scopes),
        cardinality(p_hashes), cardinality(p_owners), cardinality(p_leases), cardinality(p_exps),
        cardinality(p_retentions), cardinality(p_need_approval), cardinality(p_seen_states),
        cardinality(p_seen_epochs), cardinality(p_takeovers_within)
    ]) THEN
        RAISE EXCEPTION 'the lists differ in length' USING ERRCODE = 'array_subscript_error';
    END IF;

    -- One clock for all: it is read before the insert, as for a single claim, and how long the insert may take from there
    -- on is bounded below.
    now := {schema}.now_ms();
    WITH inserted AS (
        INSERT INTO {schema}.{table} AS t (
            operation_id, owner, created, updated, deadline, exp, retention, epoch, attempts, state,
            param_hash, scope, tenant, principal
        )
        SELECT
            u.id, u.owner, now, now, now + u.lease, u.exp, u.retention, 1, 1, {in_flight},
            u.hash, u.scope, u.tenant, u.principal
        FROM unnest(
            p_fresh, p_ids, p_tenants, p_principals, p_scopes, p_hashes, p_owners, p_leases, p_exps, p_retentions
        ) AS u(fresh, id, tenant, principal, scope, hash, owner, lease, exp, retention)
        WHERE u.fresh AND (u.exp IS NULL OR u.exp > now)
        ORDER BY u.id
        ON CONFLICT DO NOTHING
        RETURNING t.operation_id
    )
    SELECT coalesce(array_agg(i.operation_id), '{}') INTO claimed FROM inserted AS i;
    RETURN NEXT;

    IF cardinality(claimed) < calls THEN
        RETURN QUERY
        SELECT
            NULL::uuid[], u.place,
            CASE WHEN l.is_large THEN 'alone' ELSE a.answer END, a.now, CASE WHEN NOT l.is_large THEN a.r END
        FROM (
            SELECT c.* FROM unnest(
                p_fresh, p_ids, p_tenants, p_principals, p_scopes, p_hashes, p_owners, p_leases, p_exps, p_retentions,
                p_need_approval, p_seen_states, p_seen_epochs, p_takeovers_within
            ) WITH ORDINALITY AS c(
                fresh, id, tenant, principal, scope, hash, owner, lease, exp, retention,
                needs_approval, seen_state, seen_epoch, takeover_within, place
            )
            WHERE NOT (c.fresh AND c.id = ANY (claimed))
            ORDER BY c.id, c.place
        ) AS u,
        LATERAL {schema}.{table}_acquire(
            u.id, u.tenant, u.principal, u.scope, u.hash, u.owner, u.lease, u.exp, u.retention, u.needs_approval,
            u.seen_state, u.seen_epoch, u.takeover_within
        ) AS a,
        LATERAL (
            SELECT a.answer <> 'claimed'
                AND (coalesce(octet_length((a.r).result), 0) > {large} OR (a.r).evidence IS NOT NULL) AS is_large
        ) AS l;
    END IF;

    -- Many short waits are a long one: what was judged by the clock at the beginning must not be written much later.
    IF clock_timestamp() > begun + interval '{batch_patience}' THEN
        RAISE EXCEPTION 'the batch waited for too long' USING ERRCODE = 'lock_not_available';
    END IF;
END
$$;
