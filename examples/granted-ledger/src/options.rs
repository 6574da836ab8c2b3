//! The command line, and the keys from the environment.

use std::{ffi::OsString, net::SocketAddr, path::PathBuf};

use counterfoil::{
    KeyId,
    grant::{GrantKey, GrantKeys},
};
use lexopt::Arg;

/// Where the grant keys are looked for: a command line is seen by everybody on the machine.
pub(crate) const KEYS: &str = "COUNTERFOIL_GRANT_KEYS";

/// What is asked of the program.
#[derive(Debug)]
pub(crate) enum Command {
    Serve(Box<Options>),
    Help,
}

/// How the ledger is to run.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) listen: SocketAddr,
    pub(crate) file: Option<PathBuf>,
    pub(crate) keys: GrantKeys,
}

/// A command line or a key that can't be followed, in a sentence.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Misuse(String);

pub(crate) fn help() -> String {
    format!(
        "\
A ledger that takes no write but with a grant of the gate.

Usage: {KEYS}=KID=HEX granted-ledger [OPTIONS]

Options:
  --listen ADDR    where it listens; port 0 takes a free one [127.0.0.1:8090]
  --file PATH      appends entries to this file, one JSON line each [in memory]
  -h, --help       this text

Environment:
  {KEYS}=KID=HEX[,KID=HEX…]
                   the grant keys, of 32 to 64 bytes, which the gateway has too; not those of its fingerprints
"
    )
}

/// Reads the arguments that follow the program's name, and the keys.
pub(crate) fn parse(
    args: impl IntoIterator<Item = OsString>,
    keys: Option<&str>,
) -> Result<Command, Misuse> {
    let mut parser = lexopt::Parser::from_args(args);
    let (mut listen, mut file) = (SocketAddr::from(([127, 0, 0, 1], 8090)), None);
    let said = |error: lexopt::Error| Misuse(error.to_string());
    while let Some(arg) = parser.next().map_err(said)? {
        match arg {
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Help),
            Arg::Long("listen") => {
                let text = parser.value().map_err(said)?;
                let address = text.to_str().and_then(|text| text.parse().ok());
                listen = address.ok_or_else(|| {
                    Misuse(format!(
                        "--listen {text:?} is not an address such as 127.0.0.1:8090"
                    ))
                })?;
            }
            Arg::Long("file") => file = Some(parser.value().map_err(said)?.into()),
            other => return Err(said(other.unexpected())),
        }
    }
    let keys = keys.ok_or_else(|| Misuse(format!("{KEYS} is not set; see --help")))?;
    Ok(Command::Serve(Box::new(Options {
        listen,
        file,
        keys: parse_keys(keys)?,
    })))
}

/// `KID=HEX[,KID=HEX…]`. A bad one is named by its place: what stands there may be the secret.
fn parse_keys(text: &str) -> Result<GrantKeys, Misuse> {
    let mut keys: Option<GrantKeys> = None;
    for (index, part) in text.split(',').enumerate() {
        let place = |problem: String| Misuse(format!("{KEYS}: key {}: {problem}", index + 1));
        let (id, hex) = part
            .split_once('=')
            .ok_or_else(|| place("write it as KID=HEX".to_owned()))?;
        let id = KeyId::parse(id).map_err(|_| {
            place("its id is not 1 to 16 of the characters A-Z a-z 0-9 _ -".to_owned())
        })?;
        let key = GrantKey::from_hex(id, hex).map_err(|error| place(error.to_string()))?;
        keys = Some(match keys {
            None => GrantKeys::new(key),
            Some(keys) => keys
                .with_verifying(key)
                .map_err(|error| place(error.to_string()))?,
        });
    }
    keys.ok_or_else(|| Misuse(format!("{KEYS}: there is no key")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7b7";

    fn parsed(line: &str, keys: Option<&str>) -> Result<Command, String> {
        parse(line.split_whitespace().map(OsString::from), keys)
            .map_err(|misuse| misuse.to_string())
    }

    #[test]
    fn what_is_wrong_is_named_and_no_key_is_shown() {
        let good = format!("g1={SECRET}");
        for (line, keys, words) in [
            ("", None, "COUNTERFOIL_GRANT_KEYS is not set"),
            (
                "--listen here",
                Some(good.as_str()),
                "--listen \"here\" is not an address",
            ),
            ("--port 1", Some(&good), "invalid option '--port'"),
            (
                "",
                Some(SECRET),
                "COUNTERFOIL_GRANT_KEYS: key 1: write it as KID=HEX",
            ),
            (
                "",
                Some(&format!("{good},{good}")),
                "COUNTERFOIL_GRANT_KEYS: key 2: the ring has a key g1 already",
            ),
            (
                "",
                Some(&good[..60]),
                "COUNTERFOIL_GRANT_KEYS: key 1: a key in hex",
            ),
        ] {
            let refused = parsed(line, keys).expect_err(line);
            assert!(refused.starts_with(words), "{refused}");
            assert!(!refused.contains("b7b7"), "{refused}");
        }
        assert!(matches!(
            parsed("--file l.jsonl", Some(&good)),
            Ok(Command::Serve(_))
        ));
        assert!(matches!(parsed("--help", None), Ok(Command::Help)));
    }
}
