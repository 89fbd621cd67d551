//! One small card for each kind of data in the run. A card links to the page of its data, if there is one.

use trainscope_api::findings::{Verdict, WatchpointResult, watchpoint_name};
use trainscope_api::tags::Tag;
use trainscope_format::Kind;

use super::hyperparameters;
use super::model::{Model, Newest, of_kind};
use super::pictures;
use trainscope_web_kit::client;
use trainscope_web_kit::components::tensor::ClassBar;
use trainscope_web_kit::components::{
    Icon, IconName, fixed_icon, is_enlarged, kinds_of_step, mean_step, severity_icon, step_parts,
};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::{I18n, Texts, use_i18n};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::registry::{Count, RunPage};
use trainscope_web_kit::route;
use trainscope_web_kit::state::use_app_state;

/// Maximum number of watchpoints in the card of the debugger.
const WATCHPOINTS: usize = 4;
/// Maximum number of cards in a row.
const MAX_COLUMNS: usize = 4;
/// Maximum number of rows in a card of names with values.
const PAIRS: usize = 6;

/// A kind of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Card {
    /// Card of a page, with a link to it.
    Page(RunPage),
    Configuration,
}

impl Card {
    /// All cards in page order. The overview itself has no card.
    const ALL: [Self; 11] = [
        Self::Page(RunPage::Scalars),
        Self::Page(RunPage::Histograms),
        Self::Page(RunPage::Tensors),
        Self::Page(RunPage::Debugger),
        Self::Page(RunPage::Images),
        Self::Page(RunPage::Text),
        Self::Page(RunPage::Graph),
        Self::Page(RunPage::PrCurves),
        Self::Page(RunPage::Pipeline),
        Self::Page(RunPage::Profile),
        Self::Configuration,
    ];

    /// Number of entries, or `None` if the run lacks such data; reactive.
    fn count(self, model: Model) -> Option<u64> {
        let run = model.info.get()?;
        match self {
            Self::Page(RunPage::Debugger) => Some(1),
            Self::Page(page) => use_app_state().page_count(&run, page.entry()),
            Self::Configuration => Some(run.hparams.len() as u64).filter(|count| *count > 0),
        }
    }

    const fn icon(self) -> IconName {
        match self {
            Self::Page(page) => page.entry().icon,
            Self::Configuration => IconName::Sliders,
        }
    }

    /// Its name in the style sheet and in tests.
    fn name(self) -> &'static str {
        match self {
            Self::Page(RunPage::Graph) => "graphs",
            Self::Page(page) => page.entry().segment,
            Self::Configuration => "configuration",
        }
    }

    fn title(self, texts: Texts) -> &'static str {
        match self {
            Self::Page(page @ (RunPage::Debugger | RunPage::Pipeline)) => {
                (page.entry().title)(texts)
            }
            Self::Page(_) => (texts.runs().kind)(self.name()),
            Self::Configuration => texts.overview().configuration,
        }
    }

    /// Text next to the title; reactive.
    fn beside(self, model: Model, texts: Texts) -> String {
        let words = texts.overview();
        let count = self.count(model).unwrap_or(0);
        match self {
            Self::Page(RunPage::Debugger) => {
                let found = model.findings.get();
                found.map_or_else(String::new, |found| (texts.frame().hits)(found.counts))
            }
            Self::Page(RunPage::Graph) => {
                let graph = model.graph.get();
                graph.map_or_else(String::new, |graph| (words.nodes)(graph.nodes))
            }
            Self::Page(page) => match page.entry().count {
                Count::Tags => (words.tags)(count),
                Count::Names | Count::Tensors => (words.tensors)(count),
                Count::Always | Count::Hidden | Count::Hits => String::new(),
            },
            Self::Configuration => (words.values)(count),
        }
    }
}

/// All cards. New cards are appended: the others keep their places.
pub(super) fn view(model: Model) -> AnyView {
    let i18n = use_i18n();
    let cards = Memo::new(move |before: Option<&Vec<Card>>| {
        let mut cards = before.cloned().unwrap_or_default();
        if model.info.get().is_some() {
            for card in Card::ALL {
                if !cards.contains(&card) && card.count(model).is_some() {
                    cards.push(card);
                }
            }
        }
        cards
    });
    view! {
        <div
            class="eight"
            class:few=move || cards.get().len() <= MAX_COLUMNS
            style:--columns=move || columns(cards.get().len()).to_string()
        >
            {move || {
                let cards = cards.get().into_iter();
                cards.map(|card| frame(model, card, i18n)).collect::<Vec<AnyView>>()
            }}
        </div>
    }
    .into_any()
}

/// Number of columns that spreads the cards most evenly over at most two rows, which fit into a window of 800 pixels.
fn columns(cards: usize) -> usize {
    let rows = cards.div_ceil(MAX_COLUMNS).clamp(1, 2);
    cards.div_ceil(rows).max(1)
}

fn frame(model: Model, card: Card, i18n: I18n) -> AnyView {
    let run = model.run();
    let href = match card {
        Card::Page(page) => Some(route::run_href(&run, page)),
        Card::Configuration => None,
    };
    let title = move || {
        view! {
            <span class="ink3">
                <Icon name=card.icon() />
            </span>
            <h3>{move || card.title(i18n.texts())}</h3>
            <span class="micro ink3 cut">{move || card.beside(model, i18n.texts())}</span>
        }
    };
    let head = match href {
        Some(href) => view! {
            <a class="head" href=href>
                {title()}
                <span class="go">{fixed_icon(IconName::Right, 12)}</span>
            </a>
        }
        .into_any(),
        None => view! { <div class="head">{title()}</div> }.into_any(),
    };
    view! {
        <section class="card" data-card=card.name()>
            {head}
            <div class="body" data-part="body">{body(model, card, i18n)}</div>
        </section>
    }
    .into_any()
}

fn body(model: Model, card: Card, i18n: I18n) -> AnyView {
    let Card::Page(page) = card else {
        return (move || {
            let info = model.info.get();
            let mut all = info
                .as_deref()
                .map(hyperparameters::all)
                .unwrap_or_default();
            all.truncate(PAIRS);
            pairs(all)
        })
        .into_any();
    };
    match page {
        RunPage::Scalars => {
            let tag = move || Some(model.curves.get().first()?.0.clone());
            view! {
                <p class="micro ink3 cut">
                    <bdi>{tag}</bdi>
                </p>
                {pictures::curve(model)}
            }
            .into_any()
        }
        RunPage::Histograms => (move || {
            let Some(heat) = model.heat.get() else {
                return last_steps(model, Kind::Statistics, i18n);
            };
            view! {
                <p class="micro ink3 cut">
                    <bdi>{heat.tag.clone()}</bdi>
                </p>
                {pictures::histogram(&heat)}
            }
            .into_any()
        })
        .into_any(),
        RunPage::Tensors => (move || tensor(model, i18n)).into_any(),
        RunPage::Debugger => (move || hits(model, i18n)).into_any(),
        RunPage::Images => {
            (move || model.picture.get().map(|newest| picture(&newest, i18n))).into_any()
        }
        RunPage::Text => (move || model.text.get().map(|newest| text(newest, i18n))).into_any(),
        RunPage::Graph => (move || {
            model
                .graph
                .get()
                .map(|graph| pairs(counted(graph.commonest())))
        })
        .into_any(),
        RunPage::PrCurves => (move || last_steps(model, Kind::PrCurves, i18n)).into_any(),
        RunPage::Profile => (move || profile(model, i18n)).into_any(),
        RunPage::Landscape => (move || last_steps(model, Kind::Landscapes, i18n)).into_any(),
        RunPage::Pipeline => (move || {
            let kinds = page.entry().all_kinds().map(Kind::as_str);
            let rows = kinds.filter(|kind| model.kind(kind) > 0).map(|kind| {
                let name = (i18n.texts().runs().kind)(kind);
                (name.to_owned(), format::count(model.kind(kind)))
            });
            pairs(rows.collect())
        })
        .into_any(),
        // The page of the cards, and a page that another one links to.
        RunPage::Overview | RunPage::Timeline => ().into_any(),
    }
}

/// Mean step of the newest profile: its length as text, a bar of its parts, and the time of each.
fn profile(model: Model, i18n: I18n) -> AnyView {
    let texts = i18n.texts();
    let info = model.info.get();
    let Some(profile) = info.as_ref().and_then(|info| info.profile.as_ref()) else {
        return last_steps(model, Kind::Profile, i18n);
    };
    let Some(said) = mean_step(profile, texts) else {
        return last_steps(model, Kind::Profile, i18n);
    };
    let mut kinds: Vec<_> = kinds_of_step(profile, texts).collect();
    kinds.sort_by_key(|(_, _, nanos)| std::cmp::Reverse(*nanos));
    let rows = kinds
        .into_iter()
        .take(PAIRS)
        .map(|(_, name, nanos)| (name.to_owned(), format::nanos(nanos.unsigned_abs())));
    view! {
        <p class="small">{said}</p>
        {step_parts(profile, texts)}
        {pairs(rows.collect())}
    }
    .into_any()
}

/// Tags of a kind with their last steps.
fn last_steps(model: Model, kind: Kind, i18n: I18n) -> AnyView {
    let tags = model.tags.get();
    let listed = tags.iter().flat_map(|list| of_kind(list, kind));
    let last = |tag: &Tag| tag.last_step.map(format::integer).unwrap_or_default();
    let rows = listed.take(PAIRS).map(|tag| {
        let step = format!("{} {}", i18n.texts().frame().step, last(tag));
        (tag.tag.clone(), step)
    });
    pairs(rows.collect())
}

fn counted(types: Vec<(String, u64)>) -> Vec<(String, String)> {
    types
        .into_iter()
        .map(|(name, count)| (name, format::count(count)))
        .collect()
}

/// Names with values.
fn pairs(rows: Vec<(String, String)>) -> AnyView {
    let rows = rows.into_iter().map(|(name, value)| {
        let title = value.clone();
        view! {
            <dt class="cut">{name}</dt>
            <dd class="cut" title=title>{value}</dd>
        }
    });
    view! { <dl class="kv">{rows.collect_view()}</dl> }.into_any()
}

fn tag_and_step(tag: &str, step: i64, i18n: I18n) -> AnyView {
    let text = (i18n.texts().overview().tensor_at)(tag, &format::integer(step));
    let title = text.clone();
    view! { <p class="micro ink3 cut" title=title>{text}</p> }.into_any()
}

fn tensor(model: Model, i18n: I18n) -> AnyView {
    let texts = i18n.texts().overview();
    let Some(tensor) = model.tensor.get() else {
        // Tensors too large to be loaded without a request, or unreadable ones, are listed by name.
        let names = model.tensors.get().into_iter().take(PAIRS);
        let rows = names.map(|name| (name, String::new()));
        return pairs(rows.collect());
    };
    let stats = tensor.stats.clone();
    let bad = stats.nan + stats.pos_inf + stats.neg_inf;
    let all = format::count(stats.count);
    let says = if bad > 0 {
        (texts.bad_elements)(&format::count(bad), &all)
    } else {
        (texts.good_elements)(&all)
    };
    view! {
            {tag_and_step(&tensor.name, tensor.step, i18n)}
            <ClassBar stats=stats />
            <p class="small" class:err=bad != 0 class:med=bad != 0 class:ink2=bad == 0>{says}</p>
    }
    .into_any()
}

/// The worst watchpoints with the number of their hits and the step of the first.
fn hits(model: Model, i18n: I18n) -> Option<AnyView> {
    let found = model.findings.get()?;
    let mut watchpoints: Vec<(usize, &WatchpointResult)> =
        found.watchpoints.iter().enumerate().collect();
    let silent = watchpoints
        .iter()
        .filter(|(_, watchpoint)| watchpoint.hits == 0 && watchpoint.has_data)
        .count() as u64;
    watchpoints.retain(|(_, watchpoint)| watchpoint.hits > 0);
    watchpoints.sort_by_key(|one| std::cmp::Reverse((one.1.worst, one.1.hits)));
    let run = model.run();
    let rows = watchpoints
        .iter()
        .take(WATCHPOINTS)
        .map(|(index, watchpoint)| {
            let (class, icon) = severity_icon(watchpoint.worst.unwrap_or(watchpoint.severity));
            let first = found
                .hits
                .iter()
                .find(|hit| hit.watchpoint as usize == *index);
            let step = first.map(|hit| {
                format!(
                    "{} {}",
                    i18n.texts().frame().step,
                    format::integer(hit.step)
                )
            });
            let before = found.watchpoints.iter().take(*index);
            let alike = before.filter(|other| other.condition == watchpoint.condition);
            let name = watchpoint_name(
                &watchpoint.condition,
                u32::try_from(alike.count()).unwrap_or(0),
            );
            let title = i18n.words(&watchpoint.title);
            let whole = title.clone();
            view! {
                <li>
                    <span class=class>{fixed_icon(icon, 12)}</span>
                    <a
                        class="cut grow"
                        href=route::watchpoint_href(&run, &name)
                        title=whole
                    >
                        {title}
                    </a>
                    <span class="micro ink3">{step}</span>
                    <span class="micro times">"×" {format::count(watchpoint.hits)}</span>
                </li>
            }
        });
    let is_judged = found.verdict != Verdict::Nothing;
    let (class, icon) = if is_judged || !watchpoints.is_empty() {
        ("okc", IconName::Ok)
    } else {
        ("inf", IconName::Info)
    };
    let rest = (silent > 0 || watchpoints.is_empty()).then(|| {
        view! {
            <li class="ink2">
                <span class=class>{fixed_icon(icon, 12)}</span>
                {if watchpoints.is_empty() && (!is_judged || silent == 0) {
                    i18n.words(&found.summary)
                } else if watchpoints.is_empty() {
                    (i18n.texts().overview().found_nothing)(silent)
                } else {
                    (i18n.texts().overview().no_hit)(silent)
                }}
            </li>
        }
    });
    Some(
        view! {
            <ul class="watched">
                {rows.collect_view()}
                {rest}
            </ul>
        }
        .into_any(),
    )
}

fn picture(newest: &Newest, i18n: I18n) -> AnyView {
    let is_larger = RwSignal::new(false);
    let on_load = move |event: web_sys::Event| is_larger.set(is_enlarged(&event_target(&event)));
    view! {
        {tag_and_step(&newest.tag, newest.step, i18n)}
        <img
            src=client::blob_url(&newest.content)
            alt=newest.tag.clone()
            class:pixelated=move || is_larger.get()
            on:load=on_load
        />
    }
    .into_any()
}

fn text(newest: Newest, i18n: I18n) -> AnyView {
    view! {
        {tag_and_step(&newest.tag, newest.step, i18n)}
        <p class="small sample">{newest.content}</p>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::columns;

    #[test]
    fn columns_leave_few_cards_in_the_last_row_to_widen() {
        assert_eq!(
            [1, 3, 4, 5, 6, 7, 8, 9, 10].map(columns),
            [1, 3, 4, 3, 3, 4, 4, 5, 5]
        );
    }
}
