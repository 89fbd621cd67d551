//! Words in all texts of the shown runs: one series after another is asked for, whether or not its card is in view. A
//! tag without the words has no card once that is known.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use leptos::task::spawn_local;
use trainscope_api::paths;
use trainscope_api::records::{MAX_RECORDS, Records, RecordsQuery};
use trainscope_format::Text;

use super::settings::Settings;
use super::text::places;
use crate::client;
use crate::components::browse::SeriesId;
use crate::erased::{effect, memo};
use crate::prelude::*;

/// Nothing is asked for while somebody types.
const REST: Duration = Duration::from_millis(250);
/// What was found is shown at least that often.
const BATCH: usize = 32;

/// Where the words stand in a series.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Places {
    /// Steps at which they do.
    pub(super) steps: Vec<i64>,
    /// Steps that were looked at.
    pub(super) all: usize,
    /// Whether there are more of these.
    pub(super) cut: bool,
}

/// What is known of each series, by tag.
pub(super) type Found = HashMap<(String, SeriesId), Arc<Places>>;

/// Looks for the words whenever they or the texts change.
pub(super) fn keep(settings: Settings) {
    let round = StoredValue::new(0_u32);
    effect(move || {
        let find = settings.find.get();
        let entries = settings.browse.entries.get();
        round.update_value(|round| *round = round.wrapping_add(1));
        let mine = round.get_value();
        if find.is_empty() {
            settings.found.set(Arc::default());
            return;
        }
        let is_wanted = move || round.try_get_value() == Some(mine);
        let search = async move {
            let mut found = Found::default();
            let of_tag = |entry: &crate::components::browse::TagEntry| {
                let series = entry.series.iter().cloned();
                let tag = entry.tag.clone();
                series.map(move |id| (tag.clone(), id)).collect::<Vec<_>>()
            };
            let all: Vec<(String, SeriesId)> = entries.iter().flat_map(of_tag).collect();
            for (at, (tag, id)) in all.iter().enumerate() {
                if !is_wanted() {
                    return;
                }
                // What cannot be asked for now keeps its card.
                if let Ok(places) = look(&find, tag, id).await {
                    found.insert((tag.clone(), id.clone()), Arc::new(places));
                }
                if at % BATCH == BATCH - 1 && is_wanted() {
                    settings.found.set(Arc::new(found.clone()));
                }
            }
            if is_wanted() {
                settings.found.set(Arc::new(found));
            }
        };
        set_timeout(
            move || {
                if is_wanted() {
                    spawn_local(search);
                }
            },
            REST,
        );
    });
}

async fn look(find: &str, tag: &str, id: &SeriesId) -> Result<Places, client::ClientError> {
    let query = RecordsQuery {
        run: id.run.clone(),
        tag: tag.to_owned(),
        rank: id.rank,
        points: Some(MAX_RECORDS),
        writer: id.writer.clone(),
        ..RecordsQuery::default()
    };
    let all: Records<Text> = client::records(paths::TEXT, &query).await?;
    let has = |text: &String| !places(text, find).is_empty();
    let with = all.records.iter();
    let with = with.filter(|record| record.body.items.iter().any(has));
    Ok(Places {
        steps: with.map(|record| record.step).collect(),
        all: all.records.len(),
        cut: all.cut,
    })
}

/// The tags with a card.
pub(super) fn cards(settings: Settings) -> Memo<Arc<Vec<String>>> {
    memo(move || {
        let cards = settings.browse.cards.get();
        settings.found.with(|found| {
            if settings.find.with(String::is_empty) || found.is_empty() {
                return Arc::clone(&cards);
            }
            let known: HashSet<&str> = found.keys().map(|(tag, _)| &**tag).collect();
            let with = found.iter().filter(|(_, places)| !places.steps.is_empty());
            let with: HashSet<&str> = with.map(|((tag, _), _)| &**tag).collect();
            let cards = cards.iter().filter(|tag| {
                let tag = tag.as_str();
                with.contains(tag) || !known.contains(tag)
            });
            Arc::new(cards.cloned().collect())
        })
    })
}
