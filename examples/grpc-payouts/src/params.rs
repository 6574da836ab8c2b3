//! What messages mean: the params that are hashed, and that the handlers get.

use counterfoil::answer::{Answer, Status};
use serde::{Deserialize, Serialize};

use crate::pb;

/// A payout that can be meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Payout {
    /// In hundredths of the currency's unit, over 0.
    pub cents: u64,
    /// Three capitals.
    pub currency: String,
    /// Who is paid.
    pub payee_id: String,
    /// For people; not bound.
    pub note: String,
}

/// An account to settle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// Which one.
    pub account_id: String,
}

fn invalid(field: &'static str) -> Answer {
    Answer::new(Status::ParamsInvalid)
        .with_reason("invalid_value")
        .with_field(field)
}

/// Reads a payout.
///
/// # Errors
///
/// `params_invalid`, naming the field.
pub fn payout(message: pb::Payout) -> Result<Payout, Answer> {
    let cents = u64::try_from(message.cents).unwrap_or_default();
    if cents == 0 {
        return Err(invalid("/cents"));
    }
    let capitals = message
        .currency
        .bytes()
        .all(|byte| byte.is_ascii_uppercase());
    if message.currency.len() != 3 || !capitals {
        return Err(invalid("/currency"));
    }
    if message.payee_id.is_empty() {
        return Err(invalid("/payee_id"));
    }
    Ok(Payout {
        cents,
        currency: message.currency,
        payee_id: message.payee_id,
        note: message.note,
    })
}

/// Reads an account.
///
/// # Errors
///
/// `params_invalid`, naming the field.
pub fn account(message: pb::Account) -> Result<Account, Answer> {
    if message.account_id.is_empty() {
        return Err(invalid("/account_id"));
    }
    Ok(Account {
        account_id: message.account_id,
    })
}
