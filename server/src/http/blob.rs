//! `/api/blob`: the bytes of a picture, a clip or a tensor, read from the source file.

use axum::extract::State;
use axum::http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_RANGE, CONTENT_TYPE, RANGE,
};
use axum::http::{HeaderMap, StatusCode};
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
    headers: HeaderMap,
) -> Result<Response, Failure> {
    blocking(move || {
        let bytes = site.index.blob(&query.id)?;
        // An id names one stretch of one file for ever.
        let kept = (CACHE_CONTROL, "private, max-age=31536000, immutable");
        if let Some(media_type) = media_type(&bytes) {
            let head = [(CONTENT_TYPE, media_type), kept, (ACCEPT_RANGES, "bytes")];
            let wanted = headers.get(RANGE).and_then(|range| range.to_str().ok());
            // Players go to a place of a clip only where they may ask for it.
            let Some((from, to)) = wanted.and_then(|range| part(range, bytes.len())) else {
                return Ok((head, bytes).into_response());
            };
            let told = format!("bytes {from}-{to}/{}", bytes.len());
            let part = bytes.get(from..=to).unwrap_or_default().to_vec();
            let told = [(CONTENT_RANGE, told)];
            return Ok((StatusCode::PARTIAL_CONTENT, head, told, part).into_response());
        }
        let download = (CONTENT_DISPOSITION, "attachment; filename=\"blob.bin\"");
        let media_type = (CONTENT_TYPE, "application/octet-stream");
        Ok(([media_type, kept, download], bytes).into_response())
    })
    .await
}

/// The first and the last byte of the one part that is asked for; `None` for everything else, which is answered whole.
fn part(range: &str, len: usize) -> Option<(usize, usize)> {
    let (from, to) = range.strip_prefix("bytes=")?.split_once('-')?;
    let last = len.checked_sub(1)?;
    let (from, to) = if from.is_empty() {
        let count: usize = to.parse().ok().filter(|count| *count > 0)?;
        (len.saturating_sub(count), last)
    } else if to.is_empty() {
        (from.parse().ok()?, last)
    } else {
        (from.parse().ok()?, to.parse::<usize>().ok()?.min(last))
    };
    (from <= to).then_some((from, to))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_what_was_asked_for() {
        assert_eq!(part("bytes=0-", 10), Some((0, 9)));
        assert_eq!(part("bytes=2-4", 10), Some((2, 4)));
        assert_eq!(part("bytes=2-99", 10), Some((2, 9)));
        assert_eq!(part("bytes=-3", 10), Some((7, 9)));
        for odd in [
            "bytes=10-",
            "bytes=4-2",
            "bytes=-0",
            "bytes=0-1,3-4",
            "x",
            "bytes=a-b",
            "bytes=-",
        ] {
            assert_eq!(part(odd, 10), None, "{odd}");
        }
        assert_eq!(part("bytes=0-", 0), None);
    }
}
