//! Pictures and sound of a record in the types of the API; their bytes are fetched as blobs.

use trainscope_api::records::{Audio, Blob, Images};
use trainscope_format::{Body, Stretch};

use crate::index::{IndexedRecord, ReadError};

/// Images of a record; they are fetched as blobs.
#[expect(
    clippy::needless_pass_by_value,
    clippy::unnecessary_wraps,
    reason = "the signature is that of all that describe records"
)]
pub(crate) fn images(found: IndexedRecord) -> Result<Option<Images>, ReadError> {
    let Body::Images(body) = &found.body else {
        return Ok(None);
    };
    let items = body.items.iter().map(|stretch| blob(&found, *stretch));
    Ok(Some(Images {
        width: body.width,
        height: body.height,
        channels: body.channels,
        encoding: body.encoding,
        items: items.collect(),
    }))
}

/// Clips of a record; they are fetched as blobs.
#[expect(
    clippy::needless_pass_by_value,
    clippy::unnecessary_wraps,
    reason = "the signature is that of all that describe records"
)]
pub(crate) fn audio(found: IndexedRecord) -> Result<Option<Audio>, ReadError> {
    let Body::Audio(body) = &found.body else {
        return Ok(None);
    };
    let items = body.items.iter().map(|stretch| blob(&found, *stretch));
    Ok(Some(Audio {
        sample_rate_hz: body.sample_rate_hz,
        channels: body.channels,
        frames: body.frames,
        content_type: body.content_type.clone(),
        labels: body.labels.clone(),
        items: items.collect(),
    }))
}

/// The address and length of bytes of a record.
pub(crate) fn blob(found: &IndexedRecord, stretch: Stretch) -> Blob {
    Blob {
        id: found.blob_id(stretch),
        len_bytes: stretch.len_bytes,
    }
}
