//! One line of the ledger.

use counterfoil::{Clock, Epoch, OperationId, SystemClock, engine::Attempt};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What happened, once and for whom.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Effect {
    #[serde(deserialize_with = "operation_id")]
    pub(crate) operation_id: OperationId,
    #[serde(serialize_with = "as_number", deserialize_with = "epoch")]
    pub(crate) epoch: Epoch,
    pub(crate) tenant: String,
    pub(crate) principal: String,
    #[serde(flatten)]
    pub(crate) deed: Deed,
    /// When, in milliseconds since 1970.
    pub(crate) at_ms: u64,
}

/// What an action does.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Deed {
    /// Money moved.
    Transfer(Moved),
    /// A ticket is another one than before.
    Ticket(Filed),
}

/// Money that moved.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Moved {
    pub(crate) transfer_id: String,
    pub(crate) amount: String,
    pub(crate) currency: String,
    pub(crate) payee_id: String,
    pub(crate) source_account: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) purchase_order: Option<String>,
}

/// A ticket as it is from then on; without a content once it is deleted.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Filed {
    pub(crate) ticket_id: String,
    pub(crate) action: Action,
    #[serde(flatten)]
    pub(crate) content: Option<Content>,
}

/// What happened to a ticket.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Action {
    Created,
    Updated,
    Deleted,
}

/// What stands on a ticket.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Content {
    pub(crate) project: String,
    pub(crate) title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) priority: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) source_event_id: Option<String>,
}

impl Effect {
    /// What an attempt does, now.
    pub(crate) fn of(attempt: &Attempt, deed: Deed) -> Self {
        Self {
            operation_id: attempt.operation_id(),
            epoch: attempt.epoch(),
            tenant: attempt.subject().tenant().to_owned(),
            principal: attempt.subject().principal().to_owned(),
            deed,
            at_ms: SystemClock.now().unix_ms(),
        }
    }

    /// The money that moved, if that is what happened.
    pub(crate) const fn moved(&self) -> Option<&Moved> {
        match &self.deed {
            Deed::Transfer(moved) => Some(moved),
            Deed::Ticket(_) => None,
        }
    }

    /// The ticket, if that is what it is about.
    pub(crate) const fn filed(&self) -> Option<&Filed> {
        match &self.deed {
            Deed::Ticket(filed) => Some(filed),
            Deed::Transfer(_) => None,
        }
    }
}

fn operation_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<OperationId, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map_err(serde::de::Error::custom)
}

fn epoch<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Epoch, D::Error> {
    u64::deserialize(deserializer).map(Epoch::from_u64)
}

fn as_number<S: Serializer>(epoch: &Epoch, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(epoch.as_u64())
}

/// An effect of a numbered operation.
#[cfg(test)]
pub(super) fn example(tenant: &str, number: u8, epoch: u64) -> Effect {
    let operation_id = OperationId::from_bytes([number; 16]);
    Effect {
        operation_id,
        epoch: Epoch::from_u64(epoch),
        tenant: tenant.to_owned(),
        principal: "agent-7".to_owned(),
        deed: Deed::Transfer(Moved {
            transfer_id: format!("tr_{}", operation_id.simple()),
            amount: "120.5".to_owned(),
            currency: "EUR".to_owned(),
            payee_id: "payee-7".to_owned(),
            source_account: "acc-1".to_owned(),
            purchase_order: None,
        }),
        at_ms: 1_800_000_000_000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_deed_is_read_back_from_its_line() {
        let content = Content {
            project: "p".to_owned(),
            title: "t".to_owned(),
            priority: None,
            source_event_id: Some("e-1".to_owned()),
        };
        let filed = |action, content| {
            let ticket_id = "tk_1".to_owned();
            Deed::Ticket(Filed {
                ticket_id,
                action,
                content,
            })
        };
        for deed in [
            example("acme", 1, 1).deed,
            filed(Action::Created, Some(content)),
            filed(Action::Deleted, None),
        ] {
            let effect = Effect {
                deed,
                ..example("acme", 1, 1)
            };
            let line = serde_json::to_string(&effect).expect("a line");
            assert_eq!(serde_json::from_str::<Effect>(&line).expect(&line), effect);
        }
    }
}
