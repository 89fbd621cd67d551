//! Extractors for requests, with answers of our own for invalid ones.

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use serde::de::DeserializeOwned;
use trainscope_api::error::ErrorCode;

use super::error::Failure;

/// True if the client explicitly accepts a media type; `*/*` is no such wish.
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

/// The JSON body of a request. Its type is required: pages elsewhere cannot send it without asking first, as browsers let them
/// send texts and forms.
pub(super) struct Body<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, state: &S) -> Result<Self, Failure> {
        let media_type = request.headers().get(CONTENT_TYPE);
        let media_type = media_type.and_then(|value| value.to_str().ok());
        let media_type = media_type.and_then(|value| value.split(';').next());
        if !media_type.is_some_and(|own| own.trim().eq_ignore_ascii_case("application/json")) {
            return Err(Failure::bad_request(
                "a body needs the header `Content-Type: application/json`",
            ));
        }
        let bytes =
            Bytes::from_request(request, state)
                .await
                .map_err(|rejection: BytesRejection| {
                    if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE {
                        Failure::new(
                            ErrorCode::TooLarge,
                            format!("a request may hold {} bytes", super::BODY_LIMIT_BYTES),
                        )
                    } else {
                        Failure::bad_request("the body did not arrive whole")
                    }
                })?;
        serde_json::from_slice(&bytes)
            .map(Self)
            .map_err(|error| Failure::bad_request(format!("the body is not understood: {error}")))
    }
}

/// The innermost cause, which names the parameter.
fn cause(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
