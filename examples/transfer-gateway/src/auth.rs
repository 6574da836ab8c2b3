//! Who calls: `Authorization: Bearer TENANT/PRINCIPAL`.
//!
//! **A stand-in**: it believes whatever it is told. A real service verifies a token here, and puts the
//! [`Subject`] of that token into the request's extensions; nothing else changes.

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use counterfoil::{
    Subject,
    answer::{Answer, Status},
};
use http::{HeaderMap, HeaderValue, header};

use crate::{app::App, reply};

/// Lets a call through with its subject, or answers 401.
pub(crate) async fn authenticate(
    State(app): State<App>,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(subject) = subject(request.headers()) else {
        let mut response = reply::answer(&Answer::new(Status::Unauthenticated), app.wording());
        let bearer = HeaderValue::from_static("Bearer");
        response
            .headers_mut()
            .insert(header::WWW_AUTHENTICATE, bearer);
        return response;
    };
    request.extensions_mut().insert(subject);
    next.run(request).await
}

/// The one subject that the headers name.
fn subject(headers: &HeaderMap) -> Option<Subject> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return None;
    };
    let (scheme, credentials) = value.to_str().ok()?.split_once(' ')?;
    let (tenant, principal) = credentials.trim_matches(' ').split_once('/')?;
    let odd = |part: &str| part.contains([' ', '\t', '/']);
    if !scheme.eq_ignore_ascii_case("bearer") || odd(tenant) || odd(principal) {
        return None;
    }
    Subject::new(tenant, principal).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[&'static str]) -> Option<Subject> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::AUTHORIZATION, HeaderValue::from_static(value));
        }
        subject(&headers)
    }

    #[test]
    fn a_bearer_names_tenant_and_principal() {
        let expected = Subject::new("acme", "agent-7").ok();
        assert_eq!(of(&["Bearer acme/agent-7"]), expected);
        assert_eq!(of(&["bearer  acme/agent-7"]), expected);
    }

    #[test]
    fn anything_else_is_nobody() {
        for values in [
            &[][..],
            &["Bearer acme"],
            &["Bearer /agent"],
            &["Bearer acme/"],
            &["Bearer a/b/c"],
            &["Bearer a b/c"],
            &["Basic acme/agent"],
            &["acme/agent"],
            &["Bearer acme/agent", "Bearer acme/other"],
        ] {
            assert_eq!(of(values), None, "{values:?}");
        }
    }
}
