//! The steps, in the order in which they run: what fails fast comes first.

use std::process::Command;
use std::time::Duration;

use counterfoil_servers::{PostgresStarter, Shared};

use crate::needs::{CLIPPY, GIT, Need, PGBOUNCER, POSTGRES, PYTHON, REDIS, RUSTFMT, VENV};
use crate::run::{Bound, Failure};
use crate::texts;

use super::step::{Context, Part, Step};
use super::venv;

/// Every test is built in one way, with the features that the whole workspace asks for. With those of one package alone
/// cargo would build each dependency again whose features differ.
const WHOLE: &str = "test --workspace --all-features";
/// The program that black-box tests start.
const GATEWAY: &str = "transfer-gateway";
/// A test in each package with a program that they start: with it, cargo builds the program.
const PROGRAM_TEST: &str = "readme";
/// The tests that start it.
const BLACK_BOX: &str = "tests";
/// Those of them that ask nothing of the store but to be one.
const FOR_ANY_STORE: &[&str] = &[
    "credentials",
    "granted",
    "hostile",
    "lifecycle",
    "outcomes",
    "tickets",
    "transfers",
];
/// Tests that are ignored where the system does not let them have a small disk.
const OF_A_FULL_DISK: [&str; 2] = ["postgres", "full"];
/// Where their gateways keep operations.
const STORE: &str = "COUNTERFOIL_TEST_STORE";
/// Which version of HTTP their calls are in.
const HTTP: &str = "COUNTERFOIL_TEST_HTTP";
/// The crate whose features are built one by one.
const FEATURED: &str = "counterfoil";
const HASHES: &str = "tests/hash-under-features/Cargo.toml";
/// Implementations of the specs in another language, and what they check.
const VERIFIERS: [(&str, &str); 4] = [
    (
        "docs/spec/verify_fingerprint.py",
        "docs/spec/fingerprint-v1.json",
    ),
    (
        "docs/spec/verify_idempotency_key.py",
        "docs/spec/idempotency-key-v1.json",
    ),
    (
        "docs/spec/verify_downstream_key.py",
        "docs/spec/downstream-key-v1.json",
    ),
    ("docs/spec/verify_grant.py", "docs/spec/grant-v1.json"),
];
/// What the client in another language of the gRPC example needs, and who names its Python to the test.
const PAYOUTS_CLIENT: &str = "examples/grpc-payouts/clients/requirements.txt";
const PAYOUTS_PYTHON: &str = "COUNTERFOIL_TEST_GRPC_PYTHON";
/// The SDKs that file tickets at the gateway, and who names their Python to the test.
const SDKS: &str = "examples/transfer-gateway/clients/requirements.txt";
const SDKS_PYTHON: &str = "COUNTERFOIL_TEST_SDK_PYTHON";
/// What steps with servers need.
const SERVERS: &[Need] = &[REDIS, POSTGRES, PGBOUNCER];
/// How many tests run at a time. Most of them wait for a server to start, stop or be asked again, and not for a processor.
const THREADS: (&str, &str) = ("RUST_TEST_THREADS", "3");
/// How long the demo may run.
const DEMO: Duration = Duration::from_secs(60);

/// Every step. The numbers are the minutes that each may take: generous, for a slow machine's first build.
pub(crate) const STEPS: &[Step] = &[
    Step::new("format", "the formatting, by rustfmt", 5, format).needs(&[RUSTFMT]),
    Step::new("clippy", "the lints; a warning is an error", 25, clippy).needs(&[CLIPPY]),
    Step::new(
        "docs",
        "the API docs build; a warning is an error",
        25,
        docs,
    ),
    Step::new(
        "build",
        "the tests, and the programs that they start",
        25,
        build,
    )
    .stands_on(Part::Package(GATEWAY)),
    Step::new(
        "tests",
        "unit, conformance and black-box tests, with real servers",
        25,
        tests,
    )
    .needs(SERVERS),
    Step::new("http2", "the black-box tests again, over HTTP/2", 25, http2)
        .stands_on(Part::Package(BLACK_BOX)),
    Step::new(
        "stores",
        "the black-box tests again, over each real store",
        25,
        stores,
    )
    .needs(SERVERS)
    .stands_on(Part::Package(BLACK_BOX)),
    Step::new(
        "doctests",
        "the examples in docs and guides, with real servers",
        25,
        doctests,
    )
    .needs(SERVERS),
    Step::new(
        "features",
        "each feature builds alone, and none; so does the main example",
        25,
        features,
    )
    .stands_on(Part::Package(FEATURED)),
    Step::new(
        "hashes",
        "the same hashes under other features of serde_json",
        25,
        hashes,
    )
    .stands_on(Part::File(HASHES)),
    Step::new(
        "spec",
        "the specs' test vectors, by a second implementation",
        5,
        spec,
    )
    .needs(&[PYTHON])
    .stands_on(Part::File(VERIFIERS[0].0)),
    Step::new(
        "grpc",
        "the gRPC example, by a client on grpcio (from PyPI, into the target directory)",
        25,
        grpc,
    )
    .needs(&[PYTHON, VENV])
    .stands_on(Part::File(PAYOUTS_CLIENT)),
    Step::new(
        "clients",
        "the gateway's tickets, by SDKs that send again by themselves (from PyPI, into the target directory)",
        25,
        clients,
    )
    .needs(&[PYTHON, VENV, REDIS])
    .stands_on(Part::File(SDKS)),
    Step::new("demo", "the transfer gateway's demo ends well", 25, demo)
        .stands_on(Part::Package(GATEWAY)),
    Step::new(
        "texts",
        "no machine's paths, nothing unfinished, no dead link or named test",
        5,
        check_texts,
    )
    .needs(&[GIT]),
];

fn format(context: &Context, bound: Bound) -> Result<(), Failure> {
    cargo(context, bound, &["fmt", "--all", "--check"])
}

fn clippy(context: &Context, bound: Bound) -> Result<(), Failure> {
    let arguments = "clippy --workspace --all-targets --all-features -- -D warnings";
    cargo(context, bound, &words(arguments))
}

fn docs(context: &Context, bound: Bound) -> Result<(), Failure> {
    let arguments = words("doc --workspace --no-deps --all-features");
    let mut command = context.workspace.cargo(&arguments);
    command.env("RUSTDOCFLAGS", "-D warnings");
    context.runner.run(&mut command, bound)
}

fn build(context: &Context, bound: Bound) -> Result<(), Failure> {
    let all = ["--lib", "--bins", "--tests", "--examples", "--no-run"];
    cargo(context, bound, &[&words(WHOLE)[..], &all].concat())
}

/// For a step that runs alone: black-box tests must not meet an old program.
fn build_programs(context: &Context, bound: Bound) -> Result<(), Failure> {
    let one = ["--test", PROGRAM_TEST, "--no-run"];
    cargo(context, bound, &[&words(WHOLE)[..], &one].concat())
}

/// Everything but benchmarks, which take long and prove nothing here.
fn tests(context: &Context, bound: Bound) -> Result<(), Failure> {
    build(context, bound)?;
    let all = ["--lib", "--bins", "--tests", "--examples"];
    with_servers(context, bound, &[&words(WHOLE)[..], &all].concat())?;
    if !PostgresStarter::small_disk_is_allowed() {
        println!("left out: the tests of a full disk, for which this system allows no namespace");
        return Ok(());
    }
    let mut arguments = named(&OF_A_FULL_DISK);
    arguments.extend(["--", "--ignored"]);
    with_servers(context, bound, &arguments)
}

/// What is promised over one version of HTTP is promised over the other. Before this they spoke HTTP/1.1.
fn http2(context: &Context, bound: Bound) -> Result<(), Failure> {
    build_programs(context, bound)?;
    let mut command = black_box(context);
    context.runner.run(command.env(HTTP, "2"), bound)
}

/// The gateway's promises are those of whatever store it stands on. In memory they were tested before.
fn stores(context: &Context, bound: Bound) -> Result<(), Failure> {
    build_programs(context, bound)?;
    let of = |server| {
        let mut addresses = context.servers()?.addresses();
        let address = addresses.find(|(name, _)| *name == server);
        let (_, address) = address.expect("all servers were started");
        Ok::<_, Failure>(address.to_owned())
    };
    let postgres = of(Shared::Postgres)?;
    let stores = [
        of(Shared::Redis)?,
        of(Shared::RedisCluster)?,
        of(Shared::RedisSentinel)?,
        postgres.clone(),
        format!("{}?pgbouncer=true", of(Shared::PgBouncer)?),
        format!("tiered:{postgres},{}", of(Shared::Redis)?),
    ];
    for store in stores {
        let mut command = black_box(context);
        context.runner.run(command.env(STORE, store), bound)?;
    }
    Ok(())
}

fn black_box(context: &Context) -> Command {
    tested(context, &named(FOR_ANY_STORE))
}

fn doctests(context: &Context, bound: Bound) -> Result<(), Failure> {
    with_servers(context, bound, &[&words(WHOLE)[..], &["--doc"]].concat())
}

fn features(context: &Context, bound: Bound) -> Result<(), Failure> {
    let features = context.workspace.features(FEATURED);
    let features = features.expect("the step stands on this package");
    let alone = ["check", "-p", FEATURED, "--no-default-features"];
    cargo(context, bound, &alone)?;
    for feature in features {
        cargo(
            context,
            bound,
            &[&alone[..], &["--features", feature]].concat(),
        )?;
    }
    println!(
        "{FEATURED} builds without features, and with each of {} alone",
        features.len()
    );
    // What a newcomer starts first must not live by the features that another package asks for.
    cargo(context, bound, &["check", "-p", GATEWAY])
}

/// A workspace of its own, because features that one member switches on are switched on for all of them; and a target
/// directory of its own, because the two would overwrite each other's builds.
fn hashes(context: &Context, bound: Bound) -> Result<(), Failure> {
    let mut command = context
        .workspace
        .cargo(&["test", "--manifest-path", HASHES]);
    let target = context.workspace.target().join("hash-under-features");
    context
        .runner
        .run(command.env("CARGO_TARGET_DIR", target), bound)
}

fn spec(context: &Context, bound: Bound) -> Result<(), Failure> {
    for (verifier, vectors) in VERIFIERS {
        let mut command = Command::new("python3");
        command.current_dir(context.workspace.root());
        context
            .runner
            .run(command.args([verifier, vectors]), bound)?;
    }
    Ok(())
}

fn grpc(context: &Context, bound: Bound) -> Result<(), Failure> {
    let python = venv::make(context, bound, "grpcio", PAYOUTS_CLIENT)?;
    let mut arguments = named(&["python"]);
    arguments.extend(["--", "--ignored"]);
    let mut command = tested(context, &arguments);
    context
        .runner
        .run(command.env(PAYOUTS_PYTHON, python), bound)
}

fn clients(context: &Context, bound: Bound) -> Result<(), Failure> {
    let python = venv::make(context, bound, "sdks", SDKS)?;
    build_programs(context, bound)?;
    let mut arguments = named(&["clients"]);
    arguments.extend(["--", "--ignored"]);
    let mut command = tested(context, &arguments);
    context.runner.run(command.env(SDKS_PYTHON, python), bound)
}

fn demo(context: &Context, bound: Bound) -> Result<(), Failure> {
    build_programs(context, bound)?;
    let program = context.workspace.target().join("debug").join(GATEWAY);
    let mut command = Command::new(program);
    command.current_dir(context.workspace.root());
    context.runner.run(command.arg("demo"), Bound::of(DEMO))
}

fn check_texts(context: &Context, bound: Bound) -> Result<(), Failure> {
    let summary = texts::check(context.workspace.root(), &context.runner, bound)?;
    println!("{summary}");
    Ok(())
}

fn cargo(context: &Context, bound: Bound, arguments: &[&str]) -> Result<(), Failure> {
    context
        .runner
        .run(&mut context.workspace.cargo(arguments), bound)
}

/// A run of tests, with the addresses of the servers in the environment.
fn with_servers(context: &Context, bound: Bound, arguments: &[&str]) -> Result<(), Failure> {
    let mut command = tested(context, arguments);
    command.envs(context.servers()?.environment());
    context.runner.run(&mut command, bound)
}

/// A run of tests, [`THREADS`] at a time unless somebody chose otherwise.
fn tested(context: &Context, arguments: &[&str]) -> Command {
    let mut command = context.workspace.cargo(arguments);
    if std::env::var_os(THREADS.0).is_none() {
        command.env(THREADS.0, THREADS.1);
    }
    command
}

/// The arguments that run integration tests of these names, of whatever package.
fn named(tests: &[&'static str]) -> Vec<&'static str> {
    let mut arguments = words(WHOLE);
    arguments.extend(tests.iter().flat_map(|test| ["--test", test]));
    arguments
}

fn words(line: &'static str) -> Vec<&'static str> {
    line.split(' ').collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::STEPS;

    #[test]
    fn no_two_steps_share_a_name() {
        let names: BTreeSet<_> = STEPS.iter().map(|step| step.name).collect();
        assert_eq!(names.len(), STEPS.len());
    }

    #[test]
    fn every_name_can_be_written_in_a_list() {
        for step in STEPS {
            assert!(!step.name.contains([',', ' ', '=']), "{}", step.name);
        }
    }
}
