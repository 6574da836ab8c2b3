//! Whoever may create in a schema on the path of the service puts nothing of his own into a call.

mod common;

use common::{Op, builder, claimed, client, done, fresh_schema, patient};
use counterfoil_core::{
    lifecycle::State,
    store::{Acquired, Completed, Listing, Store},
};
use counterfoil_servers::{PgBouncer, Postgres};

/// Each is a better match to what the schema asks for than the server's own.
const TRAPS: &str = "
    CREATE FUNCTION public.trap(numeric, integer) RETURNS numeric LANGUAGE plpgsql
        AS $$ BEGIN RAISE EXCEPTION 'trapped'; END $$;
    CREATE OPERATOR public.* (LEFTARG = numeric, RIGHTARG = integer, FUNCTION = public.trap);
    CREATE FUNCTION public.hashtextextended(text, integer) RETURNS bigint LANGUAGE plpgsql
        AS $$ BEGIN RAISE EXCEPTION 'trapped'; END $$;
    CREATE FUNCTION public.right(name, integer) RETURNS text LANGUAGE plpgsql
        AS $$ BEGIN RAISE EXCEPTION 'trapped'; END $$;
    CREATE FUNCTION public.trap(text, uuid) RETURNS text LANGUAGE plpgsql
        AS $$ BEGIN RAISE EXCEPTION 'trapped'; END $$;
    CREATE OPERATOR public.|| (LEFTARG = text, RIGHTARG = uuid, FUNCTION = public.trap);
";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_of_others_are_not_taken_for_the_servers() {
    let server = Postgres::start().expect("it starts");
    let pooler = PgBouncer::start(&server).expect("it starts");
    let traps = client(server.url()).await.batch_execute(TRAPS).await;
    traps.expect("they are set");
    let schema = fresh_schema();
    let direct = patient(builder(server.url())).with_schema(&schema);
    direct.migrate().await.expect("it meets no trap");
    let pooled = patient(builder(pooler.url()))
        .with_schema(&schema)
        .behind_transaction_pooler();
    for builder in [direct, pooled] {
        let store = builder.connect().await.expect("it is fit for it");
        for op in [Op::now(), Op::keyed()] {
            let held = claimed(store.acquire(&op.wish()).await.expect("it is free"));
            let ended = store.complete(&held, &done("paid")).await;
            assert_eq!(ended.expect("it is ours"), Completed::Completed);
            let again = store.acquire(&op.wish()).await.expect("it answers");
            assert!(matches!(again, Acquired::Found(_)), "{again:?}");
            let sighting = store.find(op.id).await.expect("it answers");
            assert!(sighting.record.is_some());
        }
        let ended = store.list(&Listing::new(State::Done)).await;
        ended.expect("it answers");
        store.purge(1).await.expect("it answers");
        store.drop_days().await.expect("it answers");

        // On a connection of the caller's, with a path of its own.
        let mut client = client(server.url()).await;
        let transaction = client.transaction().await.expect("one begins");
        let held = store.acquire_in(&transaction, &Op::now().wish()).await;
        let held = claimed(held.expect("it is free"));
        let ended = store.complete_in(&transaction, &held, &done("paid")).await;
        assert_eq!(ended.expect("it is ours"), Completed::Completed);
        store.commit(transaction).await.expect("it commits");
    }
}
