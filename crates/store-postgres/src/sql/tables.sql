-- What stands. Two tables with the same columns: ids that carry their time (UUIDv7) are partitioned by day, so that
-- retention can drop whole days; all others, such as those made from a client's key, live in a plain table.
--
-- The columns stand in the order of their alignment, and what is rarely there is null: a record without a result takes
-- little more than 200 bytes. No index but the primary key: an index on anything that a completion changes would end
-- HOT updates. The fill factor leaves room on the page for the version that the completion writes.

CREATE TABLE {schema}.operations (
    operation_id uuid NOT NULL,
    owner uuid,
    created bigint NOT NULL,
    updated bigint NOT NULL,
    deadline bigint,
    exp bigint,
    retention bigint NOT NULL,
    epoch integer NOT NULL,
    attempts integer NOT NULL,
    state smallint NOT NULL,
    in_doubt boolean NOT NULL DEFAULT false,
    param_hash bytea NOT NULL,
    scope text NOT NULL,
    tenant text NOT NULL,
    principal text NOT NULL,
    result_ref text,
    provider_ref text,
    reason text,
    settled_tenant text,
    settled_principal text,
    result_format text,
    result bytea,
    evidence bytea[],
    PRIMARY KEY (operation_id)
) PARTITION BY RANGE (operation_id);

-- Takes ids from clocks that are days off, and whatever comes before its day has a partition.
CREATE TABLE {schema}.operations_default PARTITION OF {schema}.operations DEFAULT WITH (fillfactor = {fillfactor});

CREATE TABLE {schema}.keyed_operations (LIKE {schema}.operations INCLUDING ALL) WITH (fillfactor = {fillfactor});
