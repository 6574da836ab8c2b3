//! A cache that nobody can rely on.

use counterfoil_core::{
    OperationId,
    lifecycle::State,
    store::{Record, Store, StoreError, StoreErrorKind},
};

use super::MapCache;

impl MapCache {
    /// A read that may find anything but what was never put into it.
    pub(super) async fn wild(&self, id: OperationId) -> Result<Option<Box<Record>>, StoreError> {
        match self.roll() {
            0..8 => self.flush(),
            8..16 => {
                let saved = self.copies().clone();
                *self.inner.saved.lock().unwrap() = saved;
            }
            // A failover to a replica that was behind: what was lost comes back, what came since is gone.
            16..24 => {
                let saved = self.inner.saved.lock().unwrap().clone();
                *self.copies() = saved;
            }
            24..30 => {
                return Err(StoreError::new(
                    StoreErrorKind::Corrupt,
                    "the cache is out of its mind",
                ));
            }
            30..34 => return std::future::pending().await,
            // A connection that is out of step gives the answer to another question.
            34..40 => {
                let copies = self.copies();
                let other = copies.values().find(|copy| copy.id != id);
                return Ok(other.cloned().map(Box::new));
            }
            40..46 => {
                let mut copy = self.copies().get(&id).cloned();
                if let Some(copy) = &mut copy {
                    copy.life.state = State::InFlight;
                    copy.result = None;
                }
                return Ok(copy.map(Box::new));
            }
            _ => {}
        }
        let copy = self.copies().get(&id).cloned();
        let Some(mut copy) = copy else {
            return Ok(None);
        };
        // Older evidence is the one thing of it that may show, and is not what these tests are about.
        if let Some(record) = self.inner.truth.inner().find(id).await?.record {
            copy.evidence = record.evidence;
        }
        Ok(Some(Box::new(copy)))
    }

    fn roll(&self) -> u64 {
        let mut dice = self.inner.dice.lock().unwrap();
        *dice = dice
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (*dice >> 33) % 100
    }
}
