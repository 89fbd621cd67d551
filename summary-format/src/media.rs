//! Pictures and sound, which stay in their file.

use serde::{Deserialize, Serialize};

use crate::float;

use crate::stretch::Stretch;

/// How a picture is encoded, by its first bytes.
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
    /// None of these: not to be shown.
    #[default]
    Unknown,
}

impl ImageEncoding {
    /// Recognises the first bytes of a picture; 12 are enough.
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

    /// The media type to serve such a picture with; unknown ones are plain bytes.
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

/// Encoded pictures of one step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Images {
    /// Pixels from left to right, as the writer says; the pictures may differ. 0 if it does not say.
    pub width: u32,
    /// Pixels from top to bottom, as the writer says.
    pub height: u32,
    /// Channels as the writer says (1 grey, 3 RGB, 4 with transparency, …); 0 if it does not say.
    pub channels: u32,
    /// How the first picture is encoded.
    pub encoding: ImageEncoding,
    /// The encoded pictures in their order.
    pub items: Vec<Stretch>,
}

/// Encoded sound of one step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Audio {
    /// Frames a second of the first item: as the writer says, else by the header of a WAV file.
    #[serde(with = "float::option")]
    pub sample_rate_hz: Option<f64>,
    /// Channels of the first item, found alike.
    pub channels: Option<u32>,
    /// Samples per channel of the first item, found alike.
    pub frames: Option<u64>,
    /// The media type as the writer says, `audio/wav` where it says nothing.
    pub content_type: String,
    /// A label for each item, usually markdown; empty where the format has none.
    pub labels: Vec<String>,
    /// The encoded sounds in their order.
    pub items: Vec<Stretch>,
}
