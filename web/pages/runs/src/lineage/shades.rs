//! Colours of rows by the values of a column, or by their runs.

use std::sync::Arc;

use trainscope_charts::parallel::{AxisKind, Lane, Spot};
use trainscope_charts::scale::{Axis, Scale};
use trainscope_charts::theme::{Rgb, Theme};

use super::axis::axis_of;
use super::model::{BY_RUN, use_model};
use trainscope_web_kit::components::use_palette;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::run_colour::use_run_colours;

/// Start of the scale as a fraction of the sequential colours; paler ones are too close to the background.
const FROM: f64 = 0.36;

/// Colours of all rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Shades {
    pub(super) colours: Vec<Rgb>,
    /// Position on the scale, 0 to 255.
    pub(super) positions: Vec<u8>,
    /// Minimum and maximum of the scale.
    pub(super) ends: Option<(f64, f64)>,
    /// Fraction of each row between them, for bars; NaN without a place.
    pub(super) shares: Vec<f64>,
}

impl Shades {
    /// Colour at a fraction of the scale.
    pub(super) fn of_share(share: f64, theme: &Theme) -> Rgb {
        theme.sequence(FROM + (1.0 - FROM) * share)
    }
}

/// The colours, provided once by the page.
#[derive(Clone, Copy)]
struct ShadesContext(Memo<Arc<Shades>>);

/// Colours of the rows of this page.
pub(super) fn use_shades() -> Memo<Arc<Shades>> {
    expect_context::<ShadesContext>().0
}

/// Computes the colours for the page and provides them in its context.
pub(super) fn provide() {
    let model = use_model();
    let palette = use_palette();
    let run_colours = use_run_colours();
    let shades = Memo::new(move |_| {
        let (view, palette) = (model.view.get(), palette.get());
        let theme = &palette.theme;
        let key = model.colour.get();
        if key.as_deref() == Some(BY_RUN) {
            let of = |runs: &[String]| {
                let colour = runs.first().map(|run| run_colours.get(run));
                colour.map_or(theme.ink_3, |colour| palette.run(colour))
            };
            let colours: Vec<Rgb> = view.runs_of_rows().map(of).collect();
            return Arc::new(Shades {
                positions: vec![128; colours.len()],
                shares: vec![f64::NAN; colours.len()],
                ends: None,
                colours,
            });
        }
        let axis = key.and_then(|key| {
            let look = model
                .looks
                .with(|looks| looks.get(&key).copied().unwrap_or_default());
            axis_of(&view, &model.info(&key), look, "")
        });
        let Some(axis) = axis else {
            return Arc::new(Shades {
                colours: vec![theme.sequence(0.7); view.len()],
                positions: vec![128; view.len()],
                shares: vec![f64::NAN; view.len()],
                ends: None,
            });
        };
        let ends = ends(&axis.spots, &axis.kind);
        let scale = match &axis.kind {
            AxisKind::Numbers { scale, .. } => *scale,
            AxisKind::Choices(_) => Scale::Linear,
        };
        let range = ends
            .filter(|(lo, hi)| lo < hi)
            .map(|(lo, hi)| Axis::new(lo, hi, scale));
        let share = |spot: &Spot| match (spot, &axis.kind) {
            (_, kind) if Lane::of(*spot, kind).is_some() => f64::NAN,
            (Spot::Number(number), _) => {
                range.map_or(0.5, |range| range.fraction(*number).unwrap_or(0.0))
            }
            (Spot::Choice(choice), AxisKind::Choices(names)) => {
                f64::from(*choice) / (names.len().saturating_sub(1).max(1)) as f64
            }
            _ => f64::NAN,
        };
        let shares: Vec<f64> = axis.spots.iter().map(share).collect();
        let colour = |(spot, share): (&Spot, &f64)| match Lane::of(*spot, &axis.kind) {
            Some(Lane::Nan) => theme.nan,
            Some(Lane::PosInf | Lane::NegInf) => theme.inf,
            Some(_) => theme.ink_3,
            None => Shades::of_share(*share, theme),
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "from 0 to 255; NaN becomes 0"
        )]
        let position = |share: &f64| (share.clamp(0.0, 1.0) * 255.0).round() as u8;
        Arc::new(Shades {
            colours: axis.spots.iter().zip(&shares).map(colour).collect(),
            positions: shares.iter().map(position).collect(),
            ends: ends.filter(|_| matches!(axis.kind, AxisKind::Numbers { .. })),
            shares,
        })
    });
    provide_context(ShadesContext(shades));
}

/// Minimum and maximum of the numbers that an axis shows.
fn ends(spots: &[Spot], kind: &AxisKind) -> Option<(f64, f64)> {
    let shown = spots.iter().filter(|spot| Lane::of(**spot, kind).is_none());
    let numbers = shown.filter_map(|spot| match spot {
        Spot::Number(number) => Some(*number),
        _ => None,
    });
    numbers.fold(None, |ends: Option<(f64, f64)>, number| {
        let (lo, hi) = ends.unwrap_or((number, number));
        Some((lo.min(number), hi.max(number)))
    })
}
