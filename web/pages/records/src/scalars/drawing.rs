//! Conversion of answers and choices to drawings, for cards on the page and for downloads.

use std::sync::Arc;

use trainscope_api::notebook::Threshold;
use trainscope_charts::geometry::end_of;
use trainscope_charts::label;
use trainscope_charts::line::LimitLine;

use super::choices::Range;
use super::choices::XChoice;
use super::data::{CardLines, Curve, x_values};
use super::groups::grouped;
use super::limits::{self, Beyond};
use super::page::PageState;
use super::picture::{Look, Picture, class_of};
use trainscope_web_kit::components::{Figure, Palette, use_palette};
use trainscope_web_kit::i18n::{I18n, use_i18n};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::run_colour::{RunColours, use_run_colours};

/// Drawing resources from outside this page. `Copy`.
#[derive(Clone, Copy)]
pub(super) struct Pens {
    /// Colours of the theme.
    pub(super) palette: Signal<Arc<Palette>>,
    pub(super) colours: RunColours,
    /// The language.
    pub(super) i18n: I18n,
}

impl Pens {
    /// Takes them from the context; call it in a component.
    pub(super) fn get() -> Self {
        Self {
            palette: use_palette(),
            colours: use_run_colours(),
            i18n: use_i18n(),
        }
    }
}

/// The picture of a tag over a range, or over everything; reactive. `whole` is the answer without a range, if
/// available.
pub(super) fn picture_of(
    page: PageState,
    pens: Pens,
    tag: &str,
    loaded: Arc<CardLines>,
    whole: Option<Arc<CardLines>>,
    zoomed: Option<Range>,
) -> Picture {
    let settings = page.settings;
    let facts = page.facts.get();
    let palette = pens.palette.get();
    let start = |run: &str| facts.get(run).and_then(|facts| facts.start);
    let groups = page.groups.get();
    let spread = settings.spread.get();
    let group = |loaded: Arc<CardLines>| match &groups {
        None => loaded,
        Some(groups) => {
            let name_of = |run: &str| groups.get(run).cloned().unwrap_or_default();
            Arc::new(grouped(&loaded, &name_of, &start, spread))
        }
    };
    let threshold = |run: &str| page.threshold(run, tag);
    let x = settings.x_of(tag);
    let count = |only: &LimitOf<'_>| {
        let x_of = |curve: &Curve| x_values(curve, x, start(&curve.id.run));
        limits::count(&loaded, zoomed, &x_of, only)
    };
    let limits = limits_of(pens.i18n, &loaded, &threshold, &count);
    let (loaded, whole) = (group(loaded), whole.map(group));
    settings.page_run.with(|page_run| {
        let look = Look {
            x,
            smoothing: settings.smoothing.get(),
            kind: settings.smoothing_kind.get(),
            range: zoomed,
            has_band: settings.has_band.get(),
            page_run,
            colour: &|run| {
                let colour = pens.colours.get(run);
                // Dashes only if two lines of this card have the same colour.
                let has_twin = || {
                    let mut others = loaded.curves.iter().map(|curve| curve.id.run.as_str());
                    others.any(|other| {
                        let other = (other != run).then(|| pens.colours.get(other));
                        other.is_some_and(|other| other.number == colour.number)
                    })
                };
                (palette.run(colour), colour.pattern && has_twin())
            },
            paper: palette.theme.surface,
            is_live: &|run| facts.get(run).is_some_and(|facts| facts.is_live),
            start: &start,
            beyond: &|run| threshold(run).map_or_else(Vec::new, |limit| limits::beyond(&limit)),
            inf_at: pens.i18n.texts().scalars().inf_at,
        };
        Picture {
            limits,
            ..Picture::new(Arc::clone(&loaded), whole, &look)
        }
    })
}

type LimitOf<'a> = dyn Fn(&str) -> Option<Threshold> + 'a;

/// The lines of all limits of the shown runs, with the number of points in view beyond them.
fn limits_of(
    i18n: I18n,
    loaded: &CardLines,
    threshold: &LimitOf<'_>,
    count: &dyn Fn(&LimitOf<'_>) -> Beyond,
) -> Vec<LimitLine> {
    let mut all: Vec<Threshold> = Vec::new();
    for curve in &loaded.curves {
        if let Some(found) = threshold(&curve.id.run).filter(|found| !all.contains(found)) {
            all.push(found);
        }
    }
    if all.is_empty() {
        return Vec::new();
    }
    let texts = i18n.texts().scalars();
    let mut lines = Vec::new();
    for one in &all {
        let only = |run: &str| threshold(run).filter(|found| found == one);
        let beyond = count(&only);
        let text = |limit: &Threshold| {
            let words = limits::words(limit, texts.and, texts.or);
            (texts.alert)(&words, beyond.points, beyond.is_least)
        };
        lines.extend(limits::lines(&[*one], beyond.points > 0, &text));
    }
    lines
}

/// The figure of a picture over a range of x; reactive.
pub(super) fn figure_of(page: PageState, tag: &str, picture: &Picture, range: Range) -> Figure {
    let settings = page.settings;
    let x = settings.x_of(tag);
    let lines = if picture.superseded.is_empty() {
        Arc::clone(&picture.lines)
    } else {
        let all = picture.superseded.iter().chain(&*picture.lines);
        Arc::new(all.cloned().collect())
    };
    Figure {
        lines,
        x: range,
        x_kind: x.kind(),
        x_scale: settings.x_scale.get().scale(),
        scale: page.y_scale(tag).scale(),
        y_range: settings.y_range.get(),
        limits: picture.limits.clone(),
    }
}

/// The range of x that shows everything; reactive.
pub(super) fn whole_range(page: PageState, tag: &str, picture: &Picture) -> Range {
    let x = page.settings.x_of(tag);
    let is_live = picture.lines.iter().any(|line| line.is_live);
    let steps = || {
        let entry = page.entry(tag);
        entry.map_or((0.0, 1.0), |entry| page.steps_of(&entry))
    };
    let (lo, hi) = match x {
        // The list of tags of a growing run changes every few seconds. It is read only when there are new points:
        // otherwise cards without new ones would be drawn again all at once.
        XChoice::Step if is_live => untrack(steps),
        XChoice::Step => steps(),
        XChoice::Relative | XChoice::Wall | XChoice::Tag => picture.extent().unwrap_or((0.0, 1.0)),
    };
    // Points may be newer than the list of tags that the range comes from.
    let last = picture.extent().map_or(hi, |(_, last)| hi.max(last));
    if x == XChoice::Tag {
        return (lo, last);
    }
    (lo, end_of(lo, last, x.kind(), is_live))
}

/// Text of a position on the x axis.
pub(super) fn x_text(x: XChoice, at: f64) -> String {
    match x {
        XChoice::Step => label::fixed(at, 0),
        XChoice::Relative => label::duration(at, 1.0),
        XChoice::Tag => label::value(at),
        XChoice::Wall => trainscope_web_kit::format::moment(at)
            .split_once(' ')
            .map(|(_, clock)| clock.to_owned())
            .unwrap_or_default(),
    }
}

/// Accessible description of a canvas: "train/loss, 3 lines, step 0 to 3,000; fp16: NaN from 412 to 1,184".
pub(super) fn describe(
    page: PageState,
    tag: &str,
    picture: &Picture,
    (lo, hi): Range,
    i18n: I18n,
) -> String {
    let texts = i18n.texts().scalars();
    let x = page.settings.x_of(tag);
    let first = if x == XChoice::Step {
        (texts.at_step)(&x_text(x, lo))
    } else {
        x_text(x, lo)
    };
    let mut text = (texts.canvas)(tag, picture.lines.len() as u64, &first, &x_text(x, hi));
    for curve in &picture.loaded.curves {
        for stretch in picture.stretches(curve).into_iter().take(3) {
            let (_, class) = class_of(stretch.class);
            let (first, last) = (
                label::step(stretch.first_step),
                label::step(stretch.last_step),
            );
            let what = (texts.non_finite)(class, &first, &last);
            text.push_str("; ");
            text.push_str(&(texts.canvas_part)(&curve.label(), &what));
        }
    }
    for limit in picture.limits.iter().filter(|limit| !limit.text.is_empty()) {
        text.push_str("; ");
        text.push_str(&limit.text);
    }
    text
}
