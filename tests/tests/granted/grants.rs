//! Grants by the text of `docs/spec/grant.md`, for tests that have one which no gateway would mint.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use tests::Call;

/// What is granted.
#[derive(Clone)]
pub(crate) struct Grant {
    pub(crate) secret: [u8; 32],
    pub(crate) operation_id: String,
    pub(crate) epoch: u64,
    /// From now, in seconds.
    pub(crate) life: i64,
    pub(crate) audience: &'static str,
    pub(crate) method: &'static str,
    pub(crate) target: &'static str,
    pub(crate) body: String,
}

impl Grant {
    /// A good one for a write to the ledger, by the key of both processes.
    pub(crate) fn for_write(operation_id: &str, body: &str) -> Self {
        Self {
            secret: [0x22; 32],
            operation_id: operation_id.to_owned(),
            epoch: 1,
            life: 30,
            audience: "granted-ledger",
            method: "POST",
            target: "/entries",
            body: body.to_owned(),
        }
    }

    pub(crate) fn text(&self) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = i64::try_from(now.expect("it is later").as_secs()).expect("not that late");
        let mut line = part(b"counterfoil/grant-request/v1");
        line.extend(part(self.method.as_bytes()));
        line.extend(part(self.target.as_bytes()));
        let payload = format!(
            r#"{{"n":"{}","e":{},"exp":{},"a":"{}","r":"{}","b":"{}"}}"#,
            self.operation_id.replace('-', ""),
            self.epoch,
            now + self.life,
            self.audience,
            BASE64.encode(Sha256::digest(&line)),
            BASE64.encode(Sha256::digest(&self.body)),
        );
        let signed = format!("gr1.g1.{}", BASE64.encode(payload));
        let extracted = hmac(&[0; 32], &self.secret);
        let subkey = hmac(&extracted, b"counterfoil/v1/grant\x01");
        let tag = BASE64.encode(hmac(&subkey, signed.as_bytes()));
        format!("{signed}.{tag}")
    }

    /// The usual write with it, whatever it is for.
    pub(crate) fn call(&self, body: &str) -> Call {
        Call::post("/entries", body.to_owned()).header("counterfoil-grant", self.text())
    }
}

fn part(bytes: &[u8]) -> Vec<u8> {
    let mut part = (bytes.len() as u64).to_be_bytes().to_vec();
    part.extend(bytes);
    part
}

fn hmac(key: &[u8], text: &[u8]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key of any length");
    mac.update(text);
    mac.finalize().into_bytes().into()
}
