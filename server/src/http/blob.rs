//! `/api/blob`: the bytes of an image, a clip or a tensor, read from the source file.

use axum::body::Body;
use axum::extract::State;
use axum::http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE,
    RANGE,
};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use trainscope_api::error::ErrorCode;
use trainscope_api::records::BlobQuery;
use trainscope_format::ImageEncoding;

use super::error::Failure;
use super::request::Params;
use super::stream::{self, PIECE_BYTES};
use super::{Site, blocking};
use crate::index::Blob;

/// Number of bytes at the front for detecting the media type.
const HEAD_BYTES: u64 = 16;

/// The bytes of an image, a clip or a tensor
#[cfg_attr(test, utoipa::path(
    get, path = "/api/blob", operation_id = "blob", params(BlobQuery),
    responses(
        (
            status = 200,
            description = "The bytes as recorded. The media type follows from their content; anything but an image \
                           or audio is a download.",
            content_type = "application/octet-stream",
            body = Bytes,
        )
    )
))]
pub(super) async fn get(
    State(site): State<Site>,
    Params(query): Params<BlobQuery>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let (blob, head) = blocking(move || {
        let blob = site.index.open_blob(&query.id)?;
        let head = read(&blob, 0, blob.len_bytes().min(HEAD_BYTES));
        let head = head.map_err(|error| Failure::new(ErrorCode::SourceUnreadable, error))?;
        Ok((blob, head))
    })
    .await?;
    let len = blob.len_bytes();
    // The content of an id never changes.
    let kept = (CACHE_CONTROL, "private, max-age=31536000, immutable");
    let Some(media_type) = media_type(&head) else {
        let download = (CONTENT_DISPOSITION, "attachment; filename=\"blob.bin\"");
        let media_type = (CONTENT_TYPE, "application/octet-stream");
        let length = [(CONTENT_LENGTH, len.to_string())];
        let body = part_of(blob, 0, len).await?;
        return Ok(([media_type, kept, download], length, body).into_response());
    };
    let head = [(CONTENT_TYPE, media_type), kept, (ACCEPT_RANGES, "bytes")];
    let wanted = headers.get(RANGE).and_then(|range| range.to_str().ok());
    // Players can seek in a clip only with range requests.
    let Some((from, to)) = wanted.and_then(|range| part(range, len)) else {
        let length = [(CONTENT_LENGTH, len.to_string())];
        return Ok((head, length, part_of(blob, 0, len).await?).into_response());
    };
    let body = part_of(blob, from, to + 1).await?;
    let told = [
        (CONTENT_RANGE, format!("bytes {from}-{to}/{len}")),
        (CONTENT_LENGTH, (to + 1 - from).to_string()),
    ];
    Ok((StatusCode::PARTIAL_CONTENT, head, told, body).into_response())
}

/// Part of a blob as a body: a short one at once, others piece by piece.
async fn part_of(blob: Blob, from: u64, end: u64) -> Result<Body, Failure> {
    let pieces = (from..end).step_by(PIECE_BYTES);
    let piece = move |blob: &Blob, at: u64| read(blob, at, end.min(at + PIECE_BYTES as u64));
    if pieces.clone().count() <= 1 {
        let bytes = blocking(move || {
            piece(&blob, from).map_err(|error| Failure::new(ErrorCode::SourceUnreadable, error))
        });
        return Ok(bytes.await?.into());
    }
    stream::body(move |sink| {
        for at in pieces {
            if !sink(piece(&blob, at)?) {
                break;
            }
        }
        Ok::<(), String>(())
    })
    .await
}

/// The bytes `from..end` of a blob.
fn read(blob: &Blob, from: u64, end: u64) -> Result<Vec<u8>, String> {
    let mut bytes = crate::files::buffer(end - from).map_err(|error| error.to_string())?;
    blob.read_at(from, &mut bytes)
        .map_err(|error| format!("the file cannot be read: {error}"))?;
    Ok(bytes)
}

/// First and last byte of a single requested range; `None` for anything else, which is answered with the whole blob.
fn part(range: &str, len: u64) -> Option<(u64, u64)> {
    let (from, to) = range.strip_prefix("bytes=")?.split_once('-')?;
    let last = len.checked_sub(1)?;
    let (from, to) = if from.is_empty() {
        let count: u64 = to.parse().ok().filter(|count| *count > 0)?;
        (len.saturating_sub(count), last)
    } else if to.is_empty() {
        (from.parse().ok()?, last)
    } else {
        (from.parse().ok()?, to.parse::<u64>().ok()?.min(last))
    };
    (from <= to).then_some((from, to))
}

/// Media type for a browser: never one with scripts (SVG, HTML), regardless of the declared type.
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
#[cfg(test)]
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
