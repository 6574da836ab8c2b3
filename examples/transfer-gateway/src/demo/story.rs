//! The seven steps.

use std::{collections::BTreeMap, io::Write, time::Duration};

use serde_json::{Value, json};
use tokio::time::sleep;

use super::{
    client::{Call, Caller, Heard},
    page::Page,
    texts::{Side, Texts},
};

/// The agent at work.
pub(super) struct Story<W> {
    pub(super) page: Page<W>,
    pub(super) texts: &'static Texts,
    /// The agent at our service, and another one there.
    pub(super) agent: Caller,
    pub(super) stranger: Caller,
    /// The agent at the bare service.
    pub(super) at_bare: Caller,
}

/// How long the agent waits in the first step, and how long the answer takes.
const PATIENCE: Duration = Duration::from_millis(250);
const SLOW: &str = "delay-after=700";
const CHAOS: &str = "X-Chaos";

/// A payment that is asked for.
pub(super) fn payment(amount: &str, payee: &str, note: &str) -> Value {
    json!({
        "amount": amount, "currency": "EUR", "payee_id": payee, "source_account": "acc-1", "note": note,
    })
}

impl<W: Write> Story<W> {
    /// All steps in their order.
    pub(super) async fn tell(&mut self) {
        self.page.intro();
        let rent = payment("120.50", "payee-7", "rent for May");
        let fingerprint = self.timeout_and_retry(&rent).await;
        self.forgotten(&rent, &fingerprint).await;
        self.reworded(&fingerprint).await;
        self.five_at_once().await;
        self.changed_amount(&fingerprint).await;
        self.stranger(&rent, &fingerprint).await;
        self.crash().await;
    }

    async fn timeout_and_retry(&mut self, rent: &Value) -> String {
        self.page.step(1);
        let texts = self.texts;
        let fingerprint = self.preview(rent).await;
        let slow = |call: Call| call.with_header(CHAOS, SLOW).with_patience(PATIENCE);
        let heard = self.agent.call(slow(confirm(rent, &fingerprint))).await;
        self.page.told(Side::Ours, texts.confirm, &heard);
        let heard = self.confirm(rent, &fingerprint, texts.again).await;
        sleep(heard.wait()).await;
        let ask = Call::get("/v1/operation").with_header(FINGERPRINT, &fingerprint);
        let heard = self.agent.call(ask).await;
        self.page.told(Side::Ours, texts.ask, &heard);

        let heard = self.at_bare.call(slow(pay(rent))).await;
        self.page.told(Side::Bare, texts.pay, &heard);
        self.pay(rent, texts.pay_again).await;
        fingerprint
    }

    async fn forgotten(&mut self, rent: &Value, fingerprint: &str) {
        self.page.step(2);
        self.confirm(rent, fingerprint, self.texts.again).await;
        self.pay(rent, self.texts.pay_again).await;
    }

    async fn reworded(&mut self, fingerprint: &str) {
        self.page.step(3);
        let reworded = payment("120.5", "payee-7", "May's rent, as discussed");
        self.confirm(&reworded, fingerprint, self.texts.again).await;
        self.pay(&reworded, self.texts.pay_again).await;
    }

    async fn five_at_once(&mut self) {
        self.page.step(4);
        let texts = self.texts;
        let dues = payment("40.00", "payee-8", "club dues");
        let fingerprint = self.preview(&dues).await;
        let call = confirm(&dues, &fingerprint).with_header(CHAOS, "delay-after=200");
        self.five(Side::Ours, &self.agent.clone(), &call, texts.five)
            .await;
        self.five(Side::Bare, &self.at_bare.clone(), &pay(&dues), texts.pay)
            .await;
    }

    /// Five at a time; equal answers are told once.
    async fn five(&mut self, side: Side, caller: &Caller, call: &Call, action: &str) {
        let calls: Vec<_> = (0..5)
            .map(|_| {
                let (caller, call) = (caller.clone(), call.clone());
                tokio::spawn(async move { caller.call(call).await })
            })
            .collect();
        let mut told: BTreeMap<String, Vec<Heard>> = BTreeMap::new();
        for call in calls {
            let heard = call.await.unwrap_or(Heard::Broken);
            let kind = match &heard {
                // At the bare service each is another payment.
                Heard::Answer { http, status, .. } => format!("{http}{status:?}"),
                other => format!("{other:?}"),
            };
            told.entry(kind).or_default().push(heard);
        }
        for heard in told.into_values() {
            self.page.told_times(side, action, heard.len(), &heard[0]);
        }
    }

    async fn changed_amount(&mut self, fingerprint: &str) {
        self.page.step(5);
        let changed = payment("1205.00", "payee-7", "rent for May");
        self.confirm(&changed, fingerprint, self.texts.confirm)
            .await;
        self.pay(&changed, self.texts.pay).await;
    }

    async fn stranger(&mut self, rent: &Value, fingerprint: &str) {
        self.page.step(6);
        let heard = self.stranger.call(confirm(rent, fingerprint)).await;
        self.page.told(Side::Ours, self.texts.confirm, &heard);
        self.pay(rent, self.texts.pay).await;
    }

    async fn crash(&mut self) {
        self.page.step(7);
        let texts = self.texts;
        let invoice = payment("75.00", "payee-9", "invoice 2041");
        let fingerprint = self.preview(&invoice).await;
        let crash = |call: Call| call.with_header(CHAOS, "panic-after");
        let heard = self
            .agent
            .call(crash(confirm(&invoice, &fingerprint)))
            .await;
        self.page.told(Side::Ours, texts.confirm, &heard);
        self.confirm(&invoice, &fingerprint, texts.again).await;

        let heard = self.at_bare.call(crash(pay(&invoice))).await;
        self.page.told(Side::Bare, texts.pay, &heard);
        self.pay(&invoice, texts.pay_again).await;
    }

    async fn preview(&mut self, params: &Value) -> String {
        let call = Call::post("/v1/transfers/preview", params.clone());
        let heard = self.agent.call(call).await;
        let fingerprint = heard.text("fingerprint").unwrap_or_default().to_owned();
        let summary = heard.text("summary").unwrap_or("?");
        let what = format!("{summary}: {}…", fingerprint.get(..24).unwrap_or_default());
        self.page.noted(Side::Ours, self.texts.preview, &what);
        fingerprint
    }

    async fn confirm(&mut self, params: &Value, fingerprint: &str, action: &str) -> Heard {
        let heard = self.agent.call(confirm(params, fingerprint)).await;
        self.page.told(Side::Ours, action, &heard);
        heard
    }

    async fn pay(&mut self, params: &Value, action: &str) {
        let heard = self.at_bare.call(pay(params)).await;
        self.page.told(Side::Bare, action, &heard);
    }
}

const FINGERPRINT: &str = "Counterfoil-Fingerprint";

fn confirm(params: &Value, fingerprint: &str) -> Call {
    Call::post("/v1/transfers/confirm", params.clone()).with_header(FINGERPRINT, fingerprint)
}

fn pay(params: &Value) -> Call {
    Call::post("/v1/transfers", params.clone())
}
