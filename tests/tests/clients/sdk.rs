//! The SDKs, each in a process of its own.

use std::{env, net::SocketAddr, time::Duration};

use serde_json::Value;
use tests::{Finished, Program};

/// Names the Python that has them.
const PYTHON: &str = "COUNTERFOIL_TEST_SDK_PYTHON";
/// For a slow machine: a start with all its imports, and the pauses between the tries.
const BOUND: Duration = Duration::from_secs(90);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sdk {
    Stripe,
    OpenAi,
}

pub(crate) const BOTH: [Sdk; 2] = [Sdk::Stripe, Sdk::OpenAi];

/// What the SDK gave to its user: `status`, `replayed` and `body` of an answer, or what it `raised`.
pub(crate) type Given = Value;

impl Sdk {
    const fn program(self) -> &'static str {
        match self {
            Self::Stripe => "by_stripe.py",
            Self::OpenAi => "by_openai.py",
        }
    }

    /// Files a ticket there, and nowhere else: a connection to any other place ends the program with 97.
    pub(crate) async fn file(self, to: SocketAddr, options: &[&str]) -> Given {
        let ended = self.run(to, to.port(), options).await;
        assert_eq!(ended.code, Some(0), "{self:?}: {ended:#?}");
        serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:#?}"))
    }

    /// As [`file`](Self::file), where the one place that it may reach is this port.
    pub(crate) async fn run(self, to: SocketAddr, allowed: u16, options: &[&str]) -> Finished {
        let python = env::var_os(PYTHON).unwrap_or_else(|| panic!("{PYTHON} names no Python"));
        let here = env!("CARGO_MANIFEST_DIR");
        let mut arguments = vec![
            // Nothing is written into the tree.
            "-B".to_owned(),
            format!("{here}/tests/clients/only_there.py"),
            allowed.to_string(),
            format!(
                "{here}/../examples/transfer-gateway/clients/{}",
                self.program()
            ),
            format!("http://{to}"),
        ];
        arguments.extend(options.iter().map(|&option| option.to_owned()));
        let program = Program::other(python, arguments);
        let ending = tokio::task::spawn_blocking(move || program.finish_within(BOUND));
        ending.await.expect("it ends in time")
    }
}
