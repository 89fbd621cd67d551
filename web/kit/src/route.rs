//! The addresses of the pages: `/<site page>` and `/run/<name of the run>/<page>`; the list of runs is `/`.
//!
//! A name may hold slashes and any character; each of its segments is percent-encoded. Others may decode a path before
//! it comes here, so a percent sign is written `~1` (and `~` is `~0`, as in a JSON pointer): then decoding twice
//! changes nothing. The base directory itself, the run `.`, has no segment, because browsers drop `.` from paths: its
//! scalars are at `/run/scalars`. Without a page, an address leads to the overview.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use trainscope_api::timeline::StepPlace;

use crate::location::{base_path, use_address};
use crate::parameters::{
    Area, HIT, HIT_STEPS, LINEAGE_FOCUS, NODE, OPERATOR, PROFILE_VIEW, ProfileView, RANK, RUNS,
    RUNS_PANEL, RunsPanel, SCALARS_AT, SCALARS_RANGE, SESSION, TAG, TENSOR, TENSOR_COMPARE,
    TENSOR_STEP, TIMELINE_AREA, TIMELINE_FROM, TIMELINE_TO, TensorStep, WATCHPOINT,
};
use crate::prelude::*;
use crate::registry::Page;
pub use crate::registry::{RunPage, SitePage};
use crate::url_state::with_query;

/// Escaped in a segment of a path.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'@')
    .remove(b':')
    .remove(b',')
    .remove(b'=')
    .remove(b'+');

/// Route of the current address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A page about many runs.
    Site(SitePage),
    /// A page of one run.
    Run {
        /// Name of the run.
        run: String,
        page: RunPage,
    },
    /// An address that leads nowhere.
    Unknown,
}

impl Place {
    /// The page, unless the address leads nowhere.
    pub const fn page(&self) -> Option<Page> {
        match self {
            Self::Site(page) => Some(Page::Site(*page)),
            Self::Run { page, .. } => Some(Page::Run(*page)),
            Self::Unknown => None,
        }
    }

    /// The run, on pages that belong to one.
    pub fn run(&self) -> Option<&str> {
        match self {
            Self::Run { run, .. } => Some(run),
            Self::Site(_) | Self::Unknown => None,
        }
    }
}

/// The place that the address bar names, as a signal.
pub fn use_place() -> Memo<Place> {
    let pathname = use_address().pathname();
    let base = base_path();
    Memo::new(move |_| pathname.with(|path| parse(path, base)))
}

/// The run that the address bar names, if the page belongs to one.
pub fn use_run() -> Memo<Option<String>> {
    let place = use_place();
    Memo::new(move |_| place.with(|place| place.run().map(str::to_owned)))
}

/// The address of a page about many runs.
pub fn site_href(page: SitePage) -> String {
    format!("{}/{}", base_path(), page.entry().segment)
}

/// The address of the list of runs.
pub fn runs_href() -> String {
    site_href(SitePage::Runs)
}

/// The address of the list of runs with the files of one of them.
pub fn files_href(run: &str) -> String {
    let panel = RunsPanel::Files(run.to_owned());
    with_query(&runs_href(), &[RUNS_PANEL.to(panel)])
}

/// The address of the comparison of runs, the first of which is the baseline.
pub fn compare_href(runs: &[String]) -> String {
    with_query(&site_href(SitePage::Compare), &[RUNS.to(runs)])
}

/// The address of a tensor of `run` at a step, next to the same tensor of another run.
pub fn tensors_beside_href(run: &str, other: &str, tensor: &str, rank: u32, step: i64) -> String {
    let changes = [
        TENSOR.to(tensor),
        RANK.to_option(Some(rank).filter(|rank| *rank > 0)),
        TENSOR_STEP.to(TensorStep::Recorded(step)),
        TENSOR_COMPARE.to(format!("run:{other}")),
    ];
    with_query(&run_href(run, RunPage::Tensors), &changes)
}

/// The address of the lineage with the line and the row of a run in view.
pub fn lineage_href(run: &str) -> String {
    with_query(&site_href(SitePage::Lineage), &[LINEAGE_FOCUS.to(run)])
}

/// The address of the lineage of some runs only.
pub fn lineage_of_href(runs: &[String]) -> String {
    with_query(&site_href(SitePage::Lineage), &[RUNS.to(runs)])
}

/// The address of a page of `run`.
pub fn run_href(run: &str, page: RunPage) -> String {
    format!("{}{}", base_path(), run_path(run, page))
}

/// The address of the scalars of `run`. With `others`, their curves are shown too (the first is the run of the page);
/// with `tag`, that tag's card is brought into view.
pub fn scalars_href(run: &str, others: &[String], tag: Option<&str>) -> String {
    let mut all = Vec::new();
    if !others.is_empty() {
        all.push(run.to_owned());
        all.extend(others.iter().filter(|other| *other != run).cloned());
    }
    let changes = [RUNS.to(all), TAG.to_option(tag)];
    with_query(&run_href(run, RunPage::Scalars), &changes)
}

/// The address of the scalars of `run` with a range of steps, and the crosshair on `step` of the card of `tag`.
pub fn scalars_at_href(run: &str, tag: &str, (from, to): (i64, i64), step: i64) -> String {
    let changes = [
        TAG.to(tag),
        SCALARS_RANGE.to((from as f64, to as f64)),
        SCALARS_AT.to(step as f64),
    ];
    with_query(&run_href(run, RunPage::Scalars), &changes)
}

/// The address of the scalars of `run` with the crosshair at a step of all cards.
pub fn scalars_step_href(run: &str, step: i64) -> String {
    let at = SCALARS_AT.to(step as f64);
    with_query(&run_href(run, RunPage::Scalars), &[at])
}

/// The address of an operator in the profile of `run`.
pub fn operator_href(run: &str, name: &str) -> String {
    let changes = [PROFILE_VIEW.to(ProfileView::Operators), OPERATOR.to(name)];
    with_query(&run_href(run, RunPage::Profile), &changes)
}

/// The address of the timeline of `run` with a step selected and in view, with the same time before and after it.
pub fn timeline_step_href(run: &str, place: &StepPlace) -> String {
    step_href(&run_href(run, RunPage::Timeline), place)
}

fn step_href(timeline: &str, place: &StepPlace) -> String {
    let (begin, end) = (place.step.begin_nanos, place.step.end_nanos);
    let around = end.saturating_sub(begin) / 2;
    let area = Area {
        from: begin,
        to: end,
        lanes: Vec::new(),
    };
    let changes = [
        SESSION.to(&place.session),
        RANK.to(place.rank),
        TIMELINE_FROM.to(begin.saturating_sub(around).max(0)),
        TIMELINE_TO.to(end.saturating_add(around)),
        TIMELINE_AREA.to(area),
    ];
    with_query(timeline, &changes)
}

/// The address of the overview of `run`.
pub fn overview_href(run: &str) -> String {
    run_href(run, RunPage::Overview)
}

/// The address of a hit in the debugger of `run`, by its key.
pub fn hit_href(run: &str, hit: &str) -> String {
    with_query(&run_href(run, RunPage::Debugger), &[HIT.to(hit)])
}

/// The address of the debugger of `run` with the hits of a watchpoint.
pub fn watchpoint_href(run: &str, name: &str) -> String {
    with_query(&run_href(run, RunPage::Debugger), &[WATCHPOINT.to(name)])
}

/// The address of the debugger of `run` with the hits of a step.
pub fn debugger_step_href(run: &str, step: i64) -> String {
    let steps = HIT_STEPS.to(step.to_string());
    with_query(&run_href(run, RunPage::Debugger), &[steps])
}

/// The address of the graph of `run`, with a node or scope in view.
pub fn graph_href(run: &str, node: Option<&str>) -> String {
    with_query(&run_href(run, RunPage::Graph), &[NODE.to_option(node)])
}

/// The address of the histograms of `run`, with the card of a tag brought into view.
pub fn histograms_href(run: &str, tag: &str) -> String {
    tag_href(run, RunPage::Histograms, tag)
}

/// The address of a page of cards of `run`, with the card of a tag brought into view.
pub fn tag_href(run: &str, page: RunPage, tag: &str) -> String {
    with_query(&run_href(run, page), &[TAG.to(tag)])
}

/// The address of a tensor of `run`; with a step, its values then.
pub fn tensors_href(run: &str, tensor: &str, rank: u32, step: Option<i64>) -> String {
    let changes = [
        TENSOR.to(tensor),
        RANK.to_option(Some(rank).filter(|rank| *rank > 0)),
        TENSOR_STEP.to_option(step.map(TensorStep::Recorded)),
    ];
    with_query(&run_href(run, RunPage::Tensors), &changes)
}

/// The address of the values in the memory of a training that waits: of a tensor, else of the first.
pub fn tensor_now_href(run: &str, tensor: Option<&str>, rank: u32) -> String {
    let changes = [
        TENSOR_STEP.to(TensorStep::Now),
        TENSOR.to_option(tensor),
        RANK.to_option(Some(rank).filter(|rank| *rank > 0)),
    ];
    with_query(&run_href(run, RunPage::Tensors), &changes)
}

fn run_path(run: &str, page: RunPage) -> String {
    let mut path = String::from("/run/");
    if run != "." {
        for segment in run.split('/') {
            let segment = segment.replace('~', "~0").replace('%', "~1");
            path.extend(utf8_percent_encode(&segment, SEGMENT));
            path.push('/');
        }
    }
    path.push_str(page.entry().segment);
    path
}

fn parse(path: &str, base: &str) -> Place {
    let Some(path) = path.strip_prefix(base) else {
        return Place::Unknown;
    };
    let path = path.trim_matches('/');
    if path == "index.html" {
        return Place::Site(SitePage::Runs);
    }
    if let Some(page) = SitePage::of_segment(path) {
        return Place::Site(page);
    }
    let Some(rest) = path.strip_prefix("run/") else {
        return Place::Unknown;
    };
    let (run, page) = rest.rsplit_once('/').unwrap_or((".", rest));
    let (run, page) =
        RunPage::of_segment(page).map_or((rest, RunPage::Overview), |page| (run, page));
    let segment = |text: &str| {
        let text = percent_decode_str(text).decode_utf8_lossy();
        text.replace("~1", "%").replace("~0", "~")
    };
    let segments: Vec<_> = run.split('/').map(segment).collect();
    Place::Run {
        run: segments.join("/"),
        page,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_survives_its_address() {
        for run in [
            ".",
            "a",
            "scalars",
            "a/b/c",
            "lr=0.1, wd=1e-4/seed #3",
            "100%/训练?",
            "run/scalars",
            "50%20off",
            "~1 ~0 ~",
        ] {
            let path = run_path(run, RunPage::Scalars);
            assert_eq!(parse(&path, "").run(), Some(run));
            let decoded = percent_decode_str(&path).decode_utf8_lossy();
            assert_eq!(parse(&decoded, "").run(), Some(run), "decoded before");
        }
    }

    #[test]
    fn a_prefix_is_taken_off() {
        assert_eq!(parse("/ts/", "/ts"), Place::Site(SitePage::Runs));
        assert_eq!(parse("/ts/lineage", "/ts"), Place::Site(SitePage::Lineage));
        assert_eq!(parse("/ts/run/a/scalars", "/ts").run(), Some("a"));
        assert_eq!(parse("/other", "/ts"), Place::Unknown);
    }

    #[test]
    fn a_run_without_a_page_is_its_overview() {
        for (path, run) in [("/run/a", "a"), ("/run/a/b/", "a/b"), ("/run/a%20b", "a b")] {
            let place = parse(path, "");
            assert_eq!(place.run(), Some(run));
            assert_eq!(place.page(), Some(Page::Run(RunPage::Overview)));
        }
        assert_eq!(parse("/run/overview", "").run(), Some("."));
    }

    #[test]
    fn a_step_of_the_timeline_is_selected_and_has_time_around_it() {
        let place = StepPlace {
            session: "a b".to_owned(),
            rank: 3,
            step: trainscope_api::timeline::StepSpan {
                number: 17,
                begin_nanos: 40,
                end_nanos: 140,
            },
        };
        let href = step_href("/", &place);
        assert_eq!(href, "/?session=a%20b&rank=3&from=0&to=190&area=40,140");
    }

    #[test]
    fn addresses_that_lead_nowhere() {
        for path in ["/x", "/run", "/run/"] {
            assert_eq!(parse(path, ""), Place::Unknown, "{path}");
        }
    }
}
