//! The files of a run: their state, the start of damage, and records that were counted but not read.

use trainscope_api::runs::{File, FileStatus, Run};

use super::model::use_model;
use super::run_state::Files;
use trainscope_web_kit::components::{Icon, IconName, NoteFields, RightPanel};
use trainscope_web_kit::i18n::{Texts, use_i18n};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::{format, route};

#[component]
pub(super) fn FilesPanel(run: String) -> impl IntoView {
    let i18n = use_i18n();
    let model = use_model();
    let id = StoredValue::new(run.clone());
    let entry = Memo::new(move |_| id.with_value(|id| model.state.run(id)));
    let verdict = move || entry.with(|run| run.as_ref().map(|run| verdict(run, i18n.texts())));
    let content = move || {
        let texts = i18n.texts();
        let run = entry.get()?;
        let files = run
            .files
            .iter()
            .map(|file| file_card(file, texts))
            .collect_view();
        let cut = run.files_cut.then_some(texts.panel().files_cut);
        Some(view! {
            <ul class="file-list">{files}</ul>
            <p class="small ink3">{cut}</p>
        })
    };
    let may_exist = Memo::new(move |_| id.with_value(|id| model.state.may_exist(id)));
    let has_scalars = move || {
        entry.with(|run| {
            run.as_ref()
                .is_none_or(|run| run.kinds.contains_key("scalars"))
        })
    };
    let inside = move || {
        let states = i18n.texts().states();
        if !may_exist.get() {
            let title = id.with_value(|id| (states.no_run)(id));
            return view! {
                <p class="med">{title}</p>
                <p class="small ink2">{states.no_run_next}</p>
            }
            .into_any();
        }
        view! {
            <NoteFields run=id />
            {verdict}
            {content}
            <div class="acts" hidden=move || !has_scalars()>
                <a class="btn primary" href=route::scalars_href(&run, &[], None)>
                    {i18n.text(|t| t.panel().open_scalars)}
                </a>
            </div>
        }
        .into_any()
    };
    view! {
        <RightPanel
            title=Signal::derive(move || id.get_value())
            on_close=move || model.open_panel(None)
        >
            {inside}
        </RightPanel>
    }
}

/// State of the files, its consequence, and advice.
fn verdict(run: &Run, texts: Texts) -> impl IntoView + use<> {
    let panel = texts.panel();
    let all = run.files.len() as u64;
    let torn = |status| {
        run.files
            .iter()
            .filter(|file| file.status == status)
            .count() as u64
    };
    let (icon, class, title, next) = match Files::of(run) {
        Files::Damaged(bad) => (
            IconName::Warning,
            "warn",
            (panel.damaged)(bad, all),
            panel.damaged_next,
        ),
        Files::Unreadable(bad) => (
            IconName::Warning,
            "warn",
            (panel.unreadable)(bad, all),
            panel.unreadable_next,
        ),
        Files::Gone => (
            IconName::Gone,
            "ink3",
            panel.gone.to_owned(),
            texts.states().gone_next,
        ),
        Files::Truncated(bad) => (
            IconName::Info,
            "inf",
            (panel.truncated)(bad, all),
            panel.truncated_next,
        ),
        Files::Readable | Files::None => (IconName::Ok, "okc", (panel.all_whole)(all), ""),
    };
    // A damaged run can have a truncated file as well; both are displayed.
    let also = (Files::of(run).is_bad() && torn(FileStatus::Truncated) > 0).then(|| {
        let text = (panel.truncated)(torn(FileStatus::Truncated), all);
        view! { <p class="small ink2">{text}</p> }
    });
    let shown = run
        .last_step
        .map(|step| (panel.shown_to_step)(&format::integer(step)));
    let ranks = (run.ranks.len() > 1).then(|| (panel.ranks)(run.ranks.len() as u64));
    view! {
        <h3 class="flex verdict">
            <span class=class>
                <Icon name=icon size=16 />
            </span>
            {title}
        </h3>
        <p class="small ink2">{shown} " " {ranks}</p>
        {also}
        <p class="small ink2">{next}</p>
    }
}

fn file_card(file: &File, texts: Texts) -> impl IntoView + use<> {
    let panel = texts.panel();
    let at = || format::count(file.offset.unwrap_or(file.read_bytes));
    let (icon, class, state) = match file.status {
        FileStatus::Live => (IconName::Ok, "okc", panel.live.to_owned()),
        FileStatus::Complete => (IconName::Ok, "okc", panel.whole.to_owned()),
        FileStatus::Truncated => (IconName::Info, "inf", (panel.torn_at)(&at())),
        FileStatus::Damaged => (IconName::Warning, "warn", (panel.damaged_at)(&at())),
        FileStatus::Unreadable => (IconName::Warning, "warn", panel.unreadable_file.to_owned()),
        FileStatus::Gone => (IconName::Gone, "ink3", panel.gone_file.to_owned()),
    };
    let name = file
        .path
        .rsplit('/')
        .next()
        .unwrap_or(&file.path)
        .to_owned();
    let unread: Vec<String> = file
        .unread
        .iter()
        .map(|(kind, count)| format!("{} {}", (texts.runs().kind)(kind), format::count(*count)))
        .collect();
    let optional = [
        (panel.reason, file.reason.clone()),
        (
            panel.skipped,
            (file.skipped_bytes > 0).then(|| format::bytes(file.skipped_bytes)),
        ),
        (
            panel.unknown_records,
            (file.skipped_records > 0).then(|| format::count(file.skipped_records)),
        ),
        (
            panel.lost_records,
            (file.lost_records > 0).then(|| format::count(file.lost_records)),
        ),
        (
            panel.unread,
            (!unread.is_empty()).then(|| unread.join(", ")),
        ),
    ];
    let rows = optional
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .map(|(name, value)| {
            view! {
                <dt>{name}</dt>
                <dd>{value}</dd>
            }
        })
        .collect_view();
    let read = (panel.of)(
        &format::bytes(file.read_bytes),
        &format::bytes(file.len_bytes),
    );
    view! {
        <li class="file-card">
            <div class="flex">
                <span class=class>
                    <Icon name=icon size=14 />
                </span>
                <span class="cut small med" title=file.path.clone()>
                    {name}
                </span>
            </div>
            <ReadBar file=file.clone() />
            <p class=format!("small {class}")>{state}</p>
            <dl class="kv">
                <dt>{panel.read}</dt>
                <dd>{read}</dd>
                <dt>{panel.records}</dt>
                <dd>{format::count(file.records)}</dd>
                <dt>{panel.format}</dt>
                <dd>{file.format.clone()}</dd>
                {rows}
            </dl>
        </li>
    }
}

/// Bytes of a file that were read, its damaged ranges, and the bytes missing at its end. All damaged ranges are drawn
/// as one, at the start of the first.
#[component]
fn ReadBar(file: File) -> impl IntoView {
    let total = (file.len_bytes as f64).max(1.0);
    let damaged = file.skipped_bytes as f64 / total;
    let read = file.read_bytes as f64 / total;
    let before = match file.status {
        FileStatus::Damaged => (file.offset.unwrap_or(0) as f64 / total).min(read - damaged),
        _ => read - damaged,
    };
    let after = read - damaged - before;
    let width = |share: f64| format!("{:.2}%", share.clamp(0.0, 1.0) * 100.0);
    view! {
        <span class="file-bar" aria-hidden="true">
            <i class="whole" style:width=width(before)></i>
            <i class="bad hatch" style:width=width(damaged) hidden=damaged <= 0.0></i>
            <i class="whole" style:width=width(after) hidden=after <= 0.0></i>
        </span>
    }
}
