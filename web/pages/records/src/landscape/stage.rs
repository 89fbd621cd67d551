//! The large part of the page: the map or the surface, or a tile for each run.

use std::sync::Arc;

use trainscope_analysis::landscape::Point;
use trainscope_charts::contour::Map;
use trainscope_charts::surface::Relief;
use trainscope_charts::theme::Rgb;
use trainscope_format::digits::brief;

use super::drawing::{self, Look, extent, is_same_plane};
use super::load::LandscapeView;
use super::model::{Model, use_model};
use trainscope_web_kit::components::{MapChart, ReliefChart, RunChip, use_palette};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::run_colour::use_run_colours;
use trainscope_web_kit::state::use_app_state;

/// Runs that are drawn in one plane, which is that of the first.
type Plane = Vec<(String, Arc<LandscapeView>)>;

/// The runs of the page by plane, in their order.
fn planes(model: &Model) -> Vec<Plane> {
    let mut planes: Vec<Plane> = Vec::new();
    for (run, view) in model.shown.get() {
        let plane = planes.iter_mut().find(|plane| {
            let first = plane.first();
            first.is_some_and(|(_, first)| is_same_plane(&first.landscape, &view.landscape))
        });
        match plane {
            Some(plane) => plane.push((run, view)),
            None => planes.push(vec![(run, view)]),
        }
    }
    planes
}

/// Draws with the colours of the runs; reactive.
fn with_colours<T>(
    plane: &Plane,
    of: impl FnOnce(&LandscapeView, &[(Rgb, &LandscapeView)]) -> T,
) -> Option<T> {
    let (palette, colours) = (use_palette().get(), use_run_colours());
    let (_, view) = plane.first()?;
    let paths = plane
        .iter()
        .map(|(run, view)| (palette.run(colours.get(run)), &**view));
    Some(of(view, &paths.collect::<Vec<_>>()))
}

/// Choices that all pictures share; reactive.
fn look(model: &Model) -> Look {
    Look {
        range: model.range.get(),
        scale: model.scale.get(),
        is_equal: model.is_equal.get(),
        has_lines: model.has_lines.get(),
    }
}

/// The map of the first plane; reactive.
pub(super) fn own_map(model: &Model) -> Map {
    let texts = use_i18n().texts().landscape();
    let planes = planes(model);
    let (look, mark) = (look(model), model.at.get());
    let drawn = planes.first().and_then(|plane| {
        with_colours(plane, |view, paths| {
            drawing::map(view, paths, look, mark, texts)
        })
    });
    drawn.unwrap_or_default()
}

/// The perspective view of the first plane; reactive.
pub(super) fn own_relief(model: &Model) -> Relief {
    let planes = planes(model);
    let (look, eye) = (look(model), model.eye.get());
    let drawn = planes.first().and_then(|plane| {
        with_colours(plane, |view, paths| drawing::relief(view, paths, look, eye))
    });
    drawn.unwrap_or_default()
}

/// Text alternative of the map; reactive.
fn picture(model: &Model, view: &LandscapeView) -> String {
    let texts = use_i18n().texts().landscape();
    let points = (texts.points)(view.surface.x().len(), view.surface.y().len());
    let range = model.range.get();
    let range = range.map_or_else(
        || "NaN".to_owned(),
        |(low, high)| format!("{} – {}", brief(low), brief(high)),
    );
    (texts.picture)(&points, &range)
}

/// The map of the page's run.
#[component]
pub(super) fn MapView() -> impl IntoView {
    let model = use_model();
    let map = Memo::new(move |_| Arc::new(own_map(&model)));
    let label = Signal::derive(move || {
        model
            .landscape()
            .map_or_else(String::new, |view| picture(&model, &view))
    });
    view! { <MapChart map label on_press=move |at: Point| model.read(at) /> }
}

/// The surface of the page's run.
#[component]
pub(super) fn SurfaceView() -> impl IntoView {
    let model = use_model();
    let relief = Memo::new(move |_| Arc::new(own_relief(&model)));
    let label = use_i18n().label(|t| t.landscape().surface);
    view! { <ReliefChart relief label on_drag=move |by| model.drag(by) /> }
}

/// The large picture.
#[component]
pub(super) fn Stage() -> impl IntoView {
    let model = use_model();
    let tiles = Memo::new(move |_| planes(&model).len());
    let content = move || {
        if model.is_surface.get() {
            view! { <SurfaceView /> }.into_any()
        } else if tiles.get() > 1 {
            view! { <Tiles /> }.into_any()
        } else {
            view! { <MapView /> }.into_any()
        }
    };
    view! {
        <div class="stage" data-view=move || if model.is_surface.get() { "surface" } else { "map" }>
            {content}
            <ReadOut />
        </div>
    }
}

/// A map for each plane, with common colours and a common range.
#[component]
fn Tiles() -> impl IntoView {
    let model = use_model();
    let state = use_app_state();
    let i18n = use_i18n();
    let tiles = move || {
        let planes = planes(&model);
        let extents = planes
            .iter()
            .filter_map(|plane| Some(extent(&plane.first()?.1)));
        let extent = extents.reduce(|((x0, x1), (y0, y1)), (x, y)| {
            ((x0.min(x.0), x1.max(x.1)), (y0.min(y.0), y1.max(y.1)))
        });
        let tiles = planes.into_iter().enumerate().map(|(index, plane)| {
            let heads = plane.iter().map(|(run, _)| {
                view! {
                    <span class="flex" title=run.clone()>
                        <RunChip run=run.clone() />
                        <span class="cut med">{state.short_name(run)}</span>
                    </span>
                }
            });
            let heads = heads.collect_view();
            let view = plane.first().map(|first| Arc::clone(&first.1));
            let map = Memo::new(move |_| {
                let texts = i18n.texts().landscape();
                let (look, mark) = (look(&model), model.at.get().filter(|_| index == 0));
                let drawn = with_colours(&plane, |view, paths| {
                    drawing::map(view, paths, look, mark, texts)
                });
                let mut map = drawn.unwrap_or_default();
                if let Some((x, y)) = extent {
                    (map.x, map.y) = (x, y);
                }
                Arc::new(map)
            });
            let label = Signal::derive(move || {
                view.as_ref()
                    .map_or_else(String::new, |view| picture(&model, view))
            });
            view! {
                <figure class="tile-map">
                    <figcaption class="flex small">{heads}</figcaption>
                    <MapChart
                        map
                        label
                        on_press=move |at: Point| {
                            if index == 0 {
                                model.read(at);
                            }
                        }
                    />
                </figure>
            }
        });
        tiles.collect_view()
    };
    view! { <div class="tile-maps">{tiles}</div> }
}

/// Coordinates, loss and distance from the end of the chosen point.
#[component]
fn ReadOut() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let content = move || {
        let texts = i18n.texts().landscape();
        let view = model.landscape()?;
        let Some((x, y)) = model.at.get() else {
            return Some(view! { <span class="ink3 hide-small">{texts.press}</span> }.into_any());
        };
        let loss = view.surface.at((x, y))?;
        let distance = view
            .figures
            .end
            .map(|((from, up), _)| (x - from).hypot(y - up));
        let distance = distance.map(|distance| {
            view! {
                <span>
                    <b class="med">{brief(distance)}</b>
                    " "
                    {texts.from_end}
                </span>
            }
        });
        let part = |name: &'static str, value: f64| {
            view! {
                <span>
                    <span class="ink3">{name}</span>
                    " "
                    <b class="med">{brief(value)}</b>
                </span>
            }
        };
        Some(
            view! {
                {part("x", x)}
                {part("y", y)}
                {part(texts.loss, loss)}
                {distance}
            }
            .into_any(),
        )
    };
    view! {
        <p class="reading micro" role="status" hidden=move || model.is_surface.get()>
            {content}
        </p>
    }
}
