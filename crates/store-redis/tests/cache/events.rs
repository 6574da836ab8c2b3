//! Counts security events of one name while a future runs.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use counterfoil_core::engine::SECURITY_TARGET;
use tracing::{
    Event, Subscriber,
    field::{Field, Visit},
    instrument::WithSubscriber,
};
use tracing_subscriber::{
    Layer, Registry,
    layer::{Context, SubscriberExt},
};

struct Counter {
    name: &'static str,
    seen: Arc<AtomicUsize>,
}

impl<S: Subscriber> Layer<S> for Counter {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut is_named = IsNamed(self.name, false);
        event.record(&mut is_named);
        if event.metadata().target() == SECURITY_TARGET && is_named.1 {
            self.seen.fetch_add(1, Ordering::SeqCst);
        }
    }
}

struct IsNamed(&'static str, bool);

impl Visit for IsNamed {
    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}

    fn record_str(&mut self, field: &Field, value: &str) {
        self.1 |= field.name() == "event" && value == self.0;
    }
}

/// What the future gives, and how many such events it told.
pub(crate) async fn counted<T>(name: &'static str, future: impl Future<Output = T>) -> (T, usize) {
    let seen = Arc::new(AtomicUsize::new(0));
    let counter = Counter {
        name,
        seen: Arc::clone(&seen),
    };
    let subscriber = Registry::default().with(counter);
    let given = future.with_subscriber(subscriber).await;
    (given, seen.load(Ordering::SeqCst))
}
