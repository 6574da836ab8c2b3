//! Defects of acquire and renew.

use std::time::Duration;

use counterfoil_core::{
    Subject, Timestamp,
    lifecycle::{Claim, Seen, State},
    store::{Acquire, Acquired, Claimed, Lease, Record, Renewed, Store, StoreError},
};

use crate::{
    broken::{Broken, is_lapsed},
    defects::Defect,
};

const TICK: Duration = Duration::from_millis(1);

impl Broken {
    pub(crate) async fn spoil_acquire(&self, request: &Acquire) -> Result<Acquired, StoreError> {
        let stands = self.stands(request.id).await;
        let mut wish = request.clone();
        if let Some(record) = &stands {
            self.spoil_identity(&mut wish, record);
            if let Some(answer) = self.instead_of_acquire(&wish, record) {
                return Ok(self.show_acquired(&wish, answer));
            }
            self.spoil_claim(&mut wish.claim, record);
            if self.frees(&wish, record) {
                self.forget(request.id);
            }
        } else {
            self.spoil_first_claim(&mut wish);
            if self.is(Defect::ChecksThenActs) {
                tokio::task::yield_now().await;
                if self.stands(request.id).await.is_some() {
                    self.forget(request.id);
                }
            }
        }
        wish.id = self.inside(request.id);
        let answer = self.inner.acquire(&wish).await?;
        if wish.claim.takeover_within.is_some() {
            self.meet(request.id);
        }
        Ok(self.show_acquired(request, answer))
    }

    fn spoil_identity(&self, wish: &mut Acquire, record: &Record) {
        let (theirs, ours) = (&record.identity, &mut wish.identity);
        let subject = |tenant: &Subject, principal: &Subject| {
            Subject::new(tenant.tenant(), principal.principal()).expect("parts of valid subjects")
        };
        match self.defect {
            Some(Defect::IgnoresHash) => ours.hash = theirs.hash,
            Some(Defect::IgnoresHashOfTheEnded) if record.life.state.is_terminal() => {
                ours.hash = theirs.hash;
            }
            Some(Defect::IgnoresTenant) => ours.subject = subject(&theirs.subject, &ours.subject),
            Some(Defect::IgnoresPrincipal) => {
                ours.subject = subject(&ours.subject, &theirs.subject);
            }
            Some(Defect::IgnoresScope) => ours.scope = theirs.scope.clone(),
            _ => {}
        }
    }

    fn instead_of_acquire(&self, wish: &Acquire, record: &Record) -> Option<Acquired> {
        let defect = self.defect?;
        let life = &record.life;
        let own = life.owner == Some(wish.claim.owner);
        let over = wish.claim.exp.is_some_and(|exp| self.now() >= exp);
        if defect == Defect::TellsStrangersOfTheHash && record.identity.hash != wish.identity.hash {
            return Some(Acquired::ParamsChanged(Box::new(record.clone())));
        }
        if record.check(&wish.identity).is_err() {
            return None;
        }
        let takes_over = wish.claim.takeover_within.is_some() && !own;
        let running = matches!(life.state, State::InFlight | State::Accepted);
        let held = life.state == State::Unknown && life.deadline.is_some();
        let claims = match defect {
            Defect::GivesTheReleasedOwnerATurn => life.state == State::Released && own,
            Defect::TakesOverTheRunning => takes_over && running,
            Defect::TakesOverTheHeld => takes_over && held,
            _ => false,
        };
        if claims {
            let lease = Lease {
                id: wish.id,
                owner: wish.claim.owner,
                epoch: life.epoch.next(),
            };
            return Some(Acquired::Claimed(Claimed::new(lease, record.attempts + 1)));
        }
        let expires = match defect {
            Defect::RefusesRetriesAfterExp => over && life.state.is_terminal(),
            Defect::EndsTakeoversAtExp => over && takes_over && life.state == State::Unknown,
            _ => false,
        };
        if expires {
            return Some(Acquired::Expired {
                record: Some(Box::new(record.clone())),
                now: self.now(),
            });
        }
        match defect {
            Defect::RefusesTheSameOwner if life.state == State::InFlight && own => {
                Some(Acquired::Found(Box::new(record.clone())))
            }
            Defect::ShowsNothingOfTheRunning if life.state == State::InFlight && !own => {
                Some(Acquired::Gone)
            }
            _ => None,
        }
    }

    fn spoil_claim(&self, claim: &mut Claim, record: &Record) {
        let state = record.life.state;
        let read = Some(Seen {
            state,
            epoch: record.life.epoch,
        });
        let takes_over = claim.takeover_within.is_some();
        match self.defect {
            Some(Defect::ClaimsTheLapsed) if is_lapsed(record) && !takes_over => {
                claim.takeover_within = Some(Duration::MAX);
                claim.seen = read;
            }
            Some(Defect::KeepsTheLeaseOfTheFirstCall) if state == State::InFlight => {
                claim.lease = Duration::ZERO;
            }
            Some(Defect::IgnoresExpOfTheReleased) if state == State::Released => claim.exp = None,
            Some(Defect::NeedsNoApproval) => claim.needs_approval = false,
            Some(Defect::ClaimsTheReleasedUnnamed)
                if state == State::Released && claim.seen.is_none() =>
            {
                claim.seen = read;
            }
            Some(Defect::ClaimsTheReleasedWhateverIsNamed)
                if state == State::Released && claim.seen.is_some() =>
            {
                claim.seen = read;
            }
            Some(Defect::NeverTakesOver) => claim.takeover_within = None,
            Some(Defect::TakesOverForEver) if takes_over => {
                claim.takeover_within = Some(Duration::MAX);
            }
            Some(Defect::TakesOverUnnamed) if takes_over && state == State::Unknown => {
                claim.seen = read;
            }
            _ => {}
        }
    }

    /// Whether the record is dropped so that the claim begins anew.
    fn frees(&self, wish: &Acquire, record: &Record) -> bool {
        let own = record.check(&wish.identity).is_ok();
        match self.defect {
            Some(Defect::FreesTheLapsed) => {
                own && is_lapsed(record) && wish.claim.takeover_within.is_none()
            }
            Some(Defect::IgnoresTombstones) => own && record.life.state == State::Cancelled,
            Some(Defect::BeginsTheReleasedAnew) => {
                own && record.life.state == State::Released && wish.claim.seen.is_none()
            }
            _ => false,
        }
    }

    fn spoil_first_claim(&self, wish: &mut Acquire) {
        let Some(exp) = wish.claim.exp else {
            return;
        };
        let (now, never, long_ago) = (self.now(), None, Some(Timestamp::from_unix_ms(0)));
        match self.defect {
            Some(Defect::NeedsNoApproval) => wish.claim.needs_approval = false,
            Some(Defect::ClaimsWhatIsGone) => wish.claim.seen = None,
            Some(Defect::EndsClaimsEarly) if now + TICK >= exp => wish.claim.exp = long_ago,
            Some(Defect::EndsClaimsLate) if now >= exp && now < exp + TICK => {
                wish.claim.exp = never;
            }
            Some(Defect::IgnoresExp) if now >= exp => wish.claim.exp = never,
            Some(Defect::BelievesTheCallersClock) => {
                if wish.id.minted_at() >= Some(exp) {
                    wish.claim.exp = long_ago;
                } else if now >= exp {
                    wish.claim.exp = never;
                }
            }
            _ => {}
        }
    }

    fn show_acquired(&self, request: &Acquire, answer: Acquired) -> Acquired {
        match answer {
            Acquired::Claimed(mut claimed) => {
                claimed.lease.id = request.id;
                if self.is(Defect::CountsNoAttempts) {
                    claimed.attempt = 0;
                }
                Acquired::Claimed(claimed)
            }
            Acquired::Found(record) => {
                let mut record = self.show_box(record);
                match self.defect {
                    Some(Defect::KeepsResultsFromRetries) => record.result = None,
                    Some(Defect::TellsRetriesThatTheLapsedRuns) if is_lapsed(&record) => {
                        record.life.state = State::InFlight;
                    }
                    _ => {}
                }
                Acquired::Found(record)
            }
            Acquired::ParamsChanged(record) => Acquired::ParamsChanged(self.show_box(record)),
            Acquired::Expired { record, now } => Acquired::Expired {
                record: record.map(|record| self.show_box(record)),
                now,
            },
            other => other,
        }
    }

    pub(crate) async fn spoil_renew(
        &self,
        held: &Lease,
        lease: Duration,
    ) -> Result<Renewed, StoreError> {
        let mut held = *held;
        match self.stands(held.id).await {
            None if self.is(Defect::HangsOnTheAbsent) => std::future::pending().await,
            None => {}
            Some(record) => {
                if let Some(answer) = self.instead_of_renew(&held, lease, &record) {
                    return Ok(answer);
                }
                if self.is(Defect::RenewsForAnybody)
                    && let Some(owner) = record.life.owner
                {
                    held.owner = owner;
                    held.epoch = record.life.epoch;
                }
            }
        }
        held.id = self.inside(held.id);
        self.inner.renew(&held, lease).await
    }

    fn instead_of_renew(&self, held: &Lease, lease: Duration, record: &Record) -> Option<Renewed> {
        let life = &record.life;
        if !life.is_held_by(held.owner, held.epoch) {
            return None;
        }
        match (self.defect?, life.state) {
            (Defect::RenewsNothing, State::InFlight)
            | (Defect::RevivesTheLapsed, State::Unknown) => Some(Renewed::Renewed),
            (Defect::RenewsOnce, State::InFlight) if !self.meet(held.id) => Some(Renewed::NotOwner),
            (Defect::ShortensLeases, State::InFlight) => {
                let until = self.now() + lease;
                self.memo().until.insert(held.id, until);
                None
            }
            (Defect::RenewsTheEnded, state) if state.may_be_purged() => Some(Renewed::Renewed),
            _ => None,
        }
    }
}
