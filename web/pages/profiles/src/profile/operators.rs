//! Operators and kernels: groups, filter, order, and the panel of one of them.

use std::sync::Arc;

use trainscope_api::profile::{
    MAX_OPERATORS, OperatorGroup, OperatorRow, OperatorsAnswer, OperatorsQuery,
};

mod columns;
mod flops;
mod panel;
mod table;

use columns::{Column, SORT, Scale};
use panel::OperatorPanel;
use table::OperatorTable;

use super::lack::{Lack, missing};
use super::model::{BY, share, time, use_model};
use super::parts::{Refusal, Standing, downloads, verdict};
use trainscope_web_kit::client;
use trainscope_web_kit::components::{Check, IconName, Popover, SegOption, Segmented, fixed_icon};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::parameters::OPERATOR;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::query;
use trainscope_web_kit::url_state::{History, Key, Setting};

const FILTER: Setting<String> = Key::new("filter").or(String::new());
/// Shapes of the selected row.
const SHAPES: Setting<String> = Key::new("shapes").or(String::new());
/// Columns that are switched off.
const HIDDEN: Setting<Vec<String>> = Key::new("hide").or(Vec::new());

/// Fields of rows in downloads.
const FIELDS: [&str; 17] = [
    "name",
    "type",
    "shapes",
    "calls",
    "self_nanos",
    "total_nanos",
    "mean_nanos",
    "median_nanos",
    "p99_nanos",
    "self_step_nanos",
    "share",
    "device_self_nanos",
    "device_total_nanos",
    "flops",
    "bytes",
    "roofline",
    "bound",
];

/// Maximum number of characters of a name in the sentence.
const SENTENCE_CHARS: usize = 72;

/// Groups in the order of the choice.
const GROUPS: [OperatorGroup; 6] = [
    OperatorGroup::Type,
    OperatorGroup::Name,
    OperatorGroup::Scope,
    OperatorGroup::Shape,
    OperatorGroup::Kernel,
    OperatorGroup::Variant,
];

/// The ten operators with the most self time, on the first view.
#[component]
pub(super) fn TopOperators() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let rows = Memo::new(move |_| {
        let rows = model.with(|summary| summary.operators.clone());
        Arc::new(rows.unwrap_or_default())
    });
    let by = Memo::new(|_| OperatorGroup::Name);
    let steps = Memo::new(move |_| model.with(|summary| summary.step_count).unwrap_or(0));
    let scale = Memo::new(move |_| Scale {
        steps: steps.get(),
        peak_flops: model.peak_flops(),
    });
    let columns = Memo::new(move |_| rows.with(|rows| Column::few(rows, scale.get())));
    let footer = move || {
        let texts = i18n.texts();
        let shown = rows.with(|rows| rows.iter().map(|row| row.share).sum::<f64>());
        let count = rows.with(|rows| rows.len()) as u64;
        let all = model
            .with(|summary| summary.operator_count)
            .unwrap_or(count);
        (texts.profile().of_operators)(count, all, &format::percent(shown.clamp(0.0, 1.0)))
    };
    move || {
        let has_rows = rows.with(|rows| !rows.is_empty());
        has_rows.then(|| {
            view! {
                <div class="profile-low">
                    <section class="card" data-part="operators">
                        <div class="head">
                            <h2>{i18n.text(|t| t.profile().operators)}</h2>
                            <span class="grow"></span>
                            {downloads("operators", &FIELDS, move || rows.get_untracked().to_vec())}
                        </div>
                        <OperatorTable rows by columns scale footer=Signal::derive(footer) />
                    </section>
                    <OperatorPanel rows by steps />
                </div>
            }
        })
    }
}

/// The view of all operators.
#[component]
pub(super) fn Operators() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let url = model.url;
    let (by, filter) = (url.setting(BY), url.setting(FILTER));
    let asked = Memo::new(move |_| {
        let wanted = model.profiles.query.get();
        OperatorsQuery {
            run: wanted.run,
            session: wanted.session,
            rank: wanted.rank,
            since_step: wanted.since_step,
            until_step: wanted.until_step,
            by: by.get(),
            filter: Some(filter.get()).filter(|text| !text.trim().is_empty()),
            from: 0,
            limit: Some(MAX_OPERATORS),
        }
    });
    let run = Signal::derive(move || Arc::new(vec![model.profiles.run.get()]));
    let answer = query(
        move || Some(asked.get()),
        |wanted| async move { client::profile_operators(&wanted).await },
    )
    .cleared_with(move || asked.with(|asked| (asked.session.clone(), asked.rank, asked.by)))
    .again_with_runs(run);
    let rows = Memo::new(move |_| {
        let answer = answer.answer.get();
        Arc::new(answer.map(|answer| answer.rows.clone()).unwrap_or_default())
    });
    let steps = Memo::new(move |_| {
        answer
            .answer
            .with(|answer| answer.as_ref().map_or(0, |answer| answer.steps))
    });
    let scale = Memo::new(move |_| {
        // A recording without steps counts as one step.
        let has_steps = model
            .with(|summary| summary.step_count > 0)
            .unwrap_or(false);
        Scale {
            steps: if has_steps { steps.get() } else { 0 },
            peak_flops: model.peak_flops(),
        }
    });
    let all_columns = Memo::new(move |_| rows.with(|rows| Column::of(by.get(), rows, scale.get())));
    let hidden = url.setting(HIDDEN);
    let columns = Memo::new(move |_| {
        let all = all_columns.get().into_iter();
        hidden.with(|hidden| {
            let is_shown = |column: &Column| !hidden.iter().any(|key| key == column.key());
            all.filter(is_shown).collect()
        })
    });
    let footer = move || {
        let texts = i18n.texts();
        answer
            .answer
            .with(|answer| {
                let answer = answer.as_deref()?;
                let nanos = time_of(answer, by.get());
                let part = format::percent(share(nanos.0, nanos.1).clamp(0.0, 1.0));
                Some((texts.profile().of_operators)(
                    answer.rows.len() as u64,
                    answer.total,
                    &part,
                ))
            })
            .unwrap_or_default()
    };
    let sentence = move || {
        let texts = i18n.texts();
        let open = (
            texts.profile().open_all.to_owned(),
            model.step_href(None, None),
        );
        rows.with(|rows| {
            let first = rows.first()?;
            let all = rows.len() as u64;
            let name = match &*first.name {
                "" => texts.profile().no_scope.to_owned(),
                name => cut_in_the_middle(&format::short_name(name)),
            };
            let sentence = (texts.profile().most_time)(
                &name,
                &time(first.self_step_nanos),
                &format::percent(first.share),
                scale.get().steps > 0,
            );
            let half = half(rows);
            let detail = (texts.profile().half_time)(half as u64, all);
            Some(verdict(
                Standing::Found(trainscope_format::Severity::Info),
                sentence,
                detail,
                Some(open),
            ))
        })
    };
    let options = GROUPS.into_iter().enumerate().map(|(at, group)| SegOption {
        value: group,
        label: Signal::derive(move || i18n.texts().profile().groups[at].to_owned()),
    });
    let choose = move |group: OperatorGroup| {
        let changes = [BY.to(group), OPERATOR.clear(), SHAPES.clear(), SORT.clear()];
        url.set(&changes, History::Push);
    };
    let on_filter = move |event| {
        let filter = FILTER.to(event_target_value(&event));
        url.set(&[filter], History::Replace);
    };
    // Data that the profiler left out, with the argument that adds it.
    let hint = move || {
        let entry = model.profiles.chosen.get()?;
        let lack = match by.get() {
            OperatorGroup::Shape if !entry.has.shapes => Lack::Shapes,
            OperatorGroup::Scope if !entry.has.stacks => Lack::Stacks,
            group if group.is_of_kernels() && !entry.has.device => Lack::Device,
            _ => return None,
        };
        Some(missing(lack, &entry.format))
    };
    view! {
        {sentence}
        <Refusal error=answer.error />
        <div class="profile-low all">
            <section class="card" data-part="operators">
                <div class="head tall">
                    <Segmented
                        label=i18n.label(|t| t.profile().group)
                        options=options.collect()
                        value=by
                        on_choose=choose
                    />
                    <span class="grow"></span>
                    <label class="field find">
                        {fixed_icon(IconName::Filter, 14)}
                        <input
                            type="search"
                            class="bare-input"
                            name="filter"
                            placeholder=i18n.text(|t| t.profile().filter)
                            aria-label=i18n.text(|t| t.profile().filter)
                            title=i18n.text(|t| t.profile().filter_title)
                            prop:value=move || filter.get()
                            on:input=on_filter
                        />
                    </label>
                    <ColumnChoice all=all_columns by scale shown=columns />
                    {downloads("operators", &FIELDS, move || rows.get_untracked().to_vec())}
                </div>
                {hint}
                <OperatorTable rows by columns scale footer=Signal::derive(footer) />
            </section>
            <OperatorPanel rows by steps />
        </div>
    }
}

/// The choice of columns: all but the name.
#[component]
fn ColumnChoice(
    /// Columns with data.
    all: Memo<Vec<Column>>,
    by: Memo<OperatorGroup>,
    scale: Memo<Scale>,
    shown: Memo<Vec<Column>>,
) -> impl IntoView {
    let url = use_model().url;
    let i18n = use_i18n();
    let is_open = RwSignal::new(false);
    let hidden = url.setting(HIDDEN);
    let press = move |column: Column| {
        let mut hidden = hidden.get_untracked();
        let key = column.key();
        match hidden.iter().position(|known| known == key) {
            Some(at) => {
                hidden.remove(at);
            }
            None => hidden.push(key.to_owned()),
        }
        url.set(&[HIDDEN.to(hidden)], History::Replace);
    };
    let rows = move || {
        let columns = all
            .get()
            .into_iter()
            .filter(|column| *column != Column::Name);
        let columns = columns.map(|column| {
            let title = move || column.title(by.get(), scale.get(), i18n.texts());
            let checked = Memo::new(move |_| shown.with(|shown| shown.contains(&column)));
            view! {
                <li class="flex column-choice">
                    <Check
                        checked
                        label=Signal::derive(move || title().to_owned())
                        on_press=move || press(column)
                    />
                    <span>{title}</span>
                </li>
            }
        });
        columns.collect::<Vec<_>>()
    };
    view! {
        <Popover
            is_open
            label=i18n.label(|t| t.profile().choose_columns)
            class="btn bare icon small-icon"
            panel_class="popover narrow columns"
            pressed=Signal::derive(move || hidden.with(|hidden| !hidden.is_empty()))
            face=ViewFn::from(|| fixed_icon(IconName::Columns, 14))
        >
            <ul class="column-choices">{rows}</ul>
        </Popover>
    }
}

/// Shortens a name to [`SENTENCE_CHARS`] by leaving out its middle: names of kernels are long.
fn cut_in_the_middle(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let Some(left_out) = letters
        .len()
        .checked_sub(SENTENCE_CHARS)
        .filter(|count| *count > 0)
    else {
        return name.to_owned();
    };
    let begin = SENTENCE_CHARS * 2 / 3;
    let [begin, end] = [&letters[..begin], &letters[begin + left_out..]].map(String::from_iter);
    format!("{begin}…{end}")
}

/// Time of the rows, and of all operators or kernels, ns.
fn time_of(answer: &OperatorsAnswer, by: OperatorGroup) -> (i64, i64) {
    let is_kernel = by.is_of_kernels();
    let rows = answer.rows.iter().map(|row| {
        if is_kernel {
            row.device_self_nanos.max(row.self_nanos)
        } else {
            row.self_nanos
        }
    });
    let all = if is_kernel {
        answer.device_nanos
    } else {
        answer.self_nanos
    };
    (rows.sum(), all)
}

/// Number of the first rows that take half of the total time.
fn half(rows: &[OperatorRow]) -> usize {
    let mut sum = 0.0;
    let before = rows.iter().take_while(|row| {
        let is_less = sum < 0.5;
        sum += row.share;
        is_less
    });
    before.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_time_includes_the_row_that_reaches_it() {
        let row = |share| OperatorRow {
            share,
            ..OperatorRow::default()
        };
        assert_eq!(half(&[row(0.4), row(0.3), row(0.2)]), 2);
        assert_eq!(half(&[row(0.6), row(0.4)]), 1);
        assert_eq!(half(&[]), 0);
    }
}
