//! Defects of fence, resolve, cancel, find, list and purge.

use std::time::Duration;

use counterfoil_core::{
    OperationId, ParamHash, Scope,
    lifecycle::{State, Verdict},
    store::{
        Cancellation, Cancelled, FenceRequest, Fenced, Identity, Listing, Page, RETENTION_SKEW,
        Record, Resolution, Resolved, Sighting, Store, StoreError, Tombstone,
    },
};

use crate::{
    broken::{Broken, is_lapsed},
    defects::Defect,
};

const DAY: Duration = Duration::from_secs(86_400);

impl Broken {
    pub(crate) async fn spoil_fence(&self, request: &FenceRequest) -> Result<Fenced, StoreError> {
        let mut request = request.clone();
        if let Some(record) = self.stands(request.id).await {
            let life = &record.life;
            let own = life.owner == Some(request.owner);
            let held = life.state == State::Unknown && life.deadline.is_some();
            let fences = match self.defect {
                Some(Defect::FencesWithoutTheEpoch) => {
                    life.state == State::Unknown && life.epoch == request.seen
                }
                Some(Defect::FencesTheHeld) => held && !own,
                Some(Defect::FencesTheRunning) => life.state == State::InFlight,
                _ => false,
            };
            if fences {
                return Ok(Fenced::Fenced(self.show_box(Box::new(record))));
            }
            let refuses = match self.defect {
                Some(Defect::FencesOnce) => held && own,
                Some(Defect::HoldsForEver) => !self.meet(request.id) && !own,
                _ => false,
            };
            if refuses {
                return Ok(Fenced::Refused(Some(self.show_box(Box::new(record)))));
            }
            if self.is(Defect::FencesTheStale) {
                request.seen = life.epoch;
            }
        }
        request.id = self.inside(request.id);
        Ok(match self.inner.fence(&request).await? {
            Fenced::Fenced(record) => Fenced::Fenced(self.show_box(record)),
            Fenced::Refused(record) => Fenced::Refused(record.map(|record| self.show_box(record))),
        })
    }

    pub(crate) async fn spoil_resolve(
        &self,
        resolution: &Resolution,
    ) -> Result<Resolved, StoreError> {
        let mut resolution = resolution.clone();
        if let Some(record) = self.stands(resolution.id).await {
            let life = &record.life;
            let own = life.owner.unwrap_or(resolution.owner);
            let held = life.deadline.is_some();
            match self.defect {
                Some(Defect::ResolvesTheRunning) if life.state == State::InFlight => {
                    return Ok(Resolved::Resolved(self.show_box(Box::new(record))));
                }
                Some(Defect::ResolvesUnvouched) => resolution.vouched = true,
                Some(Defect::WantsAVouchForAll)
                    if life.state == State::Unknown
                        && life.epoch == resolution.seen
                        && (!held || own == resolution.owner)
                        && !resolution.vouched =>
                {
                    return Ok(Resolved::Unvouched);
                }
                Some(Defect::ResolvesTheStale) => resolution.seen = life.epoch,
                Some(Defect::ResolvesTheHeld) if held => {
                    resolution.owner = own;
                    resolution.seen = life.epoch;
                }
                Some(Defect::FreesInTheSameEpoch)
                    if !held && resolution.verdict == Verdict::NotExecuted =>
                {
                    resolution.owner = own;
                }
                Some(Defect::LosesResolvedResults) => resolution.result = None,
                _ => {}
            }
        }
        resolution.id = self.inside(resolution.id);
        Ok(match self.inner.resolve(&resolution).await? {
            Resolved::Resolved(record) => Resolved::Resolved(self.show_box(record)),
            Resolved::Refused(record) => {
                Resolved::Refused(record.map(|record| self.show_box(record)))
            }
            Resolved::Unvouched => Resolved::Unvouched,
        })
    }

    pub(crate) async fn spoil_cancel(
        &self,
        cancellation: &Cancellation,
    ) -> Result<Cancelled, StoreError> {
        let mut wish = cancellation.clone();
        if let Some(record) = self.stands(wish.id).await {
            if let Some(answer) = self.instead_of_cancel(&wish, &record) {
                return Ok(answer);
            }
            match self.defect {
                Some(Defect::CancelsForAnybody) => {
                    wish.subject = record.identity.subject.clone();
                }
                Some(Defect::CancelsAnyScope) => wish.tombstone = None,
                _ => {}
            }
        } else {
            match (self.defect, &mut wish.tombstone) {
                (Some(Defect::BuriesTheExpired), Some(tombstone))
                    if self.now() >= tombstone.exp =>
                {
                    tombstone.exp = tombstone.exp + DAY;
                }
                (Some(Defect::InventsTombstones), None) => {
                    wish.tombstone = Some(Tombstone {
                        identity: Identity {
                            subject: wish.subject.clone(),
                            scope: Scope::new("invented"),
                            hash: ParamHash::from_bytes([0; 32]),
                        },
                        exp: self.now() + DAY,
                        retention: DAY,
                    });
                }
                _ => {}
            }
        }
        wish.id = self.inside(wish.id);
        Ok(match self.inner.cancel(&wish).await? {
            Cancelled::Cancelled(record) => Cancelled::Cancelled(self.show_box(record)),
            Cancelled::TooLate(record) => Cancelled::TooLate(self.show_box(record)),
            other => other,
        })
    }

    fn instead_of_cancel(&self, wish: &Cancellation, record: &Record) -> Option<Cancelled> {
        let own = record.identity.subject == wish.subject
            && wish
                .tombstone
                .as_ref()
                .is_none_or(|tombstone| tombstone.identity == record.identity);
        let record_shown = || self.show_box(Box::new(record.clone()));
        match (self.defect?, record.life.state) {
            (Defect::CancelsOnce, State::Cancelled)
            | (Defect::CancelsNoReleased, State::Released)
                if own =>
            {
                Some(Cancelled::TooLate(record_shown()))
            }
            (Defect::CancelsTheRunning, State::InFlight) if own => {
                Some(Cancelled::Cancelled(record_shown()))
            }
            _ => None,
        }
    }

    pub(crate) async fn spoil_find(&self, id: OperationId) -> Result<Sighting, StoreError> {
        let mut sighting = self.inner.find(self.inside(id)).await?;
        sighting.record = sighting.record.map(|record| self.show(record));
        if self.is(Defect::StopsItsClockForTheAbsent) && sighting.record.is_none() {
            let mut memo = self.memo();
            sighting.now = *memo.until.entry(id).or_insert(sighting.now);
        }
        Ok(sighting)
    }

    pub(crate) async fn spoil_list(&self, listing: &Listing) -> Result<Page, StoreError> {
        let mut listing = listing.clone();
        match self.defect {
            Some(Defect::ListsAllTenants) => listing.tenant = None,
            Some(Defect::ListsWithoutLimit) => listing.limit = usize::MAX,
            Some(Defect::ListsTheSamePageAgain) => listing.after = None,
            _ => {}
        }
        let mut page = self.inner.list(&listing).await?;
        let shown = page.records.into_iter().map(|record| self.show(record));
        page.records = shown.collect();
        match self.defect {
            Some(Defect::ListsBackwards) => page.records.reverse(),
            Some(Defect::ListsOnePage) => page.more = false,
            Some(Defect::ListsNoLapsed) => page.records.retain(|record| !is_lapsed(record)),
            Some(Defect::ListsWithoutResults) => {
                for record in &mut page.records {
                    record.result = None;
                }
            }
            _ => {}
        }
        Ok(page)
    }

    pub(crate) async fn spoil_purge(&self, limit: usize) -> Result<usize, StoreError> {
        match self.defect {
            Some(Defect::PurgesNothing) => return Ok(0),
            Some(Defect::PurgesWithoutLimit) => return self.inner.purge(usize::MAX).await,
            _ => {}
        }
        let mut dropped = self.inner.purge(limit).await?;
        for id in self.known() {
            if dropped < limit
                && let Some(record) = self.stands(id).await
                && self.drops(&record)
            {
                self.forget(id);
                dropped += 1;
            }
        }
        Ok(dropped)
    }

    fn drops(&self, record: &Record) -> bool {
        let ended = record.life.state.may_be_purged();
        let kept = record.retention + RETENTION_SKEW;
        let end = record.updated + kept;
        let exp_end = record.exp.map(|exp| exp + kept);
        match self.defect {
            Some(Defect::PurgesEarly) => ended,
            Some(Defect::PurgesTheOpen) => !ended && record.attempts == 1 && self.now() >= end,
            Some(Defect::PurgesTheReclaimed) => !ended && record.attempts > 1 && self.now() >= end,
            Some(Defect::CountsFromTheEndOnly) => ended && self.now() >= end,
            Some(Defect::CountsFromExpOnly) => {
                ended && exp_end.is_some_and(|end| self.now() >= end)
            }
            _ => false,
        }
    }
}
