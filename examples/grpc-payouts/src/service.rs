//! The methods.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use counterfoil::{
    Scope, Subject,
    engine::{Attempt, ConfigError, Counterfoil, Disposition, LeaseTime},
    params::ParamsPolicy,
    tower::grpc::{GrpcGate, GrpcLayer},
};
use tokio_stream::Iter;
use tonic::{Request, Response, Status};

use crate::{
    params::{Account, Payout, account, payout},
    pb::{self, payouts_server},
};

/// The service, over a ledger in memory.
#[derive(Clone, Debug)]
pub struct Payouts {
    pay: GrpcGate<pb::Payout, Payout>,
    settle: GrpcGate<pb::Account, Account>,
    ledger: Ledger,
}

/// What the service stands on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings {
    /// How long the ledger takes to reply, after the effect.
    pub ledger_takes: Duration,
    /// Whether the store may lose a write, and whoever runs this accepts it.
    pub accepts_lost_writes: bool,
}

/// Every effect, one line each, with the tenant that it belongs to.
#[derive(Clone, Debug)]
struct Ledger {
    lines: Arc<Mutex<Vec<(String, String)>>>,
    takes: Duration,
}

impl Ledger {
    /// The effect, and the time until it is confirmed. `key` is what a real ledger would deduplicate on.
    async fn write(&self, tenant: &str, key: &str, what: &str) {
        let line = (tenant.to_owned(), format!("{key} {what}"));
        let lines = self.lines.lock();
        lines.unwrap_or_else(PoisonError::into_inner).push(line);
        tokio::time::sleep(self.takes).await;
    }

    fn of(&self, tenant: &str) -> Vec<String> {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let own = lines.iter().filter(|(whose, _)| whose == tenant);
        own.map(|(_, line)| line.clone()).collect()
    }
}

impl Payouts {
    /// The service, with a gate for each of its writes.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] if the process has gates for these scopes already, or the store may lose writes and nobody accepts it.
    pub fn new(counterfoil: &Counterfoil, settings: Settings) -> Result<Self, ConfigError> {
        let Settings {
            ledger_takes,
            accepts_lost_writes,
        } = settings;
        // The ledger's worst case, and a second for everything else.
        let time = LeaseTime::for_downstream(ledger_takes, Duration::from_secs(1), Duration::ZERO);
        let mut pay = counterfoil
            .gate(Scope::new("payouts.pay"))
            .with_params(ParamsPolicy::all_but(["/note"]))
            .with_lease_time(time);
        let mut settle = counterfoil
            .gate(Scope::new("accounts.settle"))
            .with_lease_time(time);
        if accepts_lost_writes {
            (pay, settle) = (pay.repeatable(), settle.repeatable());
        }
        Ok(Self {
            pay: GrpcGate::new(pay.build()?, payout),
            settle: GrpcGate::by_key(settle.build()?, account),
            ledger: Ledger {
                lines: Arc::default(),
                takes: ledger_takes,
            },
        })
    }

    /// The layer that guards the methods which don't guard themselves.
    #[must_use]
    pub fn layer(&self) -> GrpcLayer {
        GrpcLayer::new().with_method("/payouts.v1.Payouts/Settle", self.settle.clone())
    }
}

#[tonic::async_trait]
impl payouts_server::Payouts for Payouts {
    async fn preview(&self, request: Request<pb::Payout>) -> Result<Response<pb::Preview>, Status> {
        let summary = summary(request.get_ref());
        let preview = self.pay.preview(request).await?;
        Ok(Response::new(pb::Preview {
            fingerprint: preview.fingerprint.as_str().to_owned(),
            operation_id: preview.operation_id.to_string(),
            summary,
            expires_at: i64::try_from(preview.expires_at.unix_secs()).unwrap_or(i64::MAX),
        }))
    }

    async fn confirm(&self, request: Request<pb::Payout>) -> Result<Response<pb::Receipt>, Status> {
        let ledger = self.ledger.clone();
        self.pay
            .confirm(request, |attempt, payout| pay(ledger, attempt, payout))
            .await
    }

    type SettleStream = Iter<std::vec::IntoIter<Result<pb::Step, Status>>>;

    /// The layer has read the call. What it found is in the extensions.
    async fn settle(
        &self,
        request: Request<pb::Account>,
    ) -> Result<Response<Self::SettleStream>, Status> {
        let attempt = request.extensions().get::<Attempt>();
        let attempt = attempt.ok_or_else(|| Status::internal("Settle is not in the layer"))?;
        let account = attempt.params::<Account>();
        let account = account.ok_or_else(|| Status::internal("the gate of Settle is another's"))?;
        let key = begin(attempt)?;
        let tenant = attempt.subject().tenant();
        self.ledger
            .write(tenant, &key, &format!("settles {}", account.account_id))
            .await;
        let texts = ["balance taken", "interest booked", "account settled"];
        let steps: Vec<_> = (1..)
            .zip(texts)
            .map(|(number, text)| {
                Ok(pb::Step {
                    number,
                    text: text.to_owned(),
                })
            })
            .collect();
        Ok(Response::new(tokio_stream::iter(steps)))
    }

    async fn ledger(
        &self,
        request: Request<pb::LedgerRequest>,
    ) -> Result<Response<pb::Effects>, Status> {
        let subject = request.extensions().get::<Subject>();
        let subject = subject.ok_or_else(|| Status::unauthenticated("bring a token"))?;
        let lines = self.ledger.of(subject.tenant());
        Ok(Response::new(pb::Effects { lines }))
    }
}

async fn pay(
    ledger: Ledger,
    attempt: Attempt,
    payout: Arc<Payout>,
) -> Result<Response<pb::Receipt>, Status> {
    let key = begin(&attempt)?;
    let amount = amount(payout.cents, &payout.currency);
    let tenant = attempt.subject().tenant();
    let what = format!("pays {amount} to {}", payout.payee_id);
    ledger.write(tenant, &key, &what).await;
    Ok(Response::new(pb::Receipt {
        payout_id: key,
        amount,
    }))
}

/// The key that goes downstream with the effect.
fn begin(attempt: &Attempt) -> Result<String, Status> {
    attempt
        .downstream_key()
        .map(|key| key.to_string())
        .map_err(|lost| {
            // The handler's word: a status alone can't say that nothing happened.
            attempt.declare(Disposition::NotExecuted);
            Status::unavailable(lost.to_string())
        })
}

/// What a person is shown. The note is the caller's own words, and has no place in it.
fn summary(message: &pb::Payout) -> String {
    let cents = u64::try_from(message.cents).unwrap_or_default();
    format!(
        "Pay {} to {}",
        amount(cents, &message.currency),
        message.payee_id
    )
}

fn amount(cents: u64, currency: &str) -> String {
    format!("{}.{:02} {currency}", cents / 100, cents % 100)
}
