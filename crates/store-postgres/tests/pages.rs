//! Listings of records that are large.

mod common;

use counterfoil_core::{
    lifecycle::State,
    store::{Completed, Listing, Store},
};
use counterfoil_servers::{Shared, shared};

use common::{Op, ask, builder, claimed, fresh_schema, patient};

const MIB: usize = 1 << 20;

/// A page holds whole records, and so it ends early where they are large. Nothing is left out: the next page goes on there.
#[tokio::test]
async fn a_page_of_large_results_ends_early_and_the_pages_together_have_all_of_them() {
    let builder = patient(builder(&shared(Shared::Postgres))).with_schema(fresh_schema());
    builder.migrate().await.expect("it can be migrated");
    let store = builder.connect().await.expect("it is fit for it");
    let mut ids = Vec::new();
    // In both tables, whose records a listing mixes.
    for n in 0..20_u8 {
        let op = if n % 2 == 0 { Op::now() } else { Op::keyed() };
        let held = claimed(store.acquire(&op.wish()).await.expect("it is free"));
        let answer = store.complete(&held, &ask::done(vec![n; MIB])).await;
        assert_eq!(answer.expect("it is ours"), Completed::Completed);
        ids.push(op.id);
    }
    ids.sort_unstable();

    let (mut listed, mut pages) = (Vec::new(), 0);
    let mut listing = Listing::new(State::Done).with_limit(1_000);
    loop {
        let page = store.list(&listing).await.expect("it answers");
        pages += 1;
        let results = page
            .records
            .iter()
            .filter_map(|record| record.result.as_ref());
        let weight: usize = results.map(|result| result.bytes.len()).sum();
        // Of each table what it may weigh.
        assert!(weight <= 8 * MIB, "{weight}");
        listed.extend(page.records.iter().map(|record| record.id));
        let Some(last) = page.records.last().filter(|_| page.more) else {
            break;
        };
        listing = listing.with_after(last.id);
    }
    assert_eq!(listed, ids);
    assert!(pages >= 3, "{pages}");
}
