//! What the program says of itself: its help, and the lines at its start.

use std::net::SocketAddr;

use crate::{
    keys,
    store::{self, Place},
};

/// The lines on stdout once it is ready: the first is read by programs, the rest by people.
pub(crate) fn ready(address: SocketAddr, store: &Place) -> String {
    let kept = store.described();
    let url = format!("http://{address}");
    let caller = "-H 'Authorization: Bearer acme/agent-7'";
    let json = "-H 'Content-Type: application/json'";
    let params =
        r#"{"amount":"120.50","currency":"EUR","payee_id":"payee-7","source_account":"acc-1"}"#;
    format!(
        r#"listening on {url}

Three commands to try, in one shell (repeat the second one as often as you like):

  P=$(curl -s {url}/v1/transfers/preview {caller} {json} -d '{params}'); echo "$P"; F=$(echo "$P" | sed 's/.*"fingerprint":"\([^"]*\)".*/\1/')

  curl -si -w '\n' {url}/v1/transfers/confirm {caller} {json} -H "Counterfoil-Fingerprint: $F" -d '{params}'

  curl -s -w '\n' {url}/v1/operation {caller} -H "Counterfoil-Fingerprint: $F"

Callers are `Authorization: Bearer TENANT/PRINCIPAL`: a stand-in that believes anybody, for trying out only.
Operations are kept {kept}. Ctrl-C ends it.
"#
    )
}

/// `--help`.
pub(crate) fn help() -> String {
    format!(
        "\
A payment API for agents in which every transfer happens once.

Usage: transfer-gateway [OPTIONS]
       transfer-gateway demo [--lang en|zh]

`demo` tells what an unreliable agent does to this API and to a bare one, and ends.

Options:
  --listen ADDR             where it listens, for HTTP/1.1 and HTTP/2; port 0 takes a free one [127.0.0.1:8080]
  --store URL               where operations are kept: memory: (of one process, and gone with it), postgres://…,
                            redis://…, redis-cluster://…, redis-sentinel://… (rediss… for TLS), or both as
                            tiered:postgres://…,redis://…; a Postgres URL with the parameter pgbouncer=true leads to a
                            pooler in transaction mode; else ${store}, where a password is safe from other
                            users of the machine [memory:]
  --accept-lost-writes      needed for Redis alone, which may lose a claim that it acknowledged
  --ledger PATH             appends effects to this file, one JSON line each [in memory]
  --ledger-url URL          sends transfers to the ledger there, which takes no write without a grant: see
                            examples/granted-ledger; the grant keys, KID=HEX[,…], are in ${grants}
  --keys KID=HEX[,…]        signing keys of 32 to 64 bytes, the first signs; else ${variable},
                            which other users of the machine can't see; else a random one
  --fingerprint-ttl TIME    how long a fingerprint lives [15m]
  --quote-ttl TIME          how long a previewed price holds; no fingerprint outlives it [15m]
  --lease TIME              how long a record waits for a sign of life of its handler [30s]
  --max-run TIME            how long a handler is kept alive [60s]
  --no-renew                leases are not renewed while a handler runs
  --wait TIME               how long a duplicate in flight waits for the result [0s]
  --retention TIME          how long records are kept [7d]
  --max-body BYTES          longest request body, and longest response kept for a replay [1048576]
  --lang en|zh              language of answers [en]
  --chaos                   the header X-Chaos makes calls misbehave; loopback only
  -h, --help                this text
  -V, --version             the version

Options of later versions: --approval-ttl and --audit are refused, and --ledger-mode, --recovery and --repeat-window
take only what holds today: fenced, manual and 0s.
",
        variable = keys::VARIABLE,
        grants = keys::GRANTS,
        store = store::VARIABLE
    )
}
