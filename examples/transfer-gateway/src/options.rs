//! The command line.
//!
//! An option of a later version is refused by name: one that is taken and does nothing would promise what nobody keeps.

use std::{ffi::OsString, fmt, net::SocketAddr, path::PathBuf, str::FromStr, time::Duration};

use counterfoil::engine::ConfigError;
use http::uri::Authority;
use lexopt::Arg;

use crate::{
    language::Language,
    store::{Place, VARIABLE as STORE},
};

/// What is asked of the program.
#[derive(Debug)]
pub(crate) enum Command {
    Serve(Box<Options>),
    Demo(Language),
    Help,
    Version,
}

/// How the gateway is to run.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) listen: SocketAddr,
    pub(crate) store: Place,
    /// Whether a store may be used that can lose an acknowledged claim.
    pub(crate) accept_lost_writes: bool,
    pub(crate) ledger: Option<PathBuf>,
    /// Where the ledger of transfers listens, if it is another process.
    pub(crate) ledger_at: Option<Authority>,
    pub(crate) keys: Option<KeysText>,
    pub(crate) times: Times,
    pub(crate) max_body: usize,
    pub(crate) language: Language,
    pub(crate) chaos: bool,
}

/// How long things live and take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) fingerprint_ttl: Duration,
    pub(crate) quote_ttl: Duration,
    pub(crate) lease: Duration,
    pub(crate) max_run: Duration,
    pub(crate) retention: Duration,
    pub(crate) renewed: bool,
    /// How long a duplicate waits for the run in flight.
    pub(crate) wait: Duration,
}

/// What was given for the keys. `Debug` shows nothing of it.
pub(crate) struct KeysText(pub(crate) String);

/// A command line that can't be followed, in a sentence.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Misuse(String);

impl Default for Options {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            store: Place::Memory,
            accept_lost_writes: false,
            ledger: None,
            ledger_at: None,
            keys: None,
            times: Times::default(),
            max_body: 1 << 20,
            language: Language::English,
            chaos: false,
        }
    }
}

impl Default for Times {
    fn default() -> Self {
        let minutes = |n: u64| Duration::from_secs(n * 60);
        Self {
            fingerprint_ttl: minutes(15),
            quote_ttl: minutes(15),
            lease: Duration::from_secs(30),
            max_run: minutes(1),
            retention: minutes(7 * 24 * 60),
            renewed: true,
            wait: Duration::ZERO,
        }
    }
}

impl fmt::Debug for KeysText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeysText")
    }
}

/// Reads the arguments that follow the program's name. The store may stand in the environment instead, whose variable for
/// it is `store`.
pub(crate) fn parse(
    args: impl IntoIterator<Item = OsString>,
    store: Option<OsString>,
) -> Result<Command, Misuse> {
    let mut parser = lexopt::Parser::from_args(args);
    let mut options = Options::default();
    let mut names_store = false;
    let mut demo = false;
    // The first option that the demo doesn't know.
    let mut beyond_demo = None;
    while let Some(arg) = parser.next()? {
        let name = match arg {
            Arg::Short('h') => return Ok(Command::Help),
            Arg::Short('V') => return Ok(Command::Version),
            Arg::Short(other) => return Err(misuse(format!("there is no option -{other}"))),
            Arg::Value(word) if word == "demo" && !demo => {
                demo = true;
                continue;
            }
            Arg::Value(word) => return Err(stray(&word.to_string_lossy())),
            Arg::Long(name) => name.to_owned(),
        };
        match name.as_str() {
            "help" => return Ok(Command::Help),
            "version" => return Ok(Command::Version),
            "lang" => {}
            "store" => {
                names_store = true;
                beyond_demo = beyond_demo.or_else(|| Some(name.clone()));
            }
            _ => beyond_demo = beyond_demo.or_else(|| Some(name.clone())),
        }
        take(&mut options, &name, &mut parser)?;
    }
    if demo {
        return match beyond_demo {
            Some(name) => Err(misuse(format!("demo takes no --{name}, only --lang"))),
            None => Ok(Command::Demo(options.language)),
        };
    }
    if let Some(store) = store.filter(|_| !names_store) {
        options.store = from_environment(store)?;
    }
    check(&options)?;
    Ok(Command::Serve(Box::new(options)))
}

fn from_environment(store: OsString) -> Result<Place, Misuse> {
    let store = store
        .into_string()
        .map_err(|_| misuse(format!("{STORE} is not UTF-8")))?;
    Place::parse(STORE, &store).map_err(misuse)
}

fn take(options: &mut Options, name: &str, parser: &mut lexopt::Parser) -> Result<(), Misuse> {
    let times = &mut options.times;
    match name {
        "listen" => options.listen = value(name, "an address such as 127.0.0.1:8080", parser)?,
        "store" => options.store = Place::parse("--store", &text(name, parser)?).map_err(misuse)?,
        "accept-lost-writes" => options.accept_lost_writes = true,
        "ledger" => options.ledger = Some(parser.value()?.into()),
        "ledger-url" => options.ledger_at = Some(authority(name, &text(name, parser)?)?),
        "keys" => options.keys = Some(KeysText(text(name, parser)?)),
        "fingerprint-ttl" => times.fingerprint_ttl = duration(name, parser)?,
        "quote-ttl" => times.quote_ttl = duration(name, parser)?,
        "lease" => times.lease = duration(name, parser)?,
        "max-run" => times.max_run = duration(name, parser)?,
        "retention" => times.retention = duration(name, parser)?,
        "no-renew" => times.renewed = false,
        "wait" => times.wait = duration(name, parser)?,
        "max-body" => options.max_body = value(name, "a number of bytes", parser)?,
        "lang" => options.language = value(name, "en or zh", parser)?,
        "chaos" => options.chaos = true,
        _ => return later(name, parser),
    }
    Ok(())
}

/// A word that belongs to no option. One that is no plain word isn't shown: it may be the rest of a key.
fn stray(word: &str) -> Misuse {
    if word.len() <= LONGEST_COMMAND && word.bytes().all(|b| b.is_ascii_alphabetic()) {
        return misuse(format!(
            "there is no command {word:?}; the only one is demo"
        ));
    }
    misuse("there is one word too many; a value with a space in it needs quotes".to_owned())
}

const LONGEST_COMMAND: usize = 16;

/// Options of later versions: what they are today may be said, anything else is refused.
fn later(name: &str, parser: &mut lexopt::Parser) -> Result<(), Misuse> {
    match name {
        "repeat-window" => {
            let window = duration(name, parser)?;
            let shown = humantime::format_duration(window).to_string();
            only(
                window.is_zero(),
                name,
                &shown,
                "0s: there is no repeat guard yet",
            )
        }
        "ledger-mode" => {
            let mode = text(name, parser)?;
            only(mode == "fenced", name, &mode, "fenced")
        }
        "recovery" => {
            let recovery = text(name, parser)?;
            only(recovery == "manual", name, &recovery, "manual")
        }
        "approval-ttl" | "audit" => Err(misuse(format!("--{name} is not in this version"))),
        _ => Err(misuse(format!("there is no option --{name}; see --help"))),
    }
}

fn only(is_it: bool, name: &str, given: &str, known: &str) -> Result<(), Misuse> {
    if is_it {
        return Ok(());
    }
    Err(misuse(format!(
        "--{name} {given} is not in this version; it knows only {known}"
    )))
}

fn check(options: &Options) -> Result<(), Misuse> {
    if options.chaos && !options.listen.ip().is_loopback() {
        let ip = options.listen.ip();
        return Err(misuse(format!(
            "--chaos lets any caller break this process, so it needs a loopback --listen, and {ip} is none"
        )));
    }
    if options.store.may_lose_writes() && !options.accept_lost_writes {
        return Err(misuse(
            "Redis alone may lose a claim that it acknowledged, and then a transfer happens twice; start with \
             --accept-lost-writes if that may be, or put it in front of Postgres with --store tiered:…"
                .to_owned(),
        ));
    }
    if !options.store.may_lose_writes() && options.accept_lost_writes {
        return Err(misuse(
            "--accept-lost-writes is for Redis alone; this store loses none".to_owned(),
        ));
    }
    if options.times.quote_ttl < SHORTEST_QUOTE {
        return Err(misuse(
            "--quote-ttl under 1s leaves no time to confirm anything".to_owned(),
        ));
    }
    if options.max_body == 0 {
        return Err(misuse("--max-body 0 would refuse every request".to_owned()));
    }
    Ok(())
}

/// A configuration that the library refuses, with the options as they are typed: it knows them by other names.
pub(crate) fn refused(error: &ConfigError) -> String {
    let options = match error {
        ConfigError::RetentionTooShort { .. } => "--retention and --fingerprint-ttl: ",
        ConfigError::LifeTooShort { .. } => "--fingerprint-ttl: ",
        ConfigError::LeaseTooShort { .. } => "--lease: ",
        ConfigError::LeaseWithinBudget { .. } => "--lease and --no-renew: ",
        ConfigError::MaxRunWithinBudget { .. } => "--max-run: ",
        _ => "",
    };
    format!("{options}{error}")
}

/// The end of a fingerprint is rounded down to a second.
const SHORTEST_QUOTE: Duration = Duration::from_secs(1);

/// The host and port of `http://HOST:PORT`: a path would not be in the grants, and a password would be in clear.
fn authority(name: &str, text: &str) -> Result<Authority, Misuse> {
    let at = text
        .strip_prefix("http://")
        .map(|at| at.strip_suffix('/').unwrap_or(at));
    at.filter(|at| !at.contains('@'))
        .and_then(|at| at.parse().ok())
        // The value isn't shown: it may have a password.
        .ok_or_else(|| {
            misuse(format!(
                "--{name} is not a URL such as http://127.0.0.1:8090, without path and user"
            ))
        })
}

fn text(name: &str, parser: &mut lexopt::Parser) -> Result<String, Misuse> {
    // The value isn't shown: it may be a key.
    parser
        .value()?
        .into_string()
        .map_err(|_| misuse(format!("--{name} is not UTF-8")))
}

fn value<T: FromStr>(name: &str, expected: &str, parser: &mut lexopt::Parser) -> Result<T, Misuse> {
    let text = text(name, parser)?;
    text.parse()
        .map_err(|_| misuse(format!("--{name} {text:?} is not {expected}")))
}

fn duration(name: &str, parser: &mut lexopt::Parser) -> Result<Duration, Misuse> {
    let text = text(name, parser)?;
    humantime::parse_duration(&text).map_err(|_| {
        misuse(format!(
            "--{name} {text:?} is not a time such as 15m or 300ms: numbers, each with ms, s, m, h or d"
        ))
    })
}

const fn misuse(sentence: String) -> Misuse {
    Misuse(sentence)
}

impl From<lexopt::Error> for Misuse {
    fn from(error: lexopt::Error) -> Self {
        // The value that an option doesn't take may be a secret.
        let error = match error {
            lexopt::Error::UnexpectedValue { option, .. } => format!("{option} takes no value"),
            other => other.to_string(),
        };
        Self(error)
    }
}

#[cfg(test)]
mod tests;
