//! Extractors for requests, with API errors for invalid ones.

use std::time::Duration;

use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::HeaderMap;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::request::Parts;
use futures_util::StreamExt as _;
use serde::de::DeserializeOwned;
use tokio::sync::{Semaphore, SemaphorePermit};
use trainscope_api::error::ErrorCode;

use super::error::Failure;

/// Maximum size of a request body.
const BODY_LIMIT_BYTES: usize = 4 << 20;
/// Time for a body.
pub(super) const BODY_TIME: Duration = Duration::from_secs(30);
/// Size up to which a body needs no place: slow clients do not hinder small requests.
const FREE_BODY_BYTES: usize = 64 << 10;
/// Bytes of one place.
const UNIT_BYTES: usize = 64 << 10;
/// Places for large bodies that arrive at the same time: 64 MiB.
static LARGE_BODIES: Semaphore = Semaphore::const_new((64 << 20) / UNIT_BYTES);

/// True if the client explicitly accepts a media type; `*/*` does not count.
pub(super) fn wants(headers: &HeaderMap, media_type: &str) -> bool {
    headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|media| media.split(';').next())
        .any(|media| media.trim().eq_ignore_ascii_case(media_type))
}

/// The query of a request.
pub(super) struct Params<T>(pub(super) T);

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        match Query::<T>::try_from_uri(&parts.uri) {
            Ok(Query(params)) => Ok(Self(params)),
            Err(rejection) => Err(Failure::bad_request(format!(
                "the query is not understood: {}",
                cause(&rejection)
            ))),
        }
    }
}

/// The JSON body of a request. Its media type is required: a foreign page cannot send it without a preflight request,
/// unlike texts and forms.
pub(super) struct Body<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, _: &S) -> Result<Self, Failure> {
        let media_type = request.headers().get(CONTENT_TYPE);
        let media_type = media_type.and_then(|value| value.to_str().ok());
        let media_type = media_type.and_then(|value| value.split(';').next());
        if !media_type.is_some_and(|value| value.trim().eq_ignore_ascii_case("application/json")) {
            return Err(Failure::bad_request(
                "a body needs the header `Content-Type: application/json`",
            ));
        }
        let bytes = received(request.into_body()).await?;
        serde_json::from_slice(&bytes)
            .map(Self)
            .map_err(|error| Failure::bad_request(format!("the body is not understood: {error}")))
    }
}

/// Reads a body within a time limit, with memory that all clients share.
async fn received(body: axum::body::Body) -> Result<Vec<u8>, Failure> {
    let mut taken: Option<SemaphorePermit<'_>> = None;
    let mut bytes = Vec::new();
    let whole = async {
        let mut parts = body.into_data_stream();
        while let Some(part) = parts.next().await {
            let part = part.map_err(|_| Failure::bad_request("the body did not arrive whole"))?;
            if bytes.len() + part.len() > BODY_LIMIT_BYTES {
                let message = format!("a request may hold {BODY_LIMIT_BYTES} bytes");
                return Err(Failure::new(ErrorCode::TooLarge, message));
            }
            bytes.extend_from_slice(&part);
            // Room grows by doubling.
            let units = bytes
                .capacity()
                .saturating_sub(FREE_BODY_BYTES)
                .div_ceil(UNIT_BYTES);
            let more = units.saturating_sub(taken.as_ref().map_or(0, SemaphorePermit::num_permits));
            let more = LARGE_BODIES.try_acquire_many(u32::try_from(more).unwrap_or(u32::MAX));
            let more = more.map_err(|_| {
                Failure::new(
                    ErrorCode::Busy,
                    "too many large requests at once; try again",
                )
            })?;
            match &mut taken {
                Some(taken) => taken.merge(more),
                None => taken = Some(more),
            }
        }
        Ok(())
    };
    let late = |_| Failure::bad_request("the body did not arrive in time");
    tokio::time::timeout(BODY_TIME, whole)
        .await
        .map_err(late)??;
    Ok(bytes)
}

/// The innermost cause, which names the parameter.
fn cause(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
