//! Two sessions, ranks or runs: lengths of steps, parts side by side, and operators that became slower or faster.

use std::sync::Arc;

use trainscope_api::profile::{
    OperatorDifference, OperatorGroup, ProfileDiff, ProfileDiffQuery, ProfileEntry, ProfileList,
};
use trainscope_api::runs::Run;
use trainscope_charts::profile::Shade;
use trainscope_format::Severity;

use super::model::{BY, KINDS, Model, kinds_of, share, signed, swatch, time, use_model};
use super::parts::{Refusal, Standing, downloads, long_table, verdict};
use crate::parameters::{ALIGN, Align, OTHER_RANK, OTHER_RUN, OTHER_SESSION, OtherRanks};
use trainscope_web_kit::client;
use trainscope_web_kit::components::profile_tabs::ProfileTab;
use trainscope_web_kit::components::{RowHeights, RowList, SegOption, Segmented, long_name};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::{Texts, use_i18n};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::{Load, Query, query};
use trainscope_web_kit::state::use_app_state;
use trainscope_web_kit::url_state::{Change, History};

/// Widths of the columns of the table.
const COLUMNS: &str = "minmax(160px, 1fr) 72px 72px 120px 84px 60px";

/// Height of a row of operators, CSS pixels.
const ROW: f64 = 26.0;
/// Ratio of step times above which a difference is a finding.
const SLOWER: f64 = 1.1;

const FIELDS: [&str; 4] = ["name", "calls_step", "self_step_nanos", "mean_nanos"];

/// Choice of the other profile.
#[derive(Clone, Copy)]
struct Other {
    model: Model,
    /// Its run; without a choice, this run or the nearest one with a profile.
    run: Memo<String>,
    list: Query<ProfileList>,
    /// Its session and rank.
    chosen: Memo<Option<Arc<ProfileEntry>>>,
}

impl Other {
    fn new() -> Self {
        let model = use_model();
        let url = model.url;
        let (run, session) = (url.param(OTHER_RUN), url.param(OTHER_SESSION));
        let rank = url.param(OTHER_RANK);
        let state = use_app_state();
        // Without a choice, this run if it has another profile, else the nearest run with a profile.
        let run = Memo::new(move |_| {
            let current = model.profiles.run.get();
            if let Some(run) = run.get() {
                return run;
            }
            let is_alone =
                matches!(model.profiles.list.load(), Load::Ready(list) if list.sessions.len() < 2);
            let nearest = is_alone.then(|| state.runs.with(|list| nearest(&current, &list.runs)));
            nearest.flatten().unwrap_or(current)
        });
        let list = query(
            move || Some(run.get()),
            |run| async move { client::profile(&run).await },
        )
        .cleared_with(move || run.get());
        let chosen = Memo::new(move |_| {
            let wanted = session.get();
            let rank = rank.get().and_then(OtherRanks::one);
            let list = list.answer.get()?;
            let current = model.profiles.chosen.get();
            let is_same_run = run.get() == model.profiles.run.get();
            let current = current.as_deref().filter(|_| is_same_run);
            other_of(&list, current, wanted.as_deref(), rank).map(Arc::new)
        });
        Self {
            model,
            run,
            list,
            chosen,
        }
    }
}

/// `true` for a run with spans or files of a profiler.
fn has_profile(run: &Run) -> bool {
    let mut kinds = ["profile", "traces"].iter();
    kinds.any(|kind| run.kinds.contains_key(*kind))
}

/// The run with a profile that shares the most folders with `current`; the first of equals.
fn nearest(current: &str, runs: &[Run]) -> Option<String> {
    let shared = |run: &Run| {
        let both = run.id.split('/').zip(current.split('/'));
        both.take_while(|(one, other)| one == other).count()
    };
    let others = runs
        .iter()
        .filter(|run| run.id != current && has_profile(run));
    let nearest = others.rev().max_by_key(|run| shared(run))?;
    Some(nearest.id.clone())
}

/// The profile of a session and rank. Without them, a profile other than `current`: the session before it, else
/// another rank.
fn other_of(
    list: &ProfileList,
    current: Option<&ProfileEntry>,
    session: Option<&str>,
    rank: Option<u32>,
) -> Option<ProfileEntry> {
    let all = || list.sessions.iter();
    if session.is_some() || rank.is_some() {
        let session =
            session.or_else(|| Some(&*current.or_else(|| list.sessions.first())?.session));
        let of_session = || all().filter(|one| Some(&*one.session) == session);
        let of_rank = of_session().find(|one| Some(one.rank) == rank);
        return of_rank.or_else(|| of_session().next()).cloned();
    }
    let Some(current) = current else {
        return list.sessions.first().cloned();
    };
    let at = all().position(|one| one.session == current.session && one.rank == current.rank);
    let after = list.sessions.get(at.map_or(0, |at| at + 1)..)?;
    // Files of other formats lack data that `current` has.
    let is_other =
        |one: &&ProfileEntry| one.session != current.session && one.format == current.format;
    let before_it = after.iter().find(is_other);
    let rank = || all().find(|one| one.session == current.session && one.rank != current.rank);
    let alike = || all().find(is_other);
    let any = || all().find(|one| one.session != current.session);
    before_it.or_else(rank).or_else(alike).or_else(any).cloned()
}

#[component]
pub(super) fn Compare() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let other = Other::new();
    let asked = Memo::new(move |_| {
        let current = model.profiles.chosen.get()?;
        let chosen = other.chosen.get()?;
        Some(ProfileDiffQuery {
            run: model.profiles.run.get(),
            session: Some(current.session.clone()),
            rank: Some(current.rank),
            other: Some(other.run.get()),
            other_session: Some(chosen.session.clone()),
            other_rank: Some(chosen.rank),
        })
    });
    let diff = query(
        move || asked.get(),
        |wanted| async move { client::profile_diff(&wanted).await },
    )
    .cleared_with(move || asked.get());
    let sentence = move || {
        let texts = i18n.texts();
        diff.answer.with(|answer| {
            let answer = answer.as_deref()?;
            let ratio = answer.ratio;
            let is_slower = ratio.is_some_and(|(ratio, low, _)| ratio > SLOWER && low > 1.0);
            let severity = if is_slower {
                Some(Severity::Warning)
            } else {
                ratio.is_none().then_some(Severity::Info)
            };
            let sentence = i18n.raw(&answer.sentence);
            // A difference beyond chance has its interval in the sentence.
            let by_chance = ratio.filter(|(_, low, high)| (*low..=*high).contains(&1.0));
            let detail = by_chance.map(|(ratio, low, high)| {
                let [ratio, low, high] = [ratio, low, high].map(format::brief);
                (texts.profile().ratio)(&ratio, &low, &high)
            });
            let standing = Standing::new(severity, true);
            Some(verdict(
                standing,
                sentence,
                detail.unwrap_or_default(),
                None,
            ))
        })
    };
    let nothing = move || {
        let is_alone =
            other.list.answer.with(Option::is_some) && other.chosen.with(Option::is_none);
        is_alone.then(|| {
            view! {
                <section class="card state-page">
                    <h1>{i18n.text(|t| t.profile().compare_none)}</h1>
                    <p>{i18n.text(|t| t.profile().compare_next)}</p>
                </section>
            }
        })
    };
    let has_diff = Memo::new(move |_| diff.answer.with(Option::is_some));
    view! {
        {sentence}
        {choices(&other)}
        <Refusal error=diff.error />
        {nothing}
        <Show when=move || has_diff.get()>
            <div class="profile-low all">
                <Differences diff />
                {move || diff.answer.get().map(|answer| parts(&answer, i18n.texts()))}
            </div>
        </Show>
    }
}

/// Run, session and rank to compare with.
fn choices(other: &Other) -> AnyView {
    let other = *other;
    let i18n = use_i18n();
    let state = use_app_state();
    let url = other.model.url;
    let runs = Memo::new(move |_| {
        let current = other.model.profiles.run.get();
        state.runs.with(|list| {
            let all = list.runs.iter();
            let all = all.filter(|run| run.id == current || has_profile(run));
            all.map(|run| run.id.clone()).collect::<Vec<_>>()
        })
    });
    let select =
        move |to: fn(String) -> Vec<Change>, label, options: Vec<(String, String)>, now: String| {
            let options = options.into_iter().map(|(value, text)| {
                let is_now = value == now;
                view! {
                    <option value=value selected=is_now>
                        {text}
                    </option>
                }
            });
            view! {
                <label class="ctl">
                    {label}
                    <select
                        class="field"
                        aria-label=label
                        on:change=move |event| {
                            url.set(&to(event_target_value(&event)), History::Push);
                        }
                    >
                        {options.collect::<Vec<_>>()}
                    </select>
                </label>
            }
            .into_any()
        };
    // A session belongs to its run, and a rank to its session.
    let to_run = |run: String| {
        let (session, rank) = (OTHER_SESSION.clear(), OTHER_RANK.clear());
        vec![OTHER_RUN.to(run), session, rank]
    };
    let to_session = |session: String| vec![OTHER_SESSION.to(session), OTHER_RANK.clear()];
    let to_rank = |rank| vec![OTHER_RANK.typed(Some(rank))];
    let run = move || {
        let options = runs.get().into_iter();
        let options = options
            .map(|run| (run.clone(), state.short_name(&run)))
            .collect();
        select(
            to_run,
            i18n.texts().profile().compare_with,
            options,
            other.run.get(),
        )
    };
    let session = move || {
        let chosen = other.chosen.get()?;
        let mut all: Vec<(String, String)> = Vec::new();
        for entry in &other.list.answer.get()?.sessions {
            if all.iter().all(|known| known.0 != entry.session) {
                all.push((entry.session.clone(), entry.session.clone()));
            }
        }
        (all.len() > 1).then(|| {
            select(
                to_session,
                i18n.texts().profile().session,
                all,
                chosen.session.clone(),
            )
        })
    };
    let rank = move || {
        let chosen = other.chosen.get()?;
        let list = other.list.answer.get()?;
        let entries = list
            .sessions
            .iter()
            .filter(|entry| entry.session == chosen.session);
        let all = entries.map(|entry| (entry.rank.to_string(), entry.rank.to_string()));
        let all: Vec<_> = all.collect();
        (all.len() > 1).then(|| {
            select(
                to_rank,
                i18n.texts().profile().rank,
                all,
                chosen.rank.to_string(),
            )
        })
    };
    let timelines = move || {
        let chosen = other.chosen.get()?;
        let profiles = other.model.profiles;
        let run = other.run.get();
        let changes = [
            OTHER_RUN.to_option(Some(run).filter(|run| *run != profiles.run.get())),
            OTHER_SESSION.to(&chosen.session),
            OTHER_RANK.to(OtherRanks::One(chosen.rank)),
            ALIGN.to(Align::First),
        ];
        let href = profiles.tab_href(ProfileTab::Timeline, &changes);
        Some(view! {
            <a class="link small" href=href>
                {i18n.texts().profile().both_timelines}
            </a>
        })
    };
    view! { <div class="flex gap12 compare-with">{run} {session} {rank} {timelines}</div> }
        .into_any()
}

/// Operators or kernels, the most expensive first.
#[component]
fn Differences(diff: Query<ProfileDiff>) -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let url = model.url;
    let by = url.setting(BY);
    let is_kernel = Memo::new(move |_| by.get() == OperatorGroup::Kernel);
    let rows = Memo::new(move |_| {
        let answer = diff.answer.get();
        let rows = answer.map(|answer| {
            if is_kernel.get() {
                answer.kernels.clone()
            } else {
                answer.operators.clone()
            }
        });
        Arc::new(rows.unwrap_or_default())
    });
    let most = Memo::new(move |_| {
        rows.with(|rows| rows.iter().map(|row| change(row).abs()).max().unwrap_or(0))
    });
    let list = RowList::new(0.0, move || {
        RowHeights::Equal(rows.with(|rows| rows.len()), ROW)
    });
    let seen = move || {
        let texts = i18n.texts();
        let most = most.get();
        rows.with(|rows| {
            let seen = list.rows_of(rows);
            seen.map(|(_, row)| {
                difference(row, most, texts, &model.step_href(None, Some(&row.name)))
            })
            .collect::<Vec<_>>()
        })
    };
    let heads = move || {
        let heads = i18n.texts().profile().diff_columns.into_iter().enumerate();
        let heads = heads.map(|(at, head)| {
            let is_number = at != 0 && at != 3;
            view! {
                <span role="columnheader" class:num=is_number>
                    {head}
                </span>
            }
        });
        heads.collect::<Vec<_>>()
    };
    let option = |value: bool, text: fn(Texts) -> &'static str| SegOption {
        value,
        label: Signal::derive(move || text(i18n.texts()).to_owned()),
    };
    view! {
        <section class="card" data-part="differences">
            <div class="head tall">
                <Segmented
                    label=i18n.label(|t| t.profile().group)
                    options=vec![option(false, |t| t.profile().operators), option(true, |t| t.profile().groups[4])]
                    value=is_kernel
                    on_choose=move |is_kernel: bool| {
                        let by = is_kernel.then_some(OperatorGroup::Kernel);
                        url.set(&[BY.to(by.unwrap_or_default())], History::Replace);
                    }
                />
                <span class="grow"></span>
                {downloads("differences", &FIELDS, move || rows.get_untracked().to_vec())}
            </div>
            {long_table(list, Signal::stored(COLUMNS.to_owned()), Signal::default(), heads, seen)}
        </section>
    }
}

/// Self time per step here minus that of the other profile, ns.
const fn change(row: &OperatorDifference) -> i64 {
    row.self_step_nanos.0.saturating_sub(row.self_step_nanos.1)
}

fn difference(row: &OperatorDifference, most: i64, texts: Texts, href: &str) -> AnyView {
    let change = change(row);
    let (here, there) = row.self_step_nanos;
    let (calls, calls_there) = row.calls_step;
    let remark = if calls_there <= 0.0 {
        texts.profile().only_here.to_owned()
    } else if calls <= 0.0 {
        texts.profile().only_there.to_owned()
    } else if (calls - calls_there).abs() < 0.005 * calls.max(calls_there) {
        format!("{} ×", format::brief(calls))
    } else {
        format!(
            "{} → {} ×",
            format::brief(calls_there),
            format::brief(calls)
        )
    };
    let ratio = if there > 0 {
        let ratio = share(change, there);
        let sign = if change > 0 { "+" } else { "" };
        format!("{sign}{}", format::percent(ratio).replace('-', "−"))
    } else {
        "–".to_owned()
    };
    let width = format!("{:.1}px", share(change.abs(), most) * 70.0);
    let colour = if change > 0 {
        "var(--div-p3)"
    } else {
        "var(--div-n3)"
    };
    view! {
        <div class="r" role="row">
            <span role="cell" class="name">
                <a href=href.to_owned() title=row.name.clone()>
                    {long_name(&row.name)}
                </a>
            </span>
            <span role="cell" class="num">{time(here)}</span>
            <span role="cell" class="num ink2">{time(there)}</span>
            <span role="cell" class="tb">
                <span class="num">{signed(change)}</span>
                <i style:width=width style:background=colour></i>
            </span>
            <span role="cell" class="num ink2">{remark}</span>
            <span role="cell" class="num">{ratio}</span>
        </div>
    }
    .into_any()
}

/// Parts of a step side by side, and peaks of memory.
fn parts(diff: &ProfileDiff, texts: Texts) -> AnyView {
    let (here, there) = &diff.parts_nanos;
    let has_device = here.kernel > 0 || there.kernel > 0;
    let (ours, theirs) = (kinds_of(here, has_device), kinds_of(there, has_device));
    let recorded = (here.total() > 0, there.total() > 0);
    let cell = |nanos: i64, is_recorded: bool| {
        if is_recorded {
            time(nanos)
        } else {
            texts.profile().not_recorded.to_owned()
        }
    };
    let row = |name: AnyView, here: i64, there: i64| {
        let change = here.saturating_sub(there);
        let is_worse = share(change, diff.median_step_nanos.1) > 0.02;
        let change = (recorded.0 && recorded.1).then(|| signed(change));
        view! {
            <tr>
                <td>
                    <span class="flex">{name}</span>
                </td>
                <td class="num">{cell(here, recorded.0)}</td>
                <td class="num ink2">{cell(there, recorded.1)}</td>
                <td class="num" class:warn=is_worse>{change}</td>
            </tr>
        }
    };
    let kinds = (0..KINDS).filter(|kind| ours[*kind] > 0 || theirs[*kind] > 0);
    let rows = kinds.map(|kind| {
        let name = texts.parts().kinds[usize::from(!has_device)][kind];
        let name = view! { {swatch(Shade::Time(kind))} {name} };
        row(name.into_any(), ours[kind], theirs[kind])
    });
    let rows = rows.collect::<Vec<_>>();
    let step = row(
        view! { {texts.profile().step_total} }.into_any(),
        here.total(),
        there.total(),
    );
    let (peak, peak_there) = diff.peak_len_bytes;
    let memory = (peak.is_some() || peak_there.is_some()).then(|| {
        let bytes = |peak: Option<u64>| {
            peak.map_or_else(|| texts.profile().not_recorded.to_owned(), format::bytes)
        };
        let change = peak.zip(peak_there).map(|(here, there)| {
            let sign = if here >= there { "+" } else { "−" };
            format!("{sign}{}", format::bytes(here.abs_diff(there)))
        });
        view! {
            <tr data-part="peak">
                <td>{texts.profile().peak}</td>
                <td class="num">{bytes(peak)}</td>
                <td class="num ink2">{bytes(peak_there)}</td>
                <td class="num">{change}</td>
            </tr>
        }
    });
    view! {
        <section class="card one-step" data-part="parts">
            <div class="head">
                <h2>{texts.profile().side_by_side_parts}</h2>
            </div>
            <table class="dense">
                <thead>
                    <tr>
                        <th>{texts.profile().phase}</th>
                        <th class="num">{texts.profile().here}</th>
                        <th class="num">{texts.profile().there}</th>
                        <th class="num">{texts.profile().difference}</th>
                    </tr>
                </thead>
                <tbody>{rows} {step} {memory}</tbody>
            </table>
        </section>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_choice_the_session_before_is_compared_else_another_rank() {
        let entry = |session: &str, rank| ProfileEntry {
            session: session.to_owned(),
            rank,
            ..ProfileEntry::default()
        };
        let list = ProfileList {
            sessions: vec![entry("2", 0), entry("2", 1), entry("1", 0)],
            ..ProfileList::default()
        };
        let of = |current: Option<&ProfileEntry>, session, rank| {
            other_of(&list, current, session, rank).map(|other| (other.session, other.rank))
        };
        let found = |session: &str, rank| Some((session.to_owned(), rank));
        assert_eq!(of(Some(&entry("2", 0)), None, None), found("1", 0));
        assert_eq!(of(Some(&entry("1", 0)), None, None), found("2", 0));
        assert_eq!(of(None, None, None), found("2", 0));
        assert_eq!(of(Some(&entry("2", 0)), None, Some(1)), found("2", 1));
        assert_eq!(of(None, Some("1"), None), found("1", 0));
        assert_eq!(of(None, Some("9"), None), None);
        let one = ProfileList {
            sessions: vec![entry("1", 0)],
            ..ProfileList::default()
        };
        assert_eq!(other_of(&one, Some(&entry("1", 0)), None, None), None);
    }

    #[test]
    fn without_another_profile_the_nearest_run_with_one_is_compared() {
        let run = |id: &str, kind: &str| Run {
            id: id.to_owned(),
            kinds: [(kind.to_owned(), 1)].into(),
            ..Run::default()
        };
        let runs = [
            run("mlp/a", "traces"),
            run("torch/one", "scalars"),
            run("torch/own", "traces"),
            run("torch/two", "profile"),
            run("torch/three", "traces"),
        ];
        assert_eq!(nearest("torch/own", &runs).as_deref(), Some("torch/two"));
        assert_eq!(nearest("other", &runs).as_deref(), Some("mlp/a"));
        assert_eq!(nearest("torch/own", &runs[1..3]), None);
    }
}
