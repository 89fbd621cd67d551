//! Downloads: the displayed picture as SVG or PNG, the surface and the path as CSV.

use trainscope_charts::svg;
use trainscope_format::csv;

use super::load::LandscapeView;
use super::model::{Model, use_model};
use super::stage::{own_map, own_relief};
use trainscope_web_kit::components::download::{download, download_png, file_name};
use trainscope_web_kit::components::{IconName, MenuItem, Popover, fixed_icon, use_palette};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

/// Size of a downloaded picture, CSS pixels.
const PICTURE: (f64, f64) = (960.0, 640.0);

/// The menu of downloads.
#[component]
pub(super) fn Downloads() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let is_open = RwSignal::new(false);
    let palette = use_palette();
    let picture = Callback::new(move |()| {
        let theme = palette.with(|palette| palette.theme.clone());
        if model.is_surface.get() {
            svg::relief(&own_relief(&model), PICTURE, &theme)
        } else {
            svg::map(&own_map(&model), PICTURE, &theme)
        }
    });
    let name = move |extension: &str| file_of(&model, extension);
    // Owner of the page: the drawing functions look up colours and texts there.
    let owner = Owner::current();
    let drawn = move || {
        let draw = || untrack(|| picture.run(()));
        owner
            .as_ref()
            .map_or_else(String::new, |owner| owner.with(draw))
    };
    let drawn = Callback::new(move |()| drawn());
    let close = move || is_open.set(false);
    view! {
        <Popover
            is_open
            label=i18n.label(|t| t.landscape().download)
            panel_class="popover card-menu"
            role="menu"
            face=ViewFn::from(|| fixed_icon(IconName::Download, 14))
        >
            <MenuItem
                icon=IconName::Download
                label=i18n.label(|t| t.landscape().files[0])
                on_press=move || {
                    download(&drawn.run(()), "image/svg+xml", &name("svg"));
                    close();
                }
            />
            <MenuItem
                icon=IconName::Download
                label=i18n.label(|t| t.landscape().files[1])
                on_press=move || {
                    download_png(&drawn.run(()), name("png"));
                    close();
                }
            />
            <MenuItem
                icon=IconName::Download
                label=i18n.label(|t| t.landscape().files[2])
                on_press=move || {
                    if let Some(view) = untrack(|| model.landscape()) {
                        download(&surface_csv(&view), "text/csv", &name("csv"));
                    }
                    close();
                }
            />
            <MenuItem
                icon=IconName::Download
                label=i18n.label(|t| t.landscape().files[3])
                on_press=move || {
                    if let Some(view) = untrack(|| model.landscape()) {
                        download(&path_csv(&view), "text/csv", &name("path.csv"));
                    }
                    close();
                }
            />
        </Popover>
    }
}

fn file_of(model: &Model, extension: &str) -> String {
    let run = model.run.get_untracked();
    let chosen =
        untrack(|| model.with_own(|landscapes| landscapes.chosen.clone())).unwrap_or_default();
    format!(
        "{}.{extension}",
        file_name(&format!("{run}-landscape-{chosen}"))
    )
}

/// CSV with a row for each point of the surface.
fn surface_csv(view: &LandscapeView) -> String {
    let surface = &view.surface;
    let columns = surface.x().len().max(1);
    let lines = surface.z().chunks(columns).enumerate();
    let rows = lines.flat_map(|(row, losses)| {
        let y = surface.y().get(row).copied().unwrap_or(f64::NAN);
        let points = surface.x().iter().zip(losses);
        points.map(move |(x, loss)| [*x, y, *loss].map(csv::number))
    });
    csv::text(["x", "y", "z"], rows)
}

/// CSV with a row for each recorded state.
fn path_csv(view: &LandscapeView) -> String {
    let maybe = |value: Option<i64>| value.map(|number| number.to_string()).unwrap_or_default();
    let rows = view.figures.saved.iter().map(|saved| {
        [
            maybe(saved.interval),
            maybe(saved.step),
            csv::number(saved.at.0),
            csv::number(saved.at.1),
            csv::number(saved.loss),
            saved.training_loss.map(csv::number).unwrap_or_default(),
        ]
    });
    let head = "interval,step,x,y,z,training_loss";
    csv::text(head.split(','), rows)
}
