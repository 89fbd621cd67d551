//! The colours and the font of a plot, as the page's design tokens have them.

/// A colour of the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rgb(pub u8, pub u8, pub u8);

impl Rgb {
    /// Reads `#rrggbb` or `#rgb`, spaces around it allowed; `None` for anything else.
    pub fn from_hex(text: &str) -> Option<Self> {
        let digits = text.trim().strip_prefix('#')?;
        if !digits.is_ascii() {
            return None;
        }
        let channel = |at: usize, len: usize| {
            let value = u8::from_str_radix(digits.get(at..at + len)?, 16).ok()?;
            Some(if len == 1 { value * 17 } else { value })
        };
        match digits.len() {
            3 => Some(Self(channel(0, 1)?, channel(1, 1)?, channel(2, 1)?)),
            6 => Some(Self(channel(0, 2)?, channel(2, 2)?, channel(4, 2)?)),
            _ => None,
        }
    }
}

/// What a plot takes from the theme of the page.
#[derive(Clone, Debug, PartialEq)]
pub struct Theme {
    /// Ground of the card.
    pub surface: Rgb,
    /// Grid lines.
    pub grid: Rgb,
    /// Base line and ticks.
    pub base: Rgb,
    /// Text of the first rank.
    pub ink: Rgb,
    /// Crosshair.
    pub ink_2: Rgb,
    /// Axis labels.
    pub ink_3: Rgb,
    /// Ground of the step's pill.
    pub solid: Rgb,
    /// Text on it.
    pub on_solid: Rgb,
    /// Selection.
    pub accent: Rgb,
    /// NaN.
    pub nan: Rgb,
    /// ±Inf.
    pub inf: Rgb,
    /// What is beyond a limit.
    pub error: Rgb,
    /// Opacity of a min–max envelope.
    pub envelope_alpha: f64,
    /// Font families, as CSS has them.
    pub font: String,
}

/// Size of axis labels, CSS pixels.
pub(crate) const FONT_SIZE: f64 = 11.0;

impl Theme {
    /// The light theme, for plots outside of a page.
    pub fn light() -> Self {
        Self {
            surface: Rgb(0xff, 0xff, 0xff),
            grid: Rgb(0xec, 0xee, 0xf2),
            base: Rgb(0xc7, 0xcd, 0xd6),
            ink: Rgb(0x14, 0x18, 0x1d),
            ink_2: Rgb(0x43, 0x4b, 0x57),
            ink_3: Rgb(0x5f, 0x68, 0x75),
            solid: Rgb(0x1d, 0x23, 0x2b),
            on_solid: Rgb(0xff, 0xff, 0xff),
            accent: Rgb(0x15, 0x60, 0xc0),
            nan: Rgb(0xb3, 0x12, 0x3f),
            inf: Rgb(0xad, 0x4c, 0x06),
            error: Rgb(0xb8, 0x20, 0x2f),
            envelope_alpha: 0.16,
            font: "sans-serif".to_owned(),
        }
    }

    /// The dark theme, for plots outside of a page.
    pub fn dark() -> Self {
        Self {
            surface: Rgb(0x13, 0x17, 0x1b),
            grid: Rgb(0x1f, 0x25, 0x2c),
            base: Rgb(0x3b, 0x44, 0x4f),
            ink: Rgb(0xe9, 0xec, 0xf0),
            ink_2: Rgb(0xb6, 0xbe, 0xc9),
            ink_3: Rgb(0x8e, 0x98, 0xa6),
            solid: Rgb(0xe6, 0xe9, 0xee),
            on_solid: Rgb(0x14, 0x18, 0x1d),
            accent: Rgb(0x7d, 0xb2, 0xff),
            nan: Rgb(0xff, 0x5d, 0x86),
            inf: Rgb(0xff, 0xab, 0x57),
            error: Rgb(0xff, 0x7d, 0x85),
            envelope_alpha: 0.24,
            font: "sans-serif".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Rgb;

    #[test]
    fn hex_colours_are_read_and_nothing_else() {
        assert_eq!(Rgb::from_hex(" #4747d8 "), Some(Rgb(0x47, 0x47, 0xd8)));
        assert_eq!(Rgb::from_hex("#fff"), Some(Rgb(255, 255, 255)));
        assert_eq!(Rgb::from_hex("red"), None);
        assert_eq!(Rgb::from_hex("#é12"), None);
        assert_eq!(Rgb::from_hex(""), None);
    }
}
