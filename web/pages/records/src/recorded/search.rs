//! Search in all texts of the shown runs. Series are requested one by one, even if their cards are not in view. Tags
//! without a match lose their cards after the answer.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use leptos::task::spawn_local;
use trainscope_api::paths;
use trainscope_api::records::{MAX_RECORDS, Records, RecordsQuery};
use trainscope_format::Text;

use super::load::nearest;
use super::settings::{Matches, Places, Settings};
use trainscope_web_kit::client;
use trainscope_web_kit::components::browse::SeriesId;
use trainscope_web_kit::components::places;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

/// Debounce time: no request while the user types.
const REST: Duration = Duration::from_millis(250);
/// Series searched between updates of the results.
const BATCH: usize = 32;

/// Searches whenever the words or the texts change.
pub(super) fn keep(settings: Settings) {
    let round = StoredValue::new(0_u32);
    // Repeated searches, because the run has grown, do not move cards again.
    let jumped_for = StoredValue::new(String::new());
    Effect::new(move || {
        let find = settings.find.get();
        let entries = settings.browse.entries.get();
        round.update_value(|round| *round = round.wrapping_add(1));
        let mine = round.get_value();
        if jumped_for.with_value(|last| *last != find) {
            settings.jumps.set(BTreeMap::new());
        }
        if find.is_empty() {
            jumped_for.set_value(find);
            settings.found.set(Arc::default());
            return;
        }
        let is_wanted = move || round.try_get_value() == Some(mine);
        let search = async move {
            let mut found = Matches::default();
            let of_tag = |entry: &trainscope_web_kit::components::browse::TagEntry| {
                let series = entry.series.iter().cloned();
                let tag = entry.tag.clone();
                series.map(move |id| (tag.clone(), id)).collect::<Vec<_>>()
            };
            let all: Vec<(String, SeriesId)> = entries.iter().flat_map(of_tag).collect();
            for (at, (tag, id)) in all.iter().enumerate() {
                if !is_wanted() {
                    return;
                }
                // A tag whose request failed keeps its card.
                if let Ok(places) = look(&find, tag, id).await {
                    found.insert((tag.clone(), id.clone()), Arc::new(places));
                }
                if at % BATCH == BATCH - 1 && is_wanted() {
                    settings.found.set(Arc::new(found.clone()));
                }
            }
            if !is_wanted() {
                return;
            }
            if jumped_for.with_value(|last| *last != find) {
                let chosen = |tag: &str| untrack(|| settings.chosen_step(tag));
                settings.jumps.set(jumps(&found, chosen));
                jumped_for.set_value(find);
            }
            settings.found.set(Arc::new(found));
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
        all: all.records.iter().map(|record| record.step).collect(),
        cut: all.cut,
    })
}

/// The first step with a match, for each tag without a match at its chosen step in any of its series.
fn jumps(found: &Matches, chosen: impl Fn(&str) -> Option<i64>) -> BTreeMap<String, i64> {
    let mut first = BTreeMap::new();
    let mut settled = HashSet::new();
    // The result is the same in any order.
    for ((tag, _), places) in found.iter().collect::<Vec<_>>() {
        let Some(&step) = places.steps.first() else {
            continue;
        };
        let shown = nearest(&places.all, chosen(tag));
        if shown.is_some_and(|shown| places.steps.contains(&shown)) {
            settled.insert(tag.clone());
        }
        let known = first.entry(tag.clone()).or_insert(step);
        *known = step.min(*known);
    }
    first.retain(|tag, _| !settled.contains(tag));
    first
}

/// A sentence in place of the cards if no text matches, and a way back.
#[component]
pub(super) fn NoMatch(
    settings: Settings,
    /// The tags with a card.
    cards: Memo<Arc<Vec<String>>>,
) -> impl IntoView {
    let i18n = use_i18n();
    move || {
        let find = settings.find.get();
        let has_tags = settings.browse.cards.with(|all| !all.is_empty());
        let is_nothing = !find.is_empty() && has_tags && cards.with(|cards| cards.is_empty());
        is_nothing.then(|| {
            let texts = i18n.texts().recorded();
            view! {
                <p class="no-match" role="status">
                    {(texts.no_match)(&find)} " "
                    <button
                        type="button"
                        class="link"
                        on:click=move |_| settings.set_find("")
                    >
                        {texts.clear}
                    </button>
                </p>
            }
        })
    }
}

/// The tags with a card.
pub(super) fn cards(settings: Settings) -> Memo<Arc<Vec<String>>> {
    Memo::new(move |_| {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_without_a_match_goes_to_the_first_step_with_one() {
        let series = |run: &str, steps: &[i64]| {
            let id = SeriesId {
                run: run.to_owned(),
                ..SeriesId::default()
            };
            let places = Places {
                steps: steps.to_vec(),
                all: vec![0, 5, 9],
                cut: false,
            };
            (("notes".to_owned(), id), Arc::new(places))
        };
        let to = |found: &[((String, SeriesId), Arc<Places>)], chosen: Option<i64>| {
            let found = found.iter().cloned().collect();
            jumps(&found, |_| chosen).get("notes").copied()
        };
        // The last step is shown unless one is chosen.
        assert_eq!(to(&[series("a", &[0, 5])], None), Some(0));
        assert_eq!(to(&[series("a", &[0, 9])], None), None);
        assert_eq!(to(&[series("a", &[0, 9])], Some(6)), Some(0));
        assert_eq!(
            to(&[series("a", &[5]), series("b", &[0])], Some(9)),
            Some(0)
        );
        assert_eq!(to(&[series("a", &[5]), series("b", &[9])], None), None);
        assert_eq!(to(&[series("a", &[])], None), None);
    }
}
