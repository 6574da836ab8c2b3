//! The checks, in their order.

use bytes::Bytes;
use counterfoil_core::{
    answer::{Answer, Status},
    engine::SECURITY_TARGET,
    grant::{GrantError, InvalidGrant, OpenedGrant, Seen},
};
use http::request::Parts;
use http_body::Body as HttpBody;
use tracing::{error, warn};

use super::{Granted, layer::Settings, refusal::Refused};
use crate::{BoxError, headers, request::values};

/// Lets a request through, with its whole body and what was granted.
pub(super) async fn check<B>(
    settings: &Settings,
    parts: &mut Parts,
    body: B,
) -> Result<(Granted, Bytes), Refused>
where
    B: HttpBody<Data = Bytes> + Send,
    B::Error: Into<BoxError>,
{
    let opened = open(settings, parts)?;
    let target = settings.reading.target(parts);
    let target = target
        .path_and_query()
        .map_or("/", |target| target.as_str());
    opened
        .check(
            settings.clock.now(),
            &settings.audience,
            parts.method.as_str(),
            target,
        )
        .map_err(|error| refused(error, Some(&opened)))?;
    let bytes = settings.reading.body(parts, body).await?;
    opened
        .check_body(&bytes)
        .map_err(|error| refused(error, Some(&opened)))?;
    see(settings, &opened).await?;
    Ok((Granted::new(opened.terms().clone()), bytes))
}

fn open(settings: &Settings, parts: &Parts) -> Result<OpenedGrant, Refused> {
    match *values(&parts.headers, &headers::GRANT) {
        [] => Err(Refused::Required),
        [text] => settings
            .keys
            .open(text)
            .map_err(|error| refused(error, None)),
        // Of two, nobody knows which one somebody else has read.
        _ => Err(Refused::Grant(GrantError::Mistyped, None)),
    }
}

async fn see(settings: &Settings, opened: &OpenedGrant) -> Result<(), Refused> {
    let terms = opened.terms();
    let (id, epoch) = (terms.operation_id(), terms.epoch());
    match settings.epochs.see(id, epoch).await {
        Ok(Seen::Current) => Ok(()),
        Ok(Seen::Stale) => {
            warn!(
                target: SECURITY_TARGET,
                event = "stale_epoch",
                operation_id = %id,
                epoch = epoch.as_u64(),
                key_id = opened.key_id().as_str(),
                "a write of an attempt that a later one has overtaken was refused"
            );
            Err(Refused::Stale(id))
        }
        Err(failed) => {
            error!(operation_id = %id, error = ?failed, "an epoch can't be remembered");
            Err(Refused::Answer(
                Answer::new(Status::Unavailable).with_operation(id).into(),
            ))
        }
    }
}

/// The refusal, and the event where somebody has something to look into.
fn refused(error: GrantError, opened: Option<&OpenedGrant>) -> Refused {
    let id = opened.map(|opened| opened.terms().operation_id());
    let event = match error {
        GrantError::Invalid(InvalidGrant::UnknownKey) => Some("unknown_grant_key"),
        GrantError::Invalid(InvalidGrant::Forged) => Some("forged_grant"),
        GrantError::Invalid(_) => Some("unreadable_grant"),
        GrantError::OtherAudience | GrantError::OtherRequest | GrantError::OtherBody => {
            Some("misused_grant")
        }
        _ => None,
    };
    if let Some(event) = event {
        warn!(
            target: SECURITY_TARGET,
            event,
            operation_id = id.map(|id| id.to_string()),
            key_id = opened.map(|opened| opened.key_id().as_str()),
            error = %error,
            "a grant was refused"
        );
    }
    Refused::Grant(error, id)
}
