//! SQL over all ranks of a session: a statement, its rows, and the readable tables. The address has the statement.

use trainscope_api::profile::{SqlAnswer, SqlRequest, SqlValue, TABLES};
use trainscope_format::csv;

use super::model::use_model;
use super::parts::{head, long_table};
use trainscope_web_kit::client::{self, ClientError};
use trainscope_web_kit::components::download::{download, file_name};
use trainscope_web_kit::components::profile_tabs::ProfileTab;
use trainscope_web_kit::components::{Icon, IconName, Note, NoteKind, RowHeights, RowList};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::parameters::{RANK, SLICE};
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::{Query, query};
use trainscope_web_kit::url_state::{History, Key};

/// Parameter of the address: the statement.
const SQL: Key<String> = Key::new("sql");
/// Height of a row, CSS pixels.
const ROW: f64 = 26.0;
/// Number of first rows that decide if a column has numbers.
const SAMPLE: usize = 100;

/// Example statements, in the order of their titles.
const EXAMPLES: [&str; 4] = [
    "SELECT name, count(*) AS calls, sum(duration_ns) / 1e6 AS ms
FROM slices WHERE kind = 'compute'
GROUP BY name ORDER BY ms DESC LIMIT 20",
    "SELECT rank, kind, count(*) AS slices, sum(duration_ns) / 1e6 AS ms
FROM slices GROUP BY rank, kind",
    "SELECT rank, step, duration_ns / 1e6 AS ms, launches
FROM steps ORDER BY ms DESC LIMIT 20",
    "SELECT k.id, k.rank, k.name, (k.begin_ns - l.begin_ns) / 1e3 AS delay_us
FROM slices k JOIN slices l ON l.id = k.launch AND l.rank = k.rank
ORDER BY delay_us DESC LIMIT 20",
];

#[component]
pub(super) fn Sql() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let url = model.url;
    let asked = url.param(SQL);
    let draft = RwSignal::new(String::new());
    Effect::new(move || draft.set(asked.get().unwrap_or_else(|| EXAMPLES[0].to_owned())));
    let request = Memo::new(move |_| {
        let sql = asked.get().filter(|sql| !sql.trim().is_empty())?;
        let chosen = model.profiles.chosen.get()?;
        Some(SqlRequest {
            run: model.profiles.run.get(),
            session: Some(chosen.session.clone()),
            rank: None,
            sql,
        })
    });
    let answer = query(
        move || request.get(),
        |wanted| async move { client::profile_sql(&wanted).await },
    )
    .cleared_with(move || request.get());
    let run = move || {
        let sql = draft.get_untracked();
        if asked.get_untracked().as_ref() == Some(&sql) {
            answer.ask_again();
        } else {
            url.set(&[SQL.to(sql)], History::Push);
        }
    };
    let examples = move || {
        let titles = i18n.texts().profile().sql_examples.into_iter();
        let buttons = titles.zip(EXAMPLES).map(|(title, sql)| {
            view! {
                <button
                    class="btn bare small"
                    on:click=move |_| {
                        draft.set(sql.to_owned());
                        run();
                    }
                >
                    {title}
                </button>
            }
        });
        buttons.collect_view()
    };
    let refused = move || {
        let message = answer.error.with(|error| match error {
            Some(ClientError::Refused(error)) => Some(error.message.clone()),
            _ => None,
        })?;
        Some(view! {
            <Note
                kind=NoteKind::Warning
                icon=IconName::Warning
                title=i18n.label(|t| t.profile().sql_refused)
                next=Signal::stored(message)
            />
        })
    };
    view! {
        <section class="card sql-statement">
            <label class="sr-only" for="sql">
                {i18n.text(|t| t.profile().sql_label)}
            </label>
            <textarea
                id="sql"
                class="field area mono small"
                rows="5"
                spellcheck="false"
                prop:value=move || draft.get()
                on:input=move |event| draft.set(event_target_value(&event))
                on:keydown=move |event| {
                    if event.key() == "Enter" && (event.ctrl_key() || event.meta_key()) {
                        event.prevent_default();
                        run();
                    }
                }
            ></textarea>
            <div class="flex gap12 wrap">
                <button
                    class="btn primary"
                    aria-busy=move || answer.is_fetching.get().to_string()
                    on:click=move |_| run()
                >
                    <Icon name=IconName::Play size=14 />
                    {i18n.text(|t| t.profile().sql_run)}
                </button>
                <span class="small ink3">{i18n.text(|t| t.profile().sql_hint)}</span>
                <span class="grow"></span>
                {examples}
            </div>
        </section>
        {refused}
        <div class="profile-low all">
            <Rows answer />
            <Tables />
        </div>
    }
}

/// Visible rows of the answer.
#[component]
fn Rows(answer: Query<SqlAnswer>) -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let list = RowList::new(0.0, move || {
        let count = answer
            .answer
            .with(|answer| answer.as_ref().map_or(0, |answer| answer.rows.len()));
        RowHeights::Equal(count, ROW)
    });
    let are_numbers = Memo::new(move |_| {
        answer.answer.with(|answer| {
            let answer = answer.as_deref()?;
            let is_number = |at: usize| {
                let cells = answer
                    .rows
                    .iter()
                    .take(SAMPLE)
                    .filter_map(|row| row.get(at));
                let mut cells = cells.filter(|cell| **cell != SqlValue::Null);
                cells.all(|cell| matches!(cell, SqlValue::Int(_) | SqlValue::Real(_)))
            };
            Some((0..answer.columns.len()).map(is_number).collect::<Vec<_>>())
        })
    });
    let widths = move || {
        let are_numbers = are_numbers.get().unwrap_or_default();
        let width = |is_number: &bool| {
            if *is_number {
                "96px"
            } else {
                "minmax(110px, 1fr)"
            }
        };
        are_numbers.iter().map(width).collect::<Vec<_>>().join(" ")
    };
    let least = move || {
        let are_numbers = are_numbers.get().unwrap_or_default();
        let width = |is_number: &bool| if *is_number { 104 } else { 118 };
        format!("{}px", are_numbers.iter().map(width).sum::<u32>() + 24)
    };
    let beside = move || {
        let texts = i18n.texts();
        answer.answer.with(|answer| {
            let Some(answer) = answer.as_deref() else {
                return String::new();
            };
            let seconds = format::brief(answer.seconds);
            (texts.profile().sql_rows)(answer.rows.len() as u64, &seconds, answer.cut)
        })
    };
    let save = move || {
        if let Some(answer) = answer.answer.get_untracked() {
            let name = file_name(&model.profiles.run.get_untracked());
            download(&table(&answer), "text/csv", &format!("{name}-sql.csv"));
        }
    };
    let right = move || {
        view! {
            <Show when=move || answer.answer.with(Option::is_some)>
                <button class="btn bare small" on:click=move |_| save()>
                    <Icon name=IconName::Download size=14 />
                    "CSV"
                </button>
            </Show>
        }
        .into_any()
    };
    let heads = move || {
        answer.answer.with(|answer| {
            let answer = answer.as_deref()?;
            let are_numbers = are_numbers.get().unwrap_or_default();
            let heads = answer.columns.iter().zip(are_numbers).map(|(name, is_number)| {
                view! {
                    <span role="columnheader" class="cut" class:num=is_number title=name.clone()>
                        {name.clone()}
                    </span>
                }
            });
            Some(heads.collect_view())
        })
    };
    let seen = move || {
        let are_numbers = are_numbers.get().unwrap_or_default();
        let answer = answer.answer.get()?;
        let rank_at = answer.columns.iter().position(|name| name == "rank");
        let rows = list.rows_of(&answer.rows).map(|(_, row)| {
            let rank = rank_at.and_then(|at| row.get(at)).and_then(whole);
            let cells = row.iter().enumerate().map(|(at, value)| {
                let slice = answer.columns.get(at).filter(|name| *name == "id");
                let slice = slice.and_then(|_| whole(value));
                let href = slice.map(|slice| {
                    let text = |number: i64| Some(number.to_string());
                    let changes = [
                        SLICE.typed(text(slice)),
                        RANK.typed(rank.and_then(text)),
                        SQL.clear(),
                    ];
                    model.profiles.tab_href(ProfileTab::Timeline, &changes)
                });
                let is_number = are_numbers.get(at).copied().unwrap_or(false);
                cell(value, is_number, href)
            });
            view! {
                <div class="r" role="row">
                    {cells.collect_view()}
                </div>
            }
        });
        Some(rows.collect_view())
    };
    view! {
        <section class="card" data-part="rows">
            {move || {
                head(i18n.texts().profile().sql_result.to_owned(), beside(), right())
            }}
            {long_table(list, Signal::derive(widths), Signal::derive(least), heads, seen)}
        </section>
    }
}

fn whole(value: &SqlValue) -> Option<i64> {
    match value {
        SqlValue::Int(value) => Some(*value),
        _ => None,
    }
}

/// A cell; the number of a slice is a link to it in the timeline.
fn cell(value: &SqlValue, is_number: bool, href: Option<String>) -> AnyView {
    let text = text(value);
    let shown = match value {
        SqlValue::Null => view! { <span class="ink3">"NULL"</span> }.into_any(),
        SqlValue::Real(value) => format::brief(*value).into_any(),
        _ => text.clone().into_any(),
    };
    let content = match href {
        Some(href) => view! {
            <a class="link" href=href>
                {shown}
            </a>
        }
        .into_any(),
        None => shown,
    };
    view! {
        <span role="cell" class="cut" class:num=is_number title=text>
            {content}
        </span>
    }
    .into_any()
}

fn text(value: &SqlValue) -> String {
    match value {
        SqlValue::Null => String::new(),
        SqlValue::Int(value) => value.to_string(),
        SqlValue::Real(value) => value.to_string(),
        SqlValue::Text(text) => text.clone(),
    }
}

fn table(answer: &SqlAnswer) -> String {
    let cell = |value: &SqlValue| match value {
        SqlValue::Real(value) => csv::number(*value),
        value => text(value),
    };
    let rows = answer.rows.iter().map(|row| row.iter().map(cell));
    csv::text(&answer.columns, rows)
}

/// Tables with their columns.
#[component]
fn Tables() -> impl IntoView {
    let i18n = use_i18n();
    let tables = TABLES.map(|table| {
        let columns = table.columns.iter().map(|column| {
            view! {
                <li class="flex gap12" title=column.meaning>
                    <span class="mono grow">{column.name}</span>
                    <span class="micro ink3">{column.r#type.to_lowercase()}</span>
                </li>
            }
        });
        view! {
            <details open=table.name == TABLES[0].name>
                <summary class="mono med">{table.name}</summary>
                <ul class="small">{columns.collect_view()}</ul>
            </details>
        }
    });
    view! {
        <section class="card" data-part="tables">
            <div class="head">
                <h2>{i18n.text(|t| t.profile().sql_tables)}</h2>
            </div>
            <div class="body scroll sql-tables">{tables.into_iter().collect_view()}</div>
        </section>
    }
}
