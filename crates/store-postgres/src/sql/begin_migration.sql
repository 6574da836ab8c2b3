-- The first to come migrates; the others wait for it, and then find it done.
-- Whoever may create in a schema on the path could else put operators of his own before the server's.
SET LOCAL search_path = pg_catalog, pg_temp;
SET LOCAL statement_timeout = 0;
SET LOCAL lock_timeout = '60s';
SELECT pg_advisory_xact_lock(hashtextextended('counterfoil migrates ' || {schema_text}, 0));
DO $$
BEGIN
    -- Asked first, since even a schema that exists can't be "created if it doesn't" without the right to create others.
    IF to_regnamespace({schema_text}) IS NULL THEN
        CREATE SCHEMA {schema};
    END IF;
    IF to_regclass({schema_text} || '.migrations') IS NULL THEN
        CREATE TABLE {schema}.migrations (
            version integer PRIMARY KEY,
            applied_at timestamptz NOT NULL DEFAULT now()
        );
    END IF;
END
$$;
