//! Random bytes from the operating system.

/// `N` fresh bytes.
///
/// # Panics
///
/// If the system has no randomness. An owner or an id that repeats would break the promise of one owner per epoch, so
/// there is nothing safe to go on with.
pub(crate) fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
    bytes
}
