//! Which methods are guarded, and which paths could be taken for theirs.

use std::{borrow::Cow, collections::HashMap, sync::Arc};

use percent_encoding::percent_decode_str;

use super::guarded::Guarded;

/// Gates by the paths of their methods.
#[derive(Clone, Default)]
pub(super) struct Methods {
    gates: HashMap<Cow<'static, str>, Arc<dyn Guarded>>,
}

/// What a path leads to.
pub(super) enum Found<'a> {
    Guarded(&'a Arc<dyn Guarded>),
    /// Not a guarded method's path, but one that a router further in could take for it.
    Misspelt(&'a Arc<dyn Guarded>),
    Other,
}

impl Methods {
    /// # Panics
    ///
    /// If `path` is not that of a method: it would match no call, and leave its method unguarded.
    pub(super) fn guard(&mut self, path: Cow<'static, str>, gate: Arc<dyn Guarded>) {
        assert!(
            is_of_a_method(&path),
            "{path:?} is not the path of a method, such as /payouts.v1.Payouts/Confirm"
        );
        self.gates.insert(path, gate);
    }

    pub(super) fn find(&self, path: &str) -> Found<'_> {
        if let Some(gate) = self.gates.get(path) {
            return Found::Guarded(gate);
        }
        let called = segments(path);
        let is_like = |guarded: &str| {
            let guarded = segments(guarded);
            let method = &guarded[guarded.len().saturating_sub(2)..];
            called.windows(2).any(|pair| pair == method)
        };
        let mut gates = self.gates.iter();
        match gates.find(|(guarded, _)| is_like(guarded)) {
            Some((_, gate)) => Found::Misspelt(gate),
            None => Found::Other,
        }
    }

    pub(super) fn paths(&self) -> impl std::fmt::Debug + '_ {
        self.gates.keys()
    }
}

fn is_of_a_method(path: &str) -> bool {
    let named = path.strip_prefix('/').map(|rest| rest.split('/'));
    named.is_some_and(|mut names| names.clone().count() > 1 && names.all(|name| !name.is_empty()))
}

/// The names in a path without what readers of paths differ in: escapes, case, empty and dotted parts.
fn segments(path: &str) -> Vec<String> {
    let mut path = path.to_owned();
    // An escape may be escaped itself. What is left after that nobody unfolds.
    for _ in 0..3 {
        path = percent_decode_str(&path).decode_utf8_lossy().into_owned();
    }
    path.split(['/', '\\'])
        .map(|segment| {
            segment
                .split([';', '?', '#', '\0'])
                .next()
                .unwrap_or_default()
        })
        .map(|segment| segment.trim().to_lowercase())
        .filter(|segment| !segment.is_empty() && segment != ".")
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn however_a_path_is_spelt_its_names_are_the_same() {
        for path in [
            "/pay.v1.Pay/Do",
            "/PAY.v1.pay/do",
            "/pay.v1.Pay/Do/",
            "//pay.v1.Pay//Do",
            "/pay.v1.Pay/./Do",
            "/pay%2ev1.Pay/D%6f",
            "/pay%252ev1.Pay/Do",
            "/pay.v1.Pay%2fDo",
            "/pay.v1.Pay\\Do",
            "/pay.v1.Pay/Do;v=1",
            "/pay.v1.Pay/Do%3fv=1",
            "/pay.v1.Pay/Do%20",
            "/pay.v1.Pay/Do%00",
        ] {
            assert_eq!(segments(path), ["pay.v1.pay", "do"], "{path}");
        }
        assert_eq!(segments("/a/b/c"), ["a", "b", "c"]);
    }

    #[test]
    fn what_is_no_path_of_a_method_is_known() {
        for path in ["", "/", "Pay/Do", "/Do", "/Pay/", "//Do", "/Pay/Do/"] {
            assert!(!is_of_a_method(path), "{path}");
        }
        for path in ["/Pay/Do", "/api/pay.v1.Pay/Do"] {
            assert!(is_of_a_method(path), "{path}");
        }
    }
}
