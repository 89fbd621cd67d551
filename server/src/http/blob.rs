//! `/api/blob`: the bytes of a picture, a clip or a tensor, read from the source file.

use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use trainscope_api::error::ApiError;
use trainscope_api::records::BlobQuery;
use trainscope_format::ImageEncoding;

use super::error::Failure;
use super::request::Params;
use super::{Site, blocking};

/// The bytes of a picture, a clip or a tensor
#[utoipa::path(
    get,
    path = "/api/blob",
    operation_id = "blob",
    params(BlobQuery),
    responses(
        (
            status = 200,
            description = "The bytes as recorded. Their media type is told from them; what is neither a picture nor \
                           sound is a download.",
            content_type = "application/octet-stream",
            body = Bytes,
        ),
        (status = "default", description = "Why not", body = ApiError),
    )
)]
pub(super) async fn get(
    State(site): State<Site>,
    Params(query): Params<BlobQuery>,
) -> Result<Response, Failure> {
    blocking(move || {
        let bytes = site.index.blob(&query.id)?;
        // An id names one stretch of one file for ever.
        let kept = (CACHE_CONTROL, "private, max-age=31536000, immutable");
        if let Some(media_type) = media_type(&bytes) {
            return Ok(([(CONTENT_TYPE, media_type), kept], bytes).into_response());
        }
        let download = (CONTENT_DISPOSITION, "attachment; filename=\"blob.bin\"");
        let media_type = (CONTENT_TYPE, "application/octet-stream");
        Ok(([media_type, kept, download], bytes).into_response())
    })
    .await
}

/// What a browser may show: never anything that holds scripts (SVG, HTML), whatever its writer called it.
fn media_type(bytes: &[u8]) -> Option<&'static str> {
    match ImageEncoding::sniff(bytes) {
        ImageEncoding::Unknown => {}
        encoding => return Some(encoding.content_type()),
    }
    match bytes {
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'A',
            b'V',
            b'E',
            ..,
        ] => Some("audio/wav"),
        [b'f', b'L', b'a', b'C', ..] => Some("audio/flac"),
        [b'O', b'g', b'g', b'S', ..] => Some("audio/ogg"),
        [b'I', b'D', b'3', ..] => Some("audio/mpeg"),
        _ => None,
    }
}

/// The bytes as recorded
#[derive(utoipa::ToSchema)]
#[schema(value_type = String, format = Binary)]
#[expect(dead_code, reason = "only its schema is used")]
struct Bytes(Vec<u8>);
