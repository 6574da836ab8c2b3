//! What is told to logs. Alone in its program, since what a thread listens to is partly global.

mod common;

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use common::{Mood, tiers};
use counterfoil_core::{Clock, OperationId, store::Store};
use counterfoil_store_tiered::TieredStore;
use tokio::time::advance;
use tracing_subscriber::{
    Layer,
    layer::{Context, SubscriberExt},
    registry,
};

#[tokio::test(start_paused = true)]
async fn it_is_told_when_the_cache_is_left_out_and_when_it_is_back() {
    let ear = Ear::default();
    let _listening = tracing::subscriber::set_default(registry().with(ear.clone()));
    let (clock, truth, cache) = tiers();
    let store = TieredStore::new(truth, cache.clone());
    let id = OperationId::mint(clock.now());

    cache.be(Mood::Fails);
    for _ in 0..3 {
        store.find(id).await.unwrap();
    }
    assert_eq!(ear.heard(), ["WARN the cache fails and is left out"]);
    advance(Duration::from_secs(1)).await;
    store.find(id).await.unwrap();
    store.settled().await;
    assert_eq!(ear.heard(), [""; 0], "still out: nothing new");

    cache.be(Mood::Well);
    advance(Duration::from_secs(1)).await;
    store.find(id).await.unwrap();
    store.settled().await;
    assert_eq!(
        ear.heard(),
        ["INFO the cache answers again and is asked again"]
    );
}

/// Keeps what the store says from `INFO` up: the level, and the text up to its first semicolon.
#[derive(Clone, Default)]
struct Ear(Arc<Mutex<Vec<String>>>);

impl Ear {
    fn heard(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl<S: tracing::Subscriber> Layer<S> for Ear {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        let metadata = event.metadata();
        let ours = metadata.target().starts_with("counterfoil_store_tiered");
        if ours && *metadata.level() <= tracing::Level::INFO {
            let mut text = metadata.level().to_string();
            event.record(
                &mut |field: &tracing::field::Field, value: &dyn std::fmt::Debug| {
                    if field.name() == "message" {
                        let message = format!("{value:?}");
                        text += &format!(" {}", message.split(';').next().unwrap_or_default());
                    }
                },
            );
            self.0.lock().unwrap().push(text);
        }
    }
}
