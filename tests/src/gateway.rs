//! A running transfer gateway.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use crate::{
    Call, Caller, Program, Raw, RawHttp2, Reply, process::Running, secrets::Secrets, store, until,
};

/// A gateway on a free port of the loopback. When it is dropped it ends, and its log is searched for what must not
/// stand there: fingerprints, keys, and credentials as they were sent.
#[derive(Debug)]
pub struct Gateway {
    running: Running,
    address: SocketAddr,
    secrets: Secrets,
}

impl Gateway {
    /// Starts one that takes `X-Chaos`, with further arguments.
    ///
    /// # Panics
    ///
    /// If it is not built, or doesn't say where it listens.
    #[must_use]
    pub fn start(arguments: &[&str]) -> Self {
        Self::start_bare(&[&["--chaos"], arguments].concat())
    }

    /// Starts one with these arguments and a free port.
    ///
    /// # Panics
    ///
    /// As [`start`](Self::start).
    #[must_use]
    pub fn start_bare(arguments: &[&str]) -> Self {
        let store = store::arguments(arguments);
        let store: Vec<&str> = store.iter().map(String::as_str).collect();
        let arguments = [&["--listen", "127.0.0.1:0"], &store[..], arguments].concat();
        let secrets = Secrets::default();
        for pair in arguments.windows(2).filter(|pair| pair[0] == "--keys") {
            secrets.keep_keys(pair[1]);
        }
        Self::of(Program::gateway(&arguments), secrets)
    }

    /// Starts one whose keys stand in its environment.
    ///
    /// # Panics
    ///
    /// As [`start`](Self::start).
    #[must_use]
    pub fn start_with_keys_in_env(keys: &str) -> Self {
        let secrets = Secrets::default();
        secrets.keep_keys(keys);
        let store = store::arguments(&[]);
        let arguments = ["--chaos", "--listen", "127.0.0.1:0"].map(str::to_owned);
        let program = Program::gateway(arguments.into_iter().chain(store));
        Self::of(program.with_env("COUNTERFOIL_KEYS", keys), secrets)
    }

    /// Starts one that sends its transfers to a ledger of its own, with these grant keys and further arguments.
    ///
    /// # Panics
    ///
    /// As [`start`](Self::start).
    #[must_use]
    pub fn start_with_ledger(at: SocketAddr, grant_keys: &str, arguments: &[&str]) -> Self {
        let secrets = Secrets::default();
        secrets.keep_keys(grant_keys);
        let fixed = ["--chaos", "--listen", "127.0.0.1:0", "--ledger-url"];
        let url = format!("http://{at}");
        let given = fixed.into_iter().chain([&*url]);
        let given = given.chain(arguments.iter().copied()).map(str::to_owned);
        let program = Program::gateway(given.chain(store::arguments(arguments)));
        Self::of(
            program.with_env("COUNTERFOIL_GRANT_KEYS", grant_keys),
            secrets,
        )
    }

    fn of(program: Program, secrets: Secrets) -> Self {
        let mut running = program.start();
        let address = running.listening("gateway");
        Self {
            running,
            address,
            secrets,
        }
    }

    /// A caller, as `TENANT/PRINCIPAL`.
    #[must_use]
    pub fn caller(&self, subject: &str) -> Caller {
        Caller::new(self.address, subject, self.secrets.clone())
    }

    /// Sends a call as it is, without a caller's credentials.
    ///
    /// # Panics
    ///
    /// If no answer comes.
    pub async fn send(&self, call: Call) -> Reply {
        call.send(self.address).await.expect("an answer")
    }

    /// A connection for bytes that no client would send.
    ///
    /// # Panics
    ///
    /// If it can't be made.
    pub async fn connect(&self) -> Raw {
        Raw::connect(self.address).await.expect("a connection")
    }

    /// One of HTTP/2, for frames that no client would send.
    ///
    /// # Panics
    ///
    /// If it can't be made.
    pub async fn connect_http2(&self) -> RawHttp2 {
        RawHttp2::connect(self.address).await
    }

    /// Whether new connections are taken.
    pub async fn takes_connections(&self) -> bool {
        Raw::connect(self.address).await.is_some()
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// # Panics
    ///
    /// If the gateway doesn't answer that it is well.
    pub async fn assert_well(&self) {
        assert_eq!(self.send(Call::get("/healthz")).await.status, 200);
    }

    /// What it printed to stdout so far.
    #[must_use]
    pub fn stdout(&self) -> String {
        self.running.stdout.so_far()
    }

    /// What it logged so far.
    #[must_use]
    pub fn log(&self) -> String {
        self.running.stderr.so_far()
    }

    /// The log's security events so far.
    #[must_use]
    pub fn security_events(&self) -> Vec<String> {
        let log = self.log();
        log.lines()
            .filter(|line| line.contains("counterfoil::security"))
            .map(str::to_owned)
            .collect()
    }

    /// Waits for a security event with all of these texts.
    ///
    /// # Panics
    ///
    /// If none comes.
    pub async fn security_event(&self, texts: &[&str]) -> String {
        until(&format!("a security event with {texts:?}"), || async {
            let is_it = |line: &String| texts.iter().all(|text| line.contains(text));
            self.security_events().into_iter().find(is_it)
        })
        .await
    }

    /// Adds a text to what must not be in the log when this gateway ends.
    pub fn must_not_log(&self, text: &str) {
        self.secrets.keep(text);
    }

    /// Asks it to end, as an operator would.
    pub fn terminate(&self) {
        self.running.terminate();
    }

    /// Waits for its end, and gives the exit code; `None` if a signal ended it.
    ///
    /// # Panics
    ///
    /// If it runs on.
    pub async fn ended(&mut self) -> Option<i32> {
        let end = std::time::Instant::now() + crate::wait::PATIENCE;
        loop {
            if let Some(status) = self.running.has_ended() {
                return status.code();
            }
            assert!(
                std::time::Instant::now() < end,
                "the gateway runs on\n{}",
                self.log()
            );
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let (stdout, log) = self.running.output();
        if std::thread::panicking() {
            // The reason for a failure often stands there.
            for line in log
                .lines()
                .rev()
                .take(40)
                .collect::<Vec<_>>()
                .into_iter()
                .rev()
            {
                to_test_output(line);
            }
            return;
        }
        assert!(
            !log.contains("Bearer "),
            "a caller's credentials are logged\n{log}"
        );
        for text in [stdout, log] {
            let secret = self.secrets.found_in(&text);
            assert_eq!(secret, None, "a secret stands in the output\n{text}");
        }
    }
}

#[expect(
    clippy::print_stderr,
    reason = "a failed test shows the log of its gateway"
)]
fn to_test_output(line: &str) {
    eprintln!("gateway: {line}");
}

/// A new path for a file in the directory for temporary files, removed when this is dropped.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// A path that nothing stands at.
    #[must_use]
    pub fn new(name: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let id = std::process::id();
        let path = std::env::temp_dir().join(format!("counterfoil-{id}-{number}-{name}"));
        // Left by an earlier process of the same number, perhaps.
        let _ = std::fs::remove_file(&path);
        Self(path)
    }

    /// The path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The path as an argument.
    ///
    /// # Panics
    ///
    /// If the directory for temporary files has a name that is not UTF-8.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.to_str().expect("a path in UTF-8")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
