//! The colours and the font of a plot, as the page's design tokens have them.

/// A colour of the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rgb(pub u8, pub u8, pub u8);

impl Rgb {
    /// Parses `#rrggbb` or `#rgb`, spaces around it allowed; `None` for anything else.
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

impl Rgb {
    /// This colour with a share of another one, 0 to 1.
    #[must_use]
    pub fn mixed(self, other: Self, part: f64) -> Self {
        let mix = |this: u8, other: u8| {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "between two bytes; NaN becomes 0"
            )]
            let mixed =
                (f64::from(this) + (f64::from(other) - f64::from(this)) * part).round() as u8;
            mixed
        };
        Self(
            mix(self.0, other.0),
            mix(self.1, other.1),
            mix(self.2, other.2),
        )
    }
}

/// The colour at a share of a list of at least two colours, mixed from its neighbours.
fn between(colours: &[Rgb], share: f64) -> Rgb {
    let last = colours.len() - 1;
    let at = share.clamp(0.0, 1.0) * last as f64;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and the number of colours; NaN becomes 0"
    )]
    let below = (at.floor() as usize).min(last.saturating_sub(1));
    colours[below].mixed(colours[below + 1], at - below as f64)
}

/// Colours and font of a plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Theme {
    /// Background of the card.
    pub surface: Rgb,
    /// Grid lines.
    pub grid: Rgb,
    /// Base line and ticks.
    pub base: Rgb,
    /// Primary text.
    pub ink: Rgb,
    /// Crosshair.
    pub ink_2: Rgb,
    /// Axis labels.
    pub ink_3: Rgb,
    /// Background of the step's pill.
    pub solid: Rgb,
    /// Text on it.
    pub on_solid: Rgb,
    /// Selection.
    pub accent: Rgb,
    /// NaN.
    pub nan: Rgb,
    /// ±∞.
    pub inf: Rgb,
    /// Values beyond a limit.
    pub error: Rgb,
    /// Outliers and waiting.
    pub warning: Rgb,
    /// Neutral marks: bars of counts.
    pub edge: Rgb,
    /// Kinds of time: compute, communication, copy, data, host, idle.
    pub times: [Rgb; 6],
    /// Text on a kind of time other than idle.
    pub on_time: Rgb,
    /// Sequential colours, from low to high magnitude.
    pub sequence: [Rgb; 10],
    /// Diverging colours, from the lowest to the highest value, equality in the middle.
    pub diverging: [Rgb; 9],
    /// Opacity of a min–max envelope.
    pub envelope_alpha: f64,
    /// Font families, as CSS has them.
    pub font: String,
}

/// Size of axis labels, CSS pixels.
pub(crate) const FONT_SIZE: f64 = 11.0;

impl Theme {
    /// The colour of a magnitude from 0 to 1.
    pub fn sequence(&self, magnitude: f64) -> Rgb {
        between(&self.sequence, magnitude)
    }

    /// The colour of a signed value from −1 to 1.
    pub fn diverging(&self, value: f64) -> Rgb {
        between(&self.diverging, 0.5 + value / 2.0)
    }

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
            warning: Rgb(0x8a, 0x53, 0x00),
            edge: Rgb(0x8b, 0x94, 0xa2),
            times: [
                Rgb(0x3a, 0x6d, 0xc4),
                Rgb(0x9c, 0x5c, 0x1c),
                Rgb(0x7c, 0x5c, 0xb2),
                Rgb(0x5a, 0x7a, 0x2c),
                Rgb(0x47, 0x75, 0x7c),
                Rgb(0xdd, 0xe1, 0xe7),
            ],
            on_time: Rgb(0xff, 0xff, 0xff),
            diverging: [
                Rgb(0x04, 0x5c, 0xb2),
                Rgb(0x3c, 0x75, 0xbe),
                Rgb(0x7f, 0xa9, 0xdf),
                Rgb(0xb6, 0xcf, 0xf0),
                Rgb(0xf4, 0xf4, 0xf3),
                Rgb(0xea, 0xc4, 0xaf),
                Rgb(0xd5, 0x95, 0x71),
                Rgb(0xb2, 0x5e, 0x2b),
                Rgb(0x93, 0x44, 0x06),
            ],
            sequence: [
                Rgb(0xf4, 0xf7, 0xf9),
                Rgb(0xd9, 0xee, 0xf1),
                Rgb(0xab, 0xdd, 0xe8),
                Rgb(0x76, 0xc6, 0xdd),
                Rgb(0x43, 0xab, 0xd2),
                Rgb(0x21, 0x90, 0xc4),
                Rgb(0x15, 0x74, 0xb0),
                Rgb(0x1a, 0x57, 0x98),
                Rgb(0x1d, 0x3f, 0x7d),
                Rgb(0x1b, 0x29, 0x5a),
            ],
            envelope_alpha: 0.16,
            font: "sans-serif".to_owned(),
        }
    }

    /// The lighter one of surface and ink: a path of any colour contrasts with it on maps of both themes.
    pub fn halo(&self) -> Rgb {
        let light = |colour: Rgb| u32::from(colour.0) + u32::from(colour.1) + u32::from(colour.2);
        if light(self.surface) < light(self.ink) {
            self.ink
        } else {
            self.surface
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
            warning: Rgb(0xef, 0xb2, 0x4d),
            edge: Rgb(0x61, 0x6d, 0x7c),
            times: [
                Rgb(0x5b, 0x8f, 0xdf),
                Rgb(0xd0, 0x8a, 0x43),
                Rgb(0xa6, 0x8b, 0xd8),
                Rgb(0x86, 0xad, 0x54),
                Rgb(0x74, 0xa8, 0xae),
                Rgb(0x2a, 0x31, 0x3a),
            ],
            on_time: Rgb(0x0d, 0x10, 0x13),
            diverging: [
                Rgb(0x7d, 0xbd, 0xfe),
                Rgb(0x52, 0x94, 0xd5),
                Rgb(0x3d, 0x6a, 0x9c),
                Rgb(0x2b, 0x46, 0x60),
                Rgb(0x22, 0x27, 0x2d),
                Rgb(0x56, 0x3b, 0x28),
                Rgb(0x8a, 0x59, 0x31),
                Rgb(0xc5, 0x7b, 0x3e),
                Rgb(0xfe, 0x9d, 0x4a),
            ],
            sequence: [
                Rgb(0x17, 0x1c, 0x22),
                Rgb(0x1b, 0x2a, 0x3b),
                Rgb(0x1d, 0x3f, 0x5e),
                Rgb(0x18, 0x56, 0x7d),
                Rgb(0x0f, 0x71, 0x96),
                Rgb(0x12, 0x8e, 0xae),
                Rgb(0x24, 0xab, 0xc1),
                Rgb(0x57, 0xc7, 0xd1),
                Rgb(0x8a, 0xdf, 0xe0),
                Rgb(0xbd, 0xf7, 0xef),
            ],
            envelope_alpha: 0.24,
            font: "sans-serif".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Rgb, Theme};

    #[test]
    fn a_path_stands_out_in_the_lighter_colour_of_its_theme() {
        assert_eq!(Theme::light().halo(), Theme::light().surface);
        assert_eq!(Theme::dark().halo(), Theme::dark().ink);
    }

    #[test]
    fn hex_colours_are_read_and_nothing_else() {
        assert_eq!(Rgb::from_hex(" #4747d8 "), Some(Rgb(0x47, 0x47, 0xd8)));
        assert_eq!(Rgb::from_hex("#fff"), Some(Rgb(255, 255, 255)));
        assert_eq!(Rgb::from_hex("red"), None);
        assert_eq!(Rgb::from_hex("#é12"), None);
        assert_eq!(Rgb::from_hex(""), None);
    }
}
