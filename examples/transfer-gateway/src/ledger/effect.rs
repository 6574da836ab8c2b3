//! One line of the ledger.

use counterfoil::{Clock, Epoch, OperationId, SystemClock, engine::Attempt};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::transfer::Transfer;

/// Money that moved.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Effect {
    #[serde(deserialize_with = "operation_id")]
    pub(crate) operation_id: OperationId,
    #[serde(serialize_with = "as_number", deserialize_with = "epoch")]
    pub(crate) epoch: Epoch,
    pub(crate) tenant: String,
    pub(crate) principal: String,
    pub(crate) transfer_id: String,
    pub(crate) amount: String,
    pub(crate) currency: String,
    pub(crate) payee_id: String,
    pub(crate) source_account: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) purchase_order: Option<String>,
    /// When, in milliseconds since 1970.
    pub(crate) at_ms: u64,
}

impl Effect {
    /// What an attempt does, now.
    pub(crate) fn of(attempt: &Attempt, transfer: &Transfer) -> Self {
        Self {
            operation_id: attempt.operation_id(),
            epoch: attempt.epoch(),
            tenant: attempt.subject().tenant().to_owned(),
            principal: attempt.subject().principal().to_owned(),
            transfer_id: transfer_id(attempt.operation_id()),
            amount: transfer.amount.to_string(),
            currency: transfer.currency.to_string(),
            payee_id: transfer.payee_id.to_string(),
            source_account: transfer.source_account.to_string(),
            purchase_order: transfer.purchase_order.as_ref().map(ToString::to_string),
            at_ms: SystemClock.now().unix_ms(),
        }
    }
}

/// The transfer's number: the same for every attempt of an operation.
pub(crate) fn transfer_id(operation: OperationId) -> String {
    format!("tr_{}", operation.simple())
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
        transfer_id: transfer_id(operation_id),
        amount: "120.5".to_owned(),
        currency: "EUR".to_owned(),
        payee_id: "payee-7".to_owned(),
        source_account: "acc-1".to_owned(),
        purchase_order: None,
        at_ms: 1_800_000_000_000,
    }
}
