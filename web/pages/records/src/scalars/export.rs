//! Downloads of one card or of all: every recorded point as CSV or JSON, the pictures as SVG or PNG.

use std::sync::Arc;

use leptos::task::spawn_local;
use trainscope_api::scalars::MAX_POINTS;
use trainscope_charts::svg::{self, Card};

use super::choices::{ScaleChoice, XChoice};
use super::data::{CardLines, Want};
use super::drawing::{Pens, figure_of, picture_of, whole_range};
use super::page::PageState;
use trainscope_web_kit::client;
use trainscope_web_kit::components::download::{download, download_png, file_name};
use trainscope_web_kit::i18n::I18n;
use trainscope_web_kit::prelude::*;

mod text;

/// Maximum number of pictures in one file.
pub(super) const MAX_PICTURES: usize = 200;
/// Size of a picture in CSS pixels.
const PICTURE: (f64, f64) = (640.0, 360.0);
/// Number of columns in a file of several pictures.
const COLUMNS: usize = 3;

/// Format of a download.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// Points, one row each.
    Csv,
    /// Points, one list per series.
    Json,
    Png,
    Svg,
}

impl Format {
    fn extension(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Json => "json",
            Self::Png => "png",
            Self::Svg => "svg",
        }
    }

    fn is_picture(self) -> bool {
        matches!(self, Self::Png | Self::Svg)
    }
}

/// Downloads these tags as one file. Requests are sequential, which keeps the server and this page responsive.
pub(super) fn save(page: PageState, pens: Pens, i18n: I18n, mut tags: Vec<String>, format: Format) {
    if format.is_picture() {
        tags.truncate(MAX_PICTURES);
    }
    let name = match tags.as_slice() {
        [] => return,
        [only] => file_name(only),
        _ => untrack(|| file_name(&page.settings.page_run.get())),
    };
    let name = format!("{name}.{}", format.extension());
    spawn_local(async move {
        let mut points = text::Points::new(format);
        let mut cards = Vec::new();
        let all = tags.len();
        for (done, tag) in tags.iter().enumerate() {
            // `Some` returns the value: the page was left.
            if page
                .saving
                .try_set((all > 1).then_some((done, all)))
                .is_some()
            {
                return;
            }
            let Some(want) = untrack(|| want(page, tag, format)) else {
                continue;
            };
            let Ok(answer) = client::scalars_many(&want.request(tag)).await else {
                continue;
            };
            let loaded = CardLines::new(&want, answer.series);
            if !format.is_picture() {
                points.add(tag, &loaded);
            } else if page.saving.try_get_untracked().is_some() {
                cards.push(untrack(|| card(page, pens, i18n, tag, loaded)));
            }
        }
        if page.saving.try_set(None).is_some() {
            return;
        }
        let theme = pens.palette.with_untracked(|palette| palette.theme.clone());
        match format {
            Format::Csv => download(&points.finish(), "text/csv;charset=utf-8", &name),
            Format::Json => download(&points.finish(), "application/json", &name),
            Format::Svg => download(&svg::sheet(&cards, COLUMNS, &theme), "image/svg+xml", &name),
            Format::Png => download_png(&svg::sheet(&cards, COLUMNS, &theme), name),
        }
    });
}

/// Request for all points of a tag in the shown range; fewer for a picture.
fn want(page: PageState, tag: &str, format: Format) -> Option<Want> {
    let settings = page.settings;
    let x = settings.x_of(tag);
    let range = page.zoom.range(tag);
    let steps = range.filter(|_| x == XChoice::Step);
    let whole = |bound: f64| format!("{bound:.0}").parse::<i64>().ok();
    let is_picture = format.is_picture();
    // Lines continue beyond the edges of a picture: their next points are requested too.
    let margin = i64::from(is_picture);
    Some(Want {
        series: page.entry(tag)?.series,
        from: steps
            .and_then(|(lo, _)| whole(lo.floor()))
            .map(|step| step.saturating_sub(margin)),
        to: steps
            .and_then(|(_, hi)| whole(hi.ceil()))
            .map(|step| step.saturating_add(margin)),
        points: if is_picture { 2_048 } else { MAX_POINTS },
        superseded: settings.has_superseded.get(),
        wall_times: !is_picture || matches!(x, XChoice::Relative | XChoice::Wall),
        x_tag: is_picture.then(|| settings.x_tag.get()).flatten(),
    })
}

fn card(page: PageState, pens: Pens, i18n: I18n, tag: &str, loaded: CardLines) -> Card {
    let zoomed = page.zoom.range(tag);
    let picture = picture_of(page, pens, tag, Arc::new(loaded), None, zoomed);
    let range = zoomed.unwrap_or_else(|| whole_range(page, tag, &picture));
    let legend = picture.loaded.curves.iter().zip(picture.lines.iter());
    Card {
        title: tag.to_owned(),
        note: note(page, tag, i18n),
        legend: legend
            .map(|(curve, line)| (line.colour, curve.label()))
            .collect(),
        spec: figure_of(page, tag, &picture, range).spec((PICTURE.0, PICTURE.1, 1.0)),
    }
}

/// The line below the title of a picture: axes with scales other than linear, smoothing.
fn note(page: PageState, tag: &str, i18n: I18n) -> String {
    let texts = i18n.texts().scalars();
    let settings = page.settings;
    let scaled = |name: &str, scale: ScaleChoice| match scale {
        ScaleChoice::Linear => name.to_owned(),
        ScaleChoice::Log => format!("{name} ({})", texts.log),
        ScaleChoice::Symlog => format!("{name} ({})", texts.symlog),
    };
    let x = match settings.x_of(tag) {
        XChoice::Step => texts.step.to_owned(),
        XChoice::Relative => texts.relative.to_owned(),
        XChoice::Wall => texts.wall.to_owned(),
        XChoice::Tag => settings.x_tag.get().unwrap_or_default(),
    };
    let mut parts = vec![
        format!("{}: {}", texts.x_axis, scaled(&x, settings.x_scale.get())),
        format!("{}: {}", texts.y_axis, scaled(tag, page.y_scale(tag))),
    ];
    let weight = settings.smoothing.get();
    if weight > 0.0 {
        parts.push(format!("{} {weight:.2}", texts.smoothing));
    }
    parts.join(" · ")
}
