//! Columns of the table, fetched when something needs them, and kept up to date: of runs that grow only their rows are
//! fetched again.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use leptos::task::spawn_local;
use trainscope_api::table::{TableAnswer, TableColumns, TableRequest};

use trainscope_web_kit::client::{self, ClientError};
use trainscope_web_kit::live::use_live;
use trainscope_web_kit::prelude::*;
use trainscope_web_kit::query::{Query, query};

/// Changed rows are asked for at most this often: a sort is redone once a second.
const PAUSE: Duration = Duration::from_secs(1);

/// The columns that have arrived. `Copy`.
#[derive(Clone, Copy)]
pub(super) struct Store {
    /// Facts about all columns.
    pub(super) columns: Query<TableColumns>,
    /// Rows with the columns that have arrived.
    pub(super) table: RwSignal<Arc<TableAnswer>>,
    /// `true` once rows have arrived.
    pub(super) is_ready: RwSignal<bool>,
    /// Reason for which the last request for columns failed.
    pub(super) error: RwSignal<Option<ClientError>>,
    /// Columns that are on their way.
    asked: StoredValue<BTreeSet<String>>,
    is_due: StoredValue<bool>,
}

impl Store {
    pub(super) fn new() -> Self {
        let live = use_live();
        let columns = query(|| Some(()), |()| async { client::table_columns().await });
        let store = Self {
            columns: columns.again_with(move || live.list_version.get()),
            table: RwSignal::new(Arc::new(TableAnswer::default())),
            is_ready: RwSignal::new(false),
            error: RwSignal::new(None),
            asked: StoredValue::new(BTreeSet::new()),
            is_due: StoredValue::new(false),
        };
        Effect::new(move |before: Option<()>| {
            live.list_version.track();
            live.last_notice.track();
            if before.is_some() {
                store.refresh_soon();
            }
        });
        store
    }

    /// Asks for columns that are neither there nor on their way.
    pub(super) fn need(self, keys: &[String]) {
        let table = self.table.get_untracked();
        let is_there = |key: &String| table.columns.iter().any(|own| own.key == *key);
        let is_asked = |key: &String| self.asked.with_value(|asked| asked.contains(key));
        let missing: Vec<String> = keys
            .iter()
            .filter(|key| !is_there(key) && !is_asked(key))
            .cloned()
            .collect();
        // Names come first, with whatever columns.
        if missing.is_empty() && self.is_ready.get_untracked() {
            return;
        }
        if missing.is_empty() && !keys.is_empty() {
            return;
        }
        self.asked
            .update_value(|asked| asked.extend(missing.iter().cloned()));
        spawn_local(async move {
            let request = TableRequest {
                columns: missing,
                ..TableRequest::default()
            };
            let answer = client::table(&request).await;
            let gone = self.asked.try_update_value(|asked| {
                for key in &request.columns {
                    asked.remove(key);
                }
            });
            if gone.is_none() {
                return;
            }
            match answer {
                Ok(answer) => {
                    self.table.update(|table| add(Arc::make_mut(table), answer));
                    self.is_ready.set(true);
                    self.error.set(None);
                }
                Err(error) => self.error.set(Some(error)),
            }
        });
    }

    fn refresh_soon(self) {
        if self.is_due.get_value() {
            return;
        }
        self.is_due.set_value(true);
        set_timeout(
            move || {
                if self.is_due.try_set_value(false).is_none() {
                    self.refresh();
                }
            },
            PAUSE,
        );
    }

    fn refresh(self) {
        let Some(table) = self.table.try_get_untracked().filter(|table| table.seq > 0) else {
            return;
        };
        let request = TableRequest {
            columns: table
                .columns
                .iter()
                .map(|column| column.key.clone())
                .collect(),
            since: Some(table.seq),
            ..TableRequest::default()
        };
        spawn_local(async move {
            // A lost connection is shown by the frame; the next notice asks again.
            let Ok(answer) = client::table(&request).await else {
                return;
            };
            let is_news = answer.indices.as_ref().is_none_or(|rows| !rows.is_empty());
            if is_news {
                self.table
                    .try_update(|table| update(Arc::make_mut(table), answer));
            }
        });
    }
}

/// Adds the columns of an answer with all rows. The version is the older of both, so that no change is missed.
fn add(table: &mut TableAnswer, answer: TableAnswer) {
    table.seq = if table.seq == 0 {
        answer.seq
    } else {
        table.seq.min(answer.seq)
    };
    if answer.runs.len() >= table.runs.len() {
        table.runs = answer.runs;
    }
    for column in answer.columns {
        match table.columns.iter_mut().find(|own| own.key == column.key) {
            Some(own) => *own = column,
            None => table.columns.push(column),
        }
    }
}

/// Takes over a later answer; columns that have arrived since it was asked for stay as they are.
fn update(table: &mut TableAnswer, answer: TableAnswer) {
    let newer = table
        .columns
        .split_off(answer.columns.len().min(table.columns.len()));
    let before = table.seq;
    if !table.update(answer) {
        // The next notice asks for everything.
        table.seq = before;
    }
    table.columns.extend(newer);
}

#[cfg(test)]
mod tests {
    use trainscope_api::table::CellValue::{Missing, Number};

    use super::super::view;
    use super::*;

    #[test]
    fn columns_join_and_changed_rows_replace_theirs() {
        let mut table = TableAnswer::default();
        add(
            &mut table,
            view::table(&[("a", &[Number(1.0), Number(2.0)])]),
        );
        add(
            &mut table,
            view::table(&[("b", &[Number(3.0), Number(4.0), Number(5.0)])]),
        );
        assert_eq!(table.runs.len(), 3);
        let mut later = view::table(&[("a", &[Number(9.0)])]);
        later.indices = Some(vec![1]);
        later.runs = vec!["r1".to_owned()];
        later.seq = 7;
        update(&mut table, later);
        assert_eq!(
            table.columns[0].cells.values()[..2],
            [Number(1.0), Number(9.0)]
        );
        assert_eq!(table.columns[0].cells.get(2), Missing);
        assert_eq!(table.columns[1].cells.get(1), Number(4.0));
        assert_eq!(table.seq, 7);
    }
}
