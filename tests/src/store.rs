//! Which store the gateways of a run keep their operations in.

/// The value of `--store` for gateways whose test names none; in memory where it is not set.
const VARIABLE: &str = "COUNTERFOIL_TEST_STORE";

/// What is added to a gateway's arguments.
///
/// # Panics
///
/// If the variable is not UTF-8.
pub(crate) fn arguments(given: &[&str]) -> Vec<String> {
    if given.contains(&"--store") {
        return Vec::new();
    }
    let Some(store) = std::env::var_os(VARIABLE) else {
        return Vec::new();
    };
    let store = store.into_string().expect("a URL in UTF-8");
    let alone = store.starts_with("redis");
    let mut arguments = vec!["--store".to_owned(), store];
    if alone {
        arguments.push("--accept-lost-writes".to_owned());
    }
    arguments
}
