//! One row: a folder's head, or a run.

use trainscope_api::findings::Verdict;
use trainscope_api::runs::{LastValue, Run, RunStatus};
use trainscope_format::hparams::HparamValue;

use super::columns::{self, Column};
use super::layout::{CHIP, RowLook, telling_end, text_width};
use super::model::use_model;
use super::noting::NoteCell;
use super::order::{Group, duration_secs};
use super::run_state::{Files, worst};
use super::spark::{HEIGHT, Spark, WIDTH};
use super::sparks::use_sparks;
use trainscope_web_kit::components::{
    Check, IconName, RunChip, RunStatusLabel, fixed_icon, health_icon, severity_icon,
    severity_name, step_parts,
};
use trainscope_web_kit::format::{self, use_now_secs};
use trainscope_web_kit::i18n::{self, I18n, Texts, use_i18n};
use trainscope_web_kit::parameters::RunsPanel;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::route::{self, RunPage};
use trainscope_web_kit::run_name::short_name;
use trainscope_web_kit::sessions::use_sessions;

/// Kinds with a data icon: name in the API, icon.
const KINDS: [(&str, IconName); 9] = [
    ("scalars", IconName::Scalars),
    ("histograms", IconName::Histograms),
    ("images", IconName::Images),
    ("audio", IconName::Audio),
    ("text", IconName::Text),
    ("tensors", IconName::Tensors),
    ("graphs", IconName::Graph),
    ("lineage", IconName::Lineage),
    (PROFILE, IconName::Profile),
];

/// Kind of spans, counted together with traces: one page shows both.
const PROFILE: &str = "profile";

/// Number of records of a kind with an icon.
fn count_of(run: &Run, kind: &str) -> u64 {
    let count = |kind: &str| run.kinds.get(kind).copied().unwrap_or(0);
    count(kind) + if kind == PROFILE { count("traces") } else { 0 }
}

/// The head of a folder, with a summary of its runs.
#[component]
pub(super) fn GroupRow(
    group: Signal<Group>,
    /// `true` while no folder is assigned to the row.
    is_spare: Signal<bool>,
) -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let part = move |class: &'static str,
                     count: fn(&Group) -> u64,
                     words: fn(Texts) -> fn(u64) -> String| {
        let count = group.with(count);
        (count > 0).then(|| {
            view! {
                " · "
                <span class=class>{words(i18n.texts())(count)}</span>
            }
        })
    };
    let is_folded = Memo::new(move |_| group.with(|group| group.folded));
    let name = move || {
        group.with(|group| match &*group.folder {
            "" => i18n.texts().runs().top_folder.to_owned(),
            folder => folder.to_owned(),
        })
    };
    view! {
        <tr class="grouprow" role="row" hidden=move || is_spare.get()>
            <td role="cell">
                <button
                    type="button"
                    class="group-button"
                    title=move || group.with(|group| group.folder.clone())
                    aria-expanded=move || (!is_folded.get()).to_string()
                    on:click=move |_| {
                        group.with_untracked(|group| model.toggle_folded(&group.folder));
                    }
                >
                    <span class="ink3">
                        {move || {
                            fixed_icon(if is_folded.get() { IconName::Right } else { IconName::Down }, 12)
                        }}
                    </span>
                    <span class="ink3">
                        {fixed_icon(IconName::Folder, 14)}
                    </span>
                    <b class="med cut">{name}</b>
                    <span class="ink3">
                        {move || (i18n.texts().frame().runs_count)(group.with(|group| group.runs))}
                        {move || part("err", |group| group.errors, |t| t.runs().error_runs)}
                        {move || part("warn", |group| group.bad, |t| t.runs().damaged_runs)}
                        {move || {
                            let live = group.with(|group| group.live);
                            (live > 0).then(|| format!(" · {}", (i18n.texts().runs().live_runs)(live)))
                        }}
                    </span>
                </button>
            </td>
        </tr>
    }
}

/// Run of a row. It changes while scrolling, which reuses rows instead of creating them.
#[derive(Clone, Copy)]
pub(super) struct RowRun {
    /// Name of the run.
    pub(super) id: Signal<String>,
    /// `true` below a folder's header, which displays the folder.
    pub(super) is_grouped: Signal<bool>,
    /// `true` while no run is assigned to the row.
    pub(super) is_spare: Signal<bool>,
}

/// A run. All its cells follow the list of runs in place.
#[component]
pub(super) fn RunRow(shown: RowRun) -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let now = use_now_secs();
    let RowRun {
        id,
        is_grouped,
        is_spare,
    } = shown;
    let run = Memo::new(move |_| id.with(|id| model.state.run(id)));
    let is_selected =
        Memo::new(move |_| id.with(|id| model.selected.with(|list| list.contains(id))));
    let is_cursor =
        Memo::new(move |_| id.with(|id| model.cursor.with(|cursor| cursor.as_ref() == Some(id))));
    let look: RowLook = expect_context();
    let name = Memo::new(move |_| {
        id.with(|id| match id.as_str() {
            "." => i18n.texts().frame().base_run.to_owned(),
            id if is_grouped.get() => short_name(id).to_owned(),
            id => id.to_owned(),
        })
    });
    // A name that is cut keeps the end that differs from its neighbours.
    let parted = Memo::new(move |_| {
        let name = name.get();
        if text_width(&name) + CHIP <= look.name.get() {
            return (name, String::new());
        }
        let (before, after) = id.with(|id| model.state.beside(id));
        let short = |other: &String| {
            let other = if is_grouped.get() {
                short_name(other)
            } else {
                other
            };
            other.to_owned()
        };
        let (before, after) = (before.as_ref().map(short), after.as_ref().map(short));
        let at = telling_end(&name, before.as_deref(), after.as_deref());
        let (head, tail) = name.split_at(at.unwrap_or(name.len()));
        (head.to_owned(), tail.to_owned())
    });
    let is_hidden =
        Memo::new(move |_| id.with(|id| model.hidden.with(|hidden| hidden.contains(id))));
    let field = move |read: fn(&Run) -> String| move || run.with(|run| run.as_ref().map(read));
    // A growing run changes a few times per second, but most of its cells do not.
    let kinds = Memo::new(move |_| run.with(|run| run.as_ref().map(|run| run.kinds.clone())));
    let health = Memo::new(move |_| {
        let of = |run: &Run| (run.health.clone(), Files::of(run), run.files.len());
        run.with(|run| run.as_ref().map(of))
    });
    let status = Signal::derive(move || {
        let status = run.with(|run| run.as_ref().map(|run| run.status));
        status.unwrap_or(RunStatus::Gone)
    });
    // A run without a loss shows the parts of a step in place of its curve.
    let profile = Memo::new(move |_| {
        run.with(|run| {
            let run = run.as_ref().filter(|run| run.loss.is_none())?;
            run.profile.clone()
        })
    });
    let sessions = use_sessions();
    let waits = Memo::new(move |_| id.with(|id| sessions.is_waiting(Some(id))));
    let updated =
        Memo::new(move |_| run.with(|run| run.as_ref().and_then(|run| run.last_wall_time_secs)));
    let age = move || {
        let updated = updated.get();
        updated.map_or_else(
            || "–".to_owned(),
            |secs| i18n::age(secs, now.get(), i18n.locale()),
        )
    };
    view! {
        <tr
            role="row"
            hidden=move || is_spare.get()
            class:cur=move || is_cursor.get()
            class:pale=move || is_hidden.get()
            aria-selected=move || is_selected.get().to_string()
            on:pointerdown=move |_| model.cursor.set(Some(id.get_untracked()))
        >
            <td role="cell" class="c-check">
                <Check
                    checked=is_selected
                    label=Signal::derive(move || id.with(|id| (i18n.texts().runs().select_run)(id)))
                    on_press=move || id.with_untracked(|id| model.toggle_selected(id))
                />
            </td>
            <td role="rowheader" class="c-name" title=move || id.get()>
                <span class="nm">
                    <RunChip run=id />
                    <a
                        class="cut"
                        class:parted=move || parted.with(|(_, tail)| !tail.is_empty())
                        href=move || id.with(|id| route::overview_href(id))
                    >
                        <span>{move || parted.with(|(head, _)| head.clone())}</span>
                        <span>{move || parted.with(|(_, tail)| tail.clone())}</span>
                    </a>
                    <Show when=move || is_hidden.get()>
                        <span class="badge">{i18n.text(|t| t.runs().is_hidden)}</span>
                    </Show>
                </span>
            </td>
            <td role="cell" class="c-files">
                {move || {
                    // A read, not only a subscription: a memo without readers is never recomputed.
                    health.with(|_| ());
                    run.with_untracked(|run| run.as_ref().map(|run| health_cell(id, run, i18n)))
                }}
            </td>
            <td role="cell" class="c-status">
                <RunStatusLabel status waits />
            </td>
            <td
                role="cell"
                class="c-steps num"
                title=field(|run| run.last_step.map_or_else(String::new, format::integer))
            >
                {field(|run| run.last_step.map_or_else(|| "–".to_owned(), format::short_step))}
            </td>
            <td role="cell" class="c-curve">
                <Curve id=id run=run />
                {move || profile.with(|profile| step_parts(profile.as_ref()?, i18n.texts()))}
            </td>
            <LastCell
                class="c-loss num"
                column="loss"
                value=Memo::new(move |_| run.with(|run| run.as_ref()?.loss.clone()))
                instead=move || {
                    let nanos = profile
                        .with(|profile| profile.as_ref().map(|profile| profile.mean_step_nanos.unsigned_abs()));
                    nanos.filter(|nanos| *nanos > 0).map(format::nanos)
                }
            />
            <LastCell
                class="c-metric num"
                column="metric"
                value=Memo::new(move |_| run.with(|run| run.as_ref()?.metric.clone()))
                instead=|| None
            />
            {move || {
                let columns = model.columns.get();
                columns.into_iter().map(|column| view! { <ColumnCell run=run column=column /> }).collect_view()
            }}
            <td role="cell" class="c-updated num ink2" title=move || updated.get().map(format::moment)>
                {age}
            </td>
            <td role="cell" class="c-duration num ink2">
                {field(|run| duration_secs(run).map_or_else(|| "–".to_owned(), format::duration))}
            </td>
            <td role="cell" class="c-data">
                {move || {
                    kinds.with(|_| ());
                    run.with_untracked(|run| {
                        let run = run.as_ref()?;
                        Some(look.kinds.with(|kinds| data_icons(id, run, kinds, i18n.texts())))
                    })
                }}
            </td>
            <NoteCell run=id />
        </tr>
    }
}

/// The words of a run's health without its count, for the width of their column.
pub(super) fn health_words(run: &Run, i18n: I18n) -> String {
    let texts = i18n.texts().runs();
    let first = run.health.as_ref().and_then(|health| health.first.as_ref());
    match first {
        Some(first) => {
            let words = i18n.words(&first.title);
            [Some(words), at_step(run, first.step, i18n.texts())]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(" ")
        }
        None => texts.healthy.to_owned(),
    }
}

/// The step of a finding; `None` for a recording without steps, whose findings are about all of it.
fn at_step(run: &Run, step: i64, texts: Texts) -> Option<String> {
    let has_steps = step != 0 || run.last_step.is_some();
    has_steps.then(|| (texts.runs().at_step)(&format::integer(step)))
}

/// Kinds with an icon that a run has.
pub(super) fn shown_kinds(run: &Run) -> impl Iterator<Item = &'static str> + '_ {
    let kinds = KINDS.iter().map(|(kind, _)| *kind);
    kinds.filter(|kind| count_of(run, kind) > 0)
}

/// Health of a run: its findings, otherwise the state of its files. Cells of equal health only differ in their links,
/// which update automatically.
fn health_cell(id: Signal<String>, run: &Run, i18n: I18n) -> impl IntoView + use<> {
    let texts = i18n.texts();
    let first = run.health.as_ref().and_then(|health| health.first.clone());
    let (Some(first), Some(health)) = (first, &run.health) else {
        // Damage of files is more important than a lack of findings in the rest.
        let health = run.health.as_ref();
        let health = health.filter(|_| Files::of(run) == Files::Readable);
        return match health {
            Some(health) => {
                let (class, icon) = health_icon(health);
                let text = match health.verdict {
                    Verdict::NoProblem => texts.runs().healthy,
                    Verdict::Nothing => texts.runs().unchecked,
                    _ => texts.runs().in_part,
                };
                let debugger = move || id.with(|id| route::run_href(id, RunPage::Debugger));
                view! {
                    <a class=format!("sev {class}") href=debugger title=i18n.words(&health.summary)>
                        {fixed_icon(icon, 14)}
                        <span class="cut ink2">{text}</span>
                    </a>
                }
                .into_any()
            }
            None => files_cell(id, run, texts).into_any(),
        };
    };
    let severity = worst(run).unwrap_or(first.severity);
    let (class, icon) = severity_icon(severity);
    // A run with only informational findings shows their number next to their icon.
    let count = match health.counts.problems() {
        0 => health.counts.info,
        problems => problems,
    };
    let words = i18n.words(&first.title);
    let at = at_step(run, first.step, texts);
    let title = [
        Some((texts.frame().hits)(health.counts)),
        Some(words.clone()),
        Some(first.tensor.clone()),
        at.clone(),
    ];
    let title = title.into_iter().flatten().collect::<Vec<_>>().join(" · ");
    let debugger = move || id.with(|id| route::run_href(id, RunPage::Debugger));
    view! {
        <a class="sev" href=debugger title=title data-severity=severity_name(severity)>
            <span class=format!("sev {class}")>
                {fixed_icon(icon, 14)} <b class="med">{format::count(count)}</b>
            </span>
            <span class="cut ink2">{words} " " {at}</span>
        </a>
    }
    .into_any()
}

/// State of a run's files, independent of the training's health. Links to the panel of its files.
fn files_cell(id: Signal<String>, run: &Run, texts: Texts) -> impl IntoView + use<> {
    let model = use_model();
    let all = run.files.len() as u64;
    let files = Files::of(run);
    let (class, icon, text) = match files {
        Files::Damaged(bad) => ("sev warn", IconName::File, (texts.runs().damaged)(bad, all)),
        Files::Unreadable(bad) => (
            "sev warn",
            IconName::File,
            (texts.runs().unreadable)(bad, all),
        ),
        Files::Truncated(bad) => (
            "sev ink2",
            IconName::File,
            (texts.runs().truncated)(bad, all),
        ),
        Files::Gone => ("sev ink3", IconName::Gone, texts.runs().removed.to_owned()),
        Files::Readable => ("sev ink3", IconName::File, texts.runs().readable.to_owned()),
        Files::None => ("sev ink3", IconName::Gone, texts.runs().no_files.to_owned()),
    };
    let title = format!("{text} · {}", texts.runs().show_files);
    view! {
        <a
            class=class
            href=move || id.with(|id| model.panel_href(RunsPanel::Files(id.clone())))
            title=title
        >
            {fixed_icon(icon, 14)}
            <span class="cut">{text}</span>
        </a>
    }
}

/// Last value of a scalar; NaN and infinities are highlighted.
#[component]
fn LastCell(
    class: &'static str,
    /// Name in `data-column`.
    column: &'static str,
    value: Memo<Option<LastValue>>,
    /// Text in place of a value.
    instead: impl Fn() -> Option<String> + Send + 'static,
) -> impl IntoView {
    let text = move || {
        let shown = value.with(|value| value.as_ref().map(|last| format::cell(last.value)));
        shown.or_else(&instead).unwrap_or_else(|| "–".to_owned())
    };
    let is_bad =
        move || value.with(|value| value.as_ref().is_some_and(|last| !last.value.is_finite()));
    let title = move || {
        value.with(|value| {
            let last = value.as_ref()?;
            let step = format::integer(last.step);
            Some(format!("{} @ {step}: {}", last.tag, last.value))
        })
    };
    view! {
        <td
            role="cell"
            class=class
            class:err=is_bad
            class:bold=is_bad
            data-column=column
            data-kind=move || is_bad().then_some("non-finite")
            title=title
        >
            {text}
        </td>
    }
}

/// Value of an optional column.
#[component]
fn ColumnCell(run: Memo<Option<Run>>, column: Column) -> impl IntoView {
    let model = use_model();
    let value = Memo::new(move |_| run.with(|run| model.cell(run.as_ref()?, &column)));
    let text = move || value.with(|value| value.as_ref().map(columns::text));
    let is_bad =
        move || value.with(|value| matches!(value, Some(HparamValue::Number(n)) if !n.is_finite()));
    view! {
        <td role="cell" class="c-hparam num" data-column="chosen" class:err=is_bad class:bold=is_bad title=text>
            {move || text().unwrap_or_else(|| "–".to_owned())}
        </td>
    }
}

/// Curve of the loss over the steps of the run.
#[component]
fn Curve(id: Signal<String>, run: Memo<Option<Run>>) -> impl IntoView {
    let i18n = use_i18n();
    let colours = trainscope_web_kit::run_colour::use_run_colours();
    let sparks = use_sparks();
    let label = move || {
        run.with(|run| {
            let last = run.as_ref()?.loss.as_ref()?;
            Some((i18n.texts().runs().curve)(
                &last.tag,
                &format::cell(last.value),
            ))
        })
    };
    // The elements stay when the run of the row changes; only attributes that differ are set.
    let spark = Memo::new(move |_| id.with(|id| sparks.get(id)).get());
    let is_there = Memo::new(move |_| spark.with(Option::is_some));
    let attribute = move |read: fn(&Spark) -> String| {
        move || spark.with(|spark| spark.as_deref().map(read).unwrap_or_default())
    };
    let class = move || format!("spark {}", id.with(|id| colours.get(id)).class());
    let nan = Memo::new(move |_| spark.with(|spark| spark.as_ref()?.nan));
    let dot = Memo::new(move |_| spark.with(|spark| spark.as_ref()?.dot));
    move || {
        is_there.get().then(|| {
            let nan = move || {
                nan.get().map(|(from, to)| {
                    let middle = HEIGHT / 2.0;
                    let cross = format!("M{} {}l5 5m0 -5l-5 5", from - 2.5, middle - 2.5);
                    view! {
                        <line class="after-nan" x1=from + 4.0 x2=to y1=middle y2=middle />
                        <path class="nan-cross" d=cross />
                    }
                })
            };
            let dot = move || {
                let dot = dot.get();
                dot.map(|(x, y)| view! { <circle class="lone" cx=x cy=y r="1.75" /> })
            };
            view! {
                <svg
                    class=class
                    width=WIDTH
                    height=HEIGHT
                    viewBox="0 0 76 20"
                    role="img"
                    aria-label=label
                >
                    <path class="ln" d=attribute(|spark| spark.path.clone()) />
                    {nan}
                    {dot}
                </svg>
            }
        })
    }
}

/// Icons of the kinds of data in the list: links to the pages that show them, otherwise counts.
fn data_icons(
    id: Signal<String>,
    run: &Run,
    kinds: &[&str],
    texts: Texts,
) -> impl IntoView + use<> {
    let icons = KINDS
        .iter()
        .filter(|(kind, _)| kinds.contains(kind))
        .map(|(kind, icon)| {
            let name = (texts.runs().kind)(kind);
            match count_of(run, kind) {
                0 => view! {
                    <span class="no" title=(texts.runs().kind_none)(name)>
                        {fixed_icon(*icon, 14)}
                    </span>
                }
                .into_any(),
                count if RunPage::of_kind(kind).is_some() => {
                    let page = RunPage::of_kind(kind).unwrap_or(RunPage::Overview);
                    let label = format!("{name}: {}", format::count(count));
                    view! {
                        <a
                            href=move || id.with(|id| route::run_href(id, page))
                            title=label.clone()
                            aria-label=label
                        >
                            {fixed_icon(*icon, 14)}
                        </a>
                    }
                    .into_any()
                }
                count => view! {
                    <span class="unshown" title=(texts.runs().kind_count)(name, count)>
                        {fixed_icon(*icon, 14)}
                    </span>
                }
                .into_any(),
            }
        })
        .collect_view();
    view! { <span class="data">{icons}</span> }
}
