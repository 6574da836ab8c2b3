-- A claim, or what stands. The insert decides who is first: whoever conflicts with it waits until it is known how that
-- one ended, and then reads in a new snapshot, so that nobody sees nothing. Every later claim is an update that names the
-- row as it was read; where it has moved on, all is read again.
--
-- It and `complete` have no settings of their own, since setting and resetting them costs as much as the insert. A session
-- of the store is greeted with them; whoever calls from elsewhere does it through a function that has them: a batch, one
-- for a transaction of the caller's, one for a pooler's sessions.
CREATE FUNCTION {schema}.{table}_acquire(
    p_id uuid, p_tenant text, p_principal text, p_scope text, p_hash bytea,
    p_owner uuid, p_lease bigint, p_exp bigint, p_retention bigint, p_needs_approval boolean,
    p_seen_state smallint, p_seen_epoch bigint, p_takeover_within bigint,
    OUT answer text, OUT now bigint, OUT r {schema}.{table}
)
LANGUAGE plpgsql AS $$
DECLARE
    expired boolean;
    stands smallint;
    named boolean;
    takes_over boolean;
BEGIN
    FOR round IN 1..{rounds} LOOP
        now := {schema}.now_ms();
        IF NOT p_needs_approval AND p_seen_state IS NULL AND (p_exp IS NULL OR p_exp > now) THEN
            INSERT INTO {schema}.{table} AS t (
                operation_id, owner, created, updated, deadline, exp, retention, epoch, attempts, state,
                param_hash, scope, tenant, principal
            ) VALUES (
                p_id, p_owner, now, now, now + p_lease, p_exp, p_retention, 1, 1, {in_flight},
                p_hash, p_scope, p_tenant, p_principal
            ) ON CONFLICT DO NOTHING;
            IF FOUND THEN
                -- Epoch and attempts are 1: to fill the record with them would cost as much as the answer.
                answer := 'first';
                RETURN;
            END IF;
        END IF;
        expired := coalesce(p_exp <= now, false);

        SELECT t.* INTO r FROM {schema}.{table} AS t WHERE t.operation_id = p_id;
        IF NOT FOUND THEN
            answer := CASE
                WHEN p_needs_approval THEN 'approval_missing'
                WHEN expired THEN 'expired'
                WHEN p_seen_state IS NOT NULL THEN 'gone'
            END;
            IF answer IS NOT NULL THEN
                RETURN;
            END IF;
            -- It stood when the insert met it, and has been dropped since.
            CONTINUE;
        END IF;

        -- Who and what come first, in every state; a stranger learns nothing.
        IF r.tenant <> p_tenant OR r.principal <> p_principal OR r.scope <> p_scope THEN
            answer := 'foreign';
            r := NULL;
            RETURN;
        END IF;
        IF r.param_hash <> p_hash THEN
            answer := 'params_changed';
            RETURN;
        END IF;

        stands := {schema}.reads_as(r.state, r.deadline, now);
        named := coalesce(p_seen_state = stands AND p_seen_epoch = r.epoch, false);
        takes_over := stands = {unknown} AND named AND r.owner <> p_owner
            AND r.attempts > 0 AND coalesce(now < r.created + p_takeover_within, false)
            AND NOT {schema}.is_held(r.state, r.deadline, now);

        IF stands = {in_flight} AND r.owner = p_owner THEN
            -- The same call again, its reply lost: the same claim, and a fresh lease.
            UPDATE {schema}.{table} AS t SET deadline = greatest(t.deadline, now + p_lease)
            WHERE t.operation_id = p_id AND t.owner = p_owner AND t.epoch = r.epoch
                AND t.state = {in_flight} AND t.deadline > now
            RETURNING t.* INTO r;
        ELSIF stands = {released} AND expired THEN
            answer := 'expired';
            RETURN;
        ELSIF stands = {released} AND p_needs_approval THEN
            answer := 'approval_missing';
            RETURN;
        ELSIF stands = {released} AND named AND r.owner IS DISTINCT FROM p_owner THEN
            -- Nothing of the last attempt happened, so that its references go too.
            UPDATE {schema}.{table} AS t SET
                state = {in_flight}, owner = p_owner, epoch = t.epoch + 1, attempts = t.attempts + 1,
                deadline = now + p_lease, updated = now,
                result_format = NULL, result = NULL, reason = NULL, settled_tenant = NULL, settled_principal = NULL,
                result_ref = NULL, provider_ref = NULL
            WHERE t.operation_id = p_id AND t.state = r.state AND t.epoch = r.epoch
            RETURNING t.* INTO r;
        ELSIF takes_over THEN
            -- The last attempt's references stay: a reconciler may need them.
            UPDATE {schema}.{table} AS t SET
                state = {in_flight}, owner = p_owner, epoch = t.epoch + 1, attempts = t.attempts + 1, in_doubt = true,
                deadline = now + p_lease, updated = now,
                result_format = NULL, result = NULL, reason = NULL, settled_tenant = NULL, settled_principal = NULL
            WHERE t.operation_id = p_id AND t.state = r.state AND t.epoch = r.epoch
                AND t.deadline IS NOT DISTINCT FROM r.deadline
            RETURNING t.* INTO r;
        ELSE
            answer := 'found';
            RETURN;
        END IF;
        IF FOUND THEN
            answer := 'claimed';
            RETURN;
        END IF;
    END LOOP;
    RAISE EXCEPTION 'the record moved on {rounds} times' USING ERRCODE = 'serialization_failure';
END
$$;
