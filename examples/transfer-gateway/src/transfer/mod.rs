//! The action: one transfer. Its params, and what the gate binds of them.

mod amount;
mod approval;
mod confirm;
mod words;

use counterfoil::{Scope, params::ParamsPolicy};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use amount::Amount;
pub(crate) use approval::refuse_what_needs_one;
pub(crate) use confirm::{confirm, settled};
pub(crate) use words::{Currency, Name, Title};

/// The action's name, which every fingerprint is bound to.
pub(crate) const SCOPE: &str = "payments.transfer";

/// The params of a transfer, validated: whoever holds one need not look again.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Transfer {
    pub(crate) amount: Amount,
    pub(crate) currency: Currency,
    pub(crate) payee_id: Name,
    pub(crate) source_account: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) purchase_order: Option<Name>,
    /// What an agent words anew on each call. No two calls differ by it.
    #[serde(default)]
    note: Option<String>,
    #[serde(default)]
    client_ts: Option<Value>,
    #[serde(default)]
    ui: Option<Value>,
}

impl Transfer {
    /// One line for the person who is asked to agree.
    pub(crate) fn summary(&self, language: crate::language::Language) -> String {
        let Self {
            amount,
            currency,
            payee_id,
            source_account,
            ..
        } = self;
        let money = amount.as_money();
        match language {
            crate::language::Language::English => {
                format!("Transfer {money} {currency} from {source_account} to {payee_id}")
            }
            crate::language::Language::Chinese => {
                format!("从 {source_account} 向 {payee_id} 转账 {money} {currency}")
            }
        }
    }
}

/// The scope as a value.
pub(crate) const fn scope() -> Scope {
    Scope::new(SCOPE)
}

/// All params are bound but those that say nothing about the money; `1`, `1.0` and `"1.00"` are one amount.
pub(crate) fn policy(max_body: usize) -> ParamsPolicy {
    ParamsPolicy::all_but(["/note", "/client_ts", "/ui"])
        .with_decimal("/amount")
        // The layer caps the body. What it reads to is longer where a number is written out.
        .with_max_bytes(max_body.saturating_mul(8))
}

#[cfg(test)]
mod tests {
    use counterfoil::MemoryStore;
    use counterfoil::{
        engine::{Counterfoil, Gate},
        params::ParamsErrorKind,
    };

    use super::*;

    fn gate() -> Gate<Transfer> {
        Counterfoil::new(MemoryStore::new(), crate::keys::random())
            .gate::<Transfer>(scope())
            .with_params(policy(1 << 20))
            .build()
            .expect("a gate")
    }

    fn body(members: &str) -> String {
        format!(r#"{{"currency":"EUR","payee_id":"p","source_account":"a",{members}}}"#)
    }

    #[test]
    fn spellings_of_one_amount_and_unbound_members_are_one_hash() {
        let gate = gate();
        let hash = |members: &str| {
            gate.read(body(members).as_bytes())
                .expect("good params")
                .hash()
        };
        let first = hash(r#""amount":1"#);
        for same in [
            r#""amount":1.0"#,
            r#""amount":1.00"#,
            r#""amount":"1.00""#,
            r#""amount":10e-1"#,
            r#""amount":1,"note":"for lunch","client_ts":1700000000.25,"ui":{"b":[1]}"#,
            r#""amount":1,"note":null,"purchase_order":null"#,
        ] {
            assert_eq!(hash(same), first, "{same}");
        }
        for other in [r#""amount":1.01"#, r#""amount":1,"purchase_order":"po-1""#] {
            assert_ne!(hash(other), first, "{other}");
        }
    }

    #[test]
    fn a_broken_rule_names_its_field() {
        let gate = gate();
        for (members, field) in [
            (r#""amount":0"#, "/amount"),
            (r#""amount":"-1""#, "/amount"),
            (r#""amount":true"#, "/amount"),
            (r#""amount":1,"fee":2"#, "/fee"),
            (r#""amount":1,"note":7"#, "/note"),
            (r#""amount":1,"purchase_order":"""#, "/purchase_order"),
            (r#""note":"no amount""#, "/amount"),
        ] {
            let error = gate.read(body(members).as_bytes()).expect_err(members);
            assert_eq!(error.field(), Some(field), "{members}");
        }
        let error = gate
            .read(br#"{"amount":1,"currency":"eur","payee_id":"p","source_account":"a"}"#)
            .expect_err("lower case");
        assert_eq!(error.field(), Some("/currency"));
        assert_eq!(error.kind(), ParamsErrorKind::InvalidValue);
    }

    #[test]
    fn the_summary_shows_money_as_people_write_it() {
        let gate = gate();
        let params = gate
            .read(body(r#""amount":120.5"#).as_bytes())
            .expect("good params");
        let summary = params.value().summary(crate::language::Language::English);
        assert_eq!(summary, "Transfer 120.50 EUR from a to p");
    }
}
