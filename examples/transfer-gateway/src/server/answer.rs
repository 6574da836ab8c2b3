//! The body of an answer, on its way out.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};

use super::activity::{Activity, Work};

/// A body that tells while it is waited for: a pause that the service makes is not the caller's.
#[derive(Debug)]
pub(super) struct Answer {
    body: Body,
    activity: Activity,
    work: Option<Work>,
}

impl Answer {
    pub(super) const fn new(body: Body, activity: Activity) -> Self {
        Self {
            body,
            activity,
            work: None,
        }
    }
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        if frame.is_ready() {
            self.work = None;
        } else if self.work.is_none() {
            self.work = Some(self.activity.work());
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
