//! References to images and audio in their file.

use serde::{Deserialize, Serialize};

use crate::float;

use crate::stretch::Stretch;

/// Encoding of an image, detected by its first bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ImageEncoding {
    /// Portable network graphics.
    Png,
    /// JPEG.
    Jpeg,
    /// GIF; videos are written as animated ones.
    Gif,
    /// Windows bitmap.
    Bmp,
    /// WebP.
    Webp,
    /// Any other encoding: not displayed.
    #[default]
    Unknown,
}

impl ImageEncoding {
    /// Detects the encoding from the first bytes of an image; 12 are enough.
    pub fn sniff(bytes: &[u8]) -> Self {
        match bytes {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Self::Png,
            [0xff, 0xd8, 0xff, ..] => Self::Jpeg,
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Self::Gif,
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
                b'E',
                b'B',
                b'P',
                ..,
            ] => Self::Webp,
            [b'B', b'M', ..] => Self::Bmp,
            _ => Self::Unknown,
        }
    }

    /// The media type for serving such an image; plain bytes if unknown.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Bmp => "image/bmp",
            Self::Webp => "image/webp",
            Self::Unknown => "application/octet-stream",
        }
    }
}

/// Encoded images of one step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Images {
    /// Width in pixels as declared by the writer; the images may differ. 0 if not declared.
    pub width: u32,
    /// Height in pixels as declared by the writer.
    pub height: u32,
    /// Channels as declared by the writer (1 grey, 3 RGB, 4 with transparency, …); 0 if not declared.
    pub channels: u32,
    /// Encoding of the first image.
    pub encoding: ImageEncoding,
    /// The encoded images in order.
    pub items: Vec<Stretch>,
}

/// Encoded audio of one step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Audio {
    /// Frames per second of the first item: as declared by the writer, else from the header of a WAV file.
    #[serde(with = "float::option")]
    pub sample_rate_hz: Option<f64>,
    /// Channels of the first item, from the same sources.
    pub channels: Option<u32>,
    /// Samples per channel of the first item, from the same sources.
    pub frames: Option<u64>,
    /// The media type as declared by the writer, else `audio/wav`.
    pub content_type: String,
    /// Labels of the items, usually markdown; empty if the format has none.
    pub labels: Vec<String>,
    /// The encoded clips in order.
    pub items: Vec<Stretch>,
}
