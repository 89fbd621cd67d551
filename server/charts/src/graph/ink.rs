//! The colours of graphs outside of a page: those of its design tokens.

use super::Ink;
use crate::theme::{Rgb, Theme};

/// `0xrrggbb` as a colour.
const fn rgb(number: u32) -> Rgb {
    let [_, red, green, blue] = number.to_be_bytes();
    Rgb(red, green, blue)
}

impl Ink {
    /// The light theme.
    pub fn light() -> Self {
        let theme = Theme::light();
        let series = [
            0x0047_47d8,
            0x00b2_540d,
            0x0001_4c49,
            0x00f0_52af,
            0x00be_8b06,
            0x0010_98dd,
            0x0034_017f,
            0x0058_8f6e,
            0x0059_1204,
            0x006c_6e7e,
        ];
        Self {
            bg: rgb(0x00f5_f6f8),
            surface: theme.surface,
            surface_2: rgb(0x00f0_f2f5),
            surface_3: rgb(0x00e4_e8ee),
            line_2: theme.base,
            edge: rgb(0x008b_94a2),
            ink: theme.ink,
            ink_2: theme.ink_2,
            ink_3: theme.ink_3,
            accent: theme.accent,
            accent_wash: rgb(0x00e8_f0fc),
            error: theme.error,
            error_wash: rgb(0x00fc_ebec),
            error_line: rgb(0x00ef_bfc3),
            warning: rgb(0x008a_5300),
            warning_wash: rgb(0x00fd_f3e0),
            warning_line: rgb(0x00ec_d3a2),
            ok: rgb(0x001a_7044),
            ok_wash: rgb(0x00e6_f4ec),
            ok_line: rgb(0x00b2_d9c3),
            time: rgb(0x003a_6dc4),
            series: series.map(rgb).to_vec(),
            font: theme.font,
        }
    }

    /// The dark theme.
    pub fn dark() -> Self {
        let theme = Theme::dark();
        let series = [
            0x0062_7cf7,
            0x00fa_6d18,
            0x0037_b491,
            0x00fa_8de4,
            0x00f7_e960,
            0x00a4_e5fb,
            0x009c_5bc3,
            0x009d_ca44,
            0x00aa_5a2d,
            0x007a_7f86,
        ];
        Self {
            bg: rgb(0x000d_1013),
            surface: theme.surface,
            surface_2: rgb(0x001a_1f25),
            surface_3: rgb(0x0026_2d35),
            line_2: theme.base,
            edge: rgb(0x0061_6d7c),
            ink: theme.ink,
            ink_2: theme.ink_2,
            ink_3: theme.ink_3,
            accent: theme.accent,
            accent_wash: rgb(0x0016_263d),
            error: theme.error,
            error_wash: rgb(0x0034_171b),
            error_line: rgb(0x006d_2c34),
            warning: rgb(0x00ef_b24d),
            warning_wash: rgb(0x002d_2310),
            warning_line: rgb(0x005f_4a1d),
            ok: rgb(0x005c_c690),
            ok_wash: rgb(0x0011_291e),
            ok_line: rgb(0x0023_5a40),
            time: rgb(0x005b_8fdf),
            series: series.map(rgb).to_vec(),
            font: theme.font,
        }
    }
}
