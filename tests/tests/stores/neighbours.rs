//! Two processes over one Postgres.

use counterfoil_servers::{Shared, shared};
use tests::{Gateway, transfer};

use crate::{KEYS, assert_one_run, settled};

const TRANSFERS: usize = 5;
/// At each of the two.
const CALLERS: usize = 10;

#[tokio::test]
async fn equal_confirms_at_two_gateways_at_once_have_one_effect_and_one_result() {
    let store = shared(Shared::Postgres);
    let gateways = [(); 2].map(|()| Gateway::start(&["--store", &store, "--keys", KEYS]));
    let agents = [0, 1].map(|number: usize| gateways[number].caller("acme/agent-7"));
    for number in 0..TRANSFERS {
        let previewed = agents[number % 2].preview(&transfer("120.50")).await;
        let calls: Vec<_> = (0..2 * CALLERS)
            .map(|caller| {
                let (agent, previewed) = (agents[caller % 2].clone(), previewed.clone());
                tokio::spawn(async move { settled(&agent, &previewed).await })
            })
            .collect();
        let mut all = Vec::new();
        for call in calls {
            all.push(call.await.expect("every caller is answered in time"));
        }
        assert_one_run(&all);
        let mut effects = 0;
        for agent in &agents {
            effects += agent.effects(Some(&previewed.id)).await.len();
        }
        assert_eq!(effects, 1);
    }
}
