//! Totals of the area by name and lane; a press on a name frames its slices.

use std::cmp::Reverse;

use trainscope_api::timeline::{AreaAnswer, AreaName};
use trainscope_format::csv;

use super::ink::colour_of;
use super::model::use_model;
use super::times;
use trainscope_web_kit::components::download::{download, file_name};
use trainscope_web_kit::components::{IconButton, IconName, long_name};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

/// Maximum number of rows; the downloaded file has all.
const MAX_ROWS: usize = 200;

/// Columns of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Total,
    Own,
    Mean,
    Count,
}

impl Column {
    const ALL: [Self; 4] = [Self::Total, Self::Own, Self::Mean, Self::Count];

    fn value(self, row: &AreaName) -> i64 {
        match self {
            Self::Total => row.total_nanos,
            Self::Own => row.self_nanos,
            Self::Mean => mean(row),
            Self::Count => i64::try_from(row.count).unwrap_or(i64::MAX),
        }
    }

    fn text(self, row: &AreaName) -> String {
        match self {
            Self::Count => format::count(row.count),
            _ => times::length(self.value(row)),
        }
    }
}

fn mean(row: &AreaName) -> i64 {
    row.total_nanos / i64::try_from(row.count).unwrap_or(i64::MAX).max(1)
}

/// Indices of the rows, the largest of a column first.
fn order(names: &[AreaName], column: Column) -> Vec<usize> {
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|index| Reverse(names.get(*index).map(|row| column.value(row))));
    order
}

/// All rows as CSV.
fn table(answer: &AreaAnswer) -> String {
    let rows = answer.names.iter().map(|row| {
        [
            row.name.clone(),
            row.lane.clone(),
            row.total_nanos.to_string(),
            row.self_nanos.to_string(),
            mean(row).to_string(),
            row.count.to_string(),
        ]
    });
    let head = "name,lane,total_nanos,self_nanos,mean_nanos,count";
    csv::text(head.split(','), rows)
}

#[component]
pub(super) fn Totals() -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let sorted = RwSignal::new(Column::Total);
    let rows = move || {
        let answer = model.totals.answer.get()?;
        let order = order(&answer.names, sorted.get());
        let rows = order.into_iter().take(MAX_ROWS);
        let rows = rows.filter_map(|index| {
            let row = answer.names.get(index)?;
            let name = row.name.clone();
            let share = times::share(row.total_nanos, answer.length_nanos);
            let numbers = Column::ALL.map(|column| {
                view! { <td class="num">{column.text(row)}</td> }
            });
            Some(view! {
                <tr>
                    <td>
                        <span class="flex">
                            <i class="sw" style:--c=colour_of(row.kind)></i>
                            <button
                                type="button"
                                class="name"
                                title=name.clone()
                                on:click=move |_| model.set_search(&name)
                            >
                                {long_name(&row.name)}
                            </button>
                        </span>
                    </td>
                    <td class="ink2 cut of-lane" title=row.lane.clone()>
                        {last_segment(&row.lane).to_owned()}
                    </td>
                    {numbers.into_iter().collect_view()}
                    <td class="num ink2">{share}</td>
                </tr>
            })
        });
        Some(rows.collect_view())
    };
    let foot = move || {
        let answer = model.totals.answer.get()?;
        let texts = i18n.texts().timeline();
        let shown = answer.names.len().min(MAX_ROWS);
        if answer.names.is_empty() {
            return Some(texts.nothing_in_area.to_owned());
        }
        (answer.cut || shown < answer.names.len()).then(|| (texts.first_names)(shown as u64))
    };
    let save = move || {
        if let Some(answer) = model.totals.answer.get_untracked() {
            let run = model.profiles.run.get_untracked();
            let name = format!("{}.area.csv", file_name(&run));
            download(&table(&answer), "text/csv", &name);
        }
    };
    let head = move |column: Column| {
        let is_sorted = move || sorted.get() == column;
        view! {
            <th class="num" aria-sort=move || if is_sorted() { "descending" } else { "none" }>
                <button
                    type="button"
                    class:sort=is_sorted
                    on:click=move |_| sorted.set(column)
                >
                    {move || i18n.texts().timeline().columns[column as usize]}
                    {move || is_sorted().then_some(" ↓")}
                </button>
            </th>
        }
    };
    view! {
        <div class="totals">
            <table class="dense">
                <thead>
                    <tr>
                        <th>{i18n.text(|t| t.timeline().name)}</th>
                        <th class="of-lane">{i18n.text(|t| t.timeline().lane)}</th>
                        {Column::ALL.map(head).into_iter().collect_view()}
                        <th class="num share">
                            {i18n.text(|t| t.timeline().share)}
                            <IconButton
                                icon=IconName::Download
                                size=12
                                label=i18n.label(|t| t.timeline().save_totals)
                                on_press=save
                            />
                        </th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
            <p class="micro ink3">{foot}</p>
        </div>
    }
}

/// The thread of `process/thread`.
fn last_segment(lane: &str) -> &str {
    lane.rsplit_once('/').map_or(lane, |(_, thread)| thread)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(name: &str, count: u64, total_nanos: i64, self_nanos: i64) -> AreaName {
        AreaName {
            name: name.to_owned(),
            lane: "gpu/stream 7".to_owned(),
            count,
            total_nanos,
            self_nanos,
            ..AreaName::default()
        }
    }

    #[test]
    fn rows_are_sorted_by_their_column() {
        let all = [
            name("a", 10, 100, 5),
            name("b", 1, 90, 90),
            name("c", 0, 50, 50),
        ];
        let of = |column| order(&all, column);
        assert_eq!(of(Column::Total), [0, 1, 2]);
        assert_eq!(of(Column::Own), [1, 2, 0]);
        assert_eq!(of(Column::Mean), [1, 2, 0]);
        assert_eq!(of(Column::Count), [0, 1, 2]);
    }

    #[test]
    fn the_table_has_all_names() {
        let answer = AreaAnswer {
            names: vec![name("say \"hi\", twice", 2, 9, 4)],
            ..AreaAnswer::default()
        };
        assert_eq!(
            table(&answer),
            "name,lane,total_nanos,self_nanos,mean_nanos,count\n\
             \"say \"\"hi\"\", twice\",gpu/stream 7,9,4,4,2\n"
        );
        assert_eq!(last_segment("gpu/stream 7"), "stream 7");
        assert_eq!(last_segment("main"), "main");
    }
}
