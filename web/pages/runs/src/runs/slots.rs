//! Reuse of the table's rows: a row that has left the view shows an item that enters it, with few moves of elements.
//!
//! The framework's keyed list inserts each row again when one moves from the top to the bottom, and the browser then
//! lays out all of them. Here the list only grows, and the rows are ordered separately.

use std::collections::{HashMap, HashSet};

use leptos::html::Tbody;
use wasm_bindgen_futures::spawn_local;
use web_sys::Element;

use super::order::{Group, Item};
use trainscope_web_kit::frames::after_paint;
use trainscope_web_kit::prelude::*;

/// Maximum number of rows created in one frame; forty at once would be a noticeable pause.
const MADE: usize = 14;
/// Maximum number of rows that change in one frame: those of a screen. The rest can wait for the next frame.
const CHANGED: usize = 24;

/// A row in the document.
#[derive(Clone)]
pub(super) struct Slot {
    /// Index in order of creation.
    pub(super) number: usize,
    pub(super) shows: RowContent,
    /// `true` while nothing is assigned to the row.
    pub(super) is_spare: ArcRwSignal<bool>,
}

/// Content of a row. Its kind never changes.
#[derive(Clone)]
pub(super) enum RowContent {
    Group(ArcRwSignal<Group>),
    Run {
        id: ArcRwSignal<String>,
        is_grouped: ArcRwSignal<bool>,
    },
}

/// Existing rows, and the number of wanted items that they show.
#[derive(Clone, Copy)]
pub(super) struct Rows {
    pub(super) slots: RwSignal<Vec<Slot>>,
    pub(super) shown: RwSignal<usize>,
}

impl Rows {
    /// Rows that follow the wanted items. Their elements are the children of `body`, except the first and the last.
    pub(super) fn of(wanted: Memo<Vec<Item>>, body: NodeRef<Tbody>) -> Self {
        let rows = Self {
            slots: RwSignal::new(Vec::new()),
            shown: RwSignal::new(0),
        };
        let all = StoredValue::new(Slots::default());
        let turn = RwSignal::new(0_u32);
        Effect::new(move || {
            turn.track();
            let filled = all.try_update_value(|all| {
                let shown = wanted.with(|wanted| all.fill(wanted));
                (shown, all.slots.len())
            });
            let Some((shown, made)) = filled else { return };
            if shown.len() < wanted.with_untracked(Vec::len) {
                after_paint(move || {
                    turn.try_update(|turn| *turn = turn.wrapping_add(1));
                });
            }
            if rows.slots.with_untracked(Vec::len) < made {
                rows.slots.set(all.with_value(|all| all.slots.clone()));
            }
            if rows.shown.get_untracked() != shown.len() {
                rows.shown.set(shown.len());
            }
            // After the new rows are in the document, before the next paint.
            spawn_local(async move {
                leptos::task::tick().await;
                let Some(Some(body)) = body.try_get_untracked() else {
                    return;
                };
                all.try_update_value(|all| all.put_in_order(&shown, &body));
            });
        });
        rows
    }
}

/// All rows, and the order of their elements.
#[derive(Default)]
struct Slots {
    slots: Vec<Slot>,
    order: Vec<usize>,
}

impl Slots {
    /// Assigns rows to the wanted items. Returns the rows of the first items, up to the limits of one frame.
    fn fill(&mut self, wanted: &[Item]) -> Vec<usize> {
        let places = self.places(wanted);
        let mut changed = 0;
        let mut shown = Vec::with_capacity(wanted.len());
        for (item, place) in wanted.iter().zip(places) {
            let Some(slot) = self.slots.get(place) else {
                self.slots.push(Slot::new(place, item));
                self.order.push(place);
                shown.push(place);
                continue;
            };
            let is_other = slot.is_other(item);
            if is_other && changed == CHANGED {
                break;
            }
            changed += usize::from(is_other);
            slot.show(item);
            shown.push(place);
        }
        let used: HashSet<usize> = shown.iter().copied().collect();
        for slot in &self.slots {
            set(&slot.is_spare, !used.contains(&slot.number));
        }
        shown
    }

    /// Assigns a row to each item: its previous one, a free one of the same kind, or one of at most [`MADE`] new ones.
    /// Later items do not get a row.
    fn places(&self, wanted: &[Item]) -> Vec<usize> {
        let current: HashMap<(bool, String), usize> =
            self.slots.iter().map(Slot::key).zip(0..).collect();
        let current = |item: &Item| current.get(&key(item)).copied();
        let stays: HashSet<usize> = wanted.iter().filter_map(current).collect();
        // In the order of their elements, which keeps the number of moves low.
        let free = self.order.iter().filter(|place| !stays.contains(*place));
        let (groups, runs): (Vec<usize>, Vec<usize>) =
            free.partition(|&&place| self.slots[place].is_group());
        let (mut groups, mut runs) = (groups.into_iter(), runs.into_iter());
        let mut new = self.slots.len()..self.slots.len() + MADE;
        let mut places = Vec::with_capacity(wanted.len());
        for item in wanted {
            let free = match item {
                Item::Group(_) => &mut groups,
                Item::Run { .. } => &mut runs,
            };
            match current(item).or_else(|| free.next()).or_else(|| new.next()) {
                Some(place) => places.push(place),
                None => break,
            }
        }
        places
    }

    /// Puts the elements of rows in their order.
    fn put_in_order(&mut self, shown: &[usize], body: &Element) {
        let mut next = body.first_element_child();
        let above = next.clone();
        let mut elements = vec![None; self.slots.len()];
        for &number in &self.order {
            next = next.and_then(|element| element.next_element_sibling());
            elements[number].clone_from(&next);
        }
        let is_whole = next.is_some_and(|last| last.next_element_sibling().is_some());
        // Some elements are not in the document yet. Their arrival repeats this.
        if !is_whole {
            return;
        }
        for (number, behind) in moves(&mut self.order, shown) {
            let behind = behind.map_or(above.as_ref(), |number| elements[number].as_ref());
            let (Some(element), Some(behind)) = (&elements[number], behind) else {
                continue;
            };
            // Fails if the element is not in the document; then there is nothing to order.
            body.insert_before(element, behind.next_sibling().as_ref())
                .ok();
        }
    }
}

impl Slot {
    fn new(number: usize, item: &Item) -> Self {
        let shows = match item {
            Item::Group(group) => RowContent::Group(ArcRwSignal::new(group.clone())),
            Item::Run { id, grouped } => RowContent::Run {
                id: ArcRwSignal::new(id.clone()),
                is_grouped: ArcRwSignal::new(*grouped),
            },
        };
        Self {
            number,
            shows,
            is_spare: ArcRwSignal::new(false),
        }
    }

    const fn is_group(&self) -> bool {
        matches!(self.shows, RowContent::Group(_))
    }

    /// Identity of the row.
    fn key(&self) -> (bool, String) {
        match &self.shows {
            RowContent::Group(group) => (true, group.with_untracked(|group| group.folder.clone())),
            RowContent::Run { id, .. } => (false, id.get_untracked()),
        }
    }

    fn is_other(&self, item: &Item) -> bool {
        self.key() != key(item)
    }

    /// Shows an item of its kind.
    fn show(&self, item: &Item) {
        match (&self.shows, item) {
            (RowContent::Group(signal), Item::Group(group)) => set(signal, group.clone()),
            (
                RowContent::Run {
                    id: signal,
                    is_grouped,
                },
                Item::Run { id, grouped },
            ) => {
                set(signal, id.clone());
                set(is_grouped, *grouped);
            }
            _ => {}
        }
    }
}

fn key(item: &Item) -> (bool, String) {
    match item {
        Item::Group(group) => (true, group.folder.clone()),
        Item::Run { id, .. } => (false, id.clone()),
    }
}

/// Sets a signal only if the value differs, to avoid updates without a change.
fn set<T: PartialEq + Send + Sync + 'static>(signal: &ArcRwSignal<T>, value: T) {
    if signal.with_untracked(|before| *before != value) {
        signal.set(value);
    }
}

/// Brings `shown` into order with the minimum number of moves. Each move puts a row after another one, or to the top.
/// Other rows can be anywhere.
fn moves(order: &mut Vec<usize>, shown: &[usize]) -> Vec<(usize, Option<usize>)> {
    let places: HashMap<usize, usize> = order.iter().copied().zip(0..).collect();
    let standing: Vec<usize> = shown
        .iter()
        .filter_map(|number| places.get(number).copied())
        .collect();
    let mut moves = Vec::new();
    let mut last = None;
    for (&number, stays) in shown.iter().zip(longest_rise(&standing)) {
        if !stays {
            moves.push((number, last));
            order.retain(|other| *other != number);
            let at = last.and_then(|last| order.iter().position(|other| *other == last));
            order.insert(at.map_or(0, |at| at + 1), number);
        }
        last = Some(number);
    }
    moves
}

/// Flags of the numbers in a longest increasing subsequence.
fn longest_rise(numbers: &[usize]) -> Vec<bool> {
    // Length of the longest rise that ends at each number, and the number before it.
    let mut rises: Vec<(usize, Option<usize>)> = Vec::with_capacity(numbers.len());
    for (at, number) in numbers.iter().enumerate() {
        let lower = (0..at).filter(|&before| numbers[before] < *number);
        let before = lower.max_by_key(|&before| rises[before].0);
        rises.push((before.map_or(1, |before| rises[before].0 + 1), before));
    }
    let mut is_part = vec![false; numbers.len()];
    let mut at = (0..numbers.len()).max_by_key(|&at| rises[at].0);
    while let Some(part) = at {
        is_part[part] = true;
        at = rises[part].1;
    }
    is_part
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(numbers: impl IntoIterator<Item = usize>) -> Vec<Item> {
        let run = |number| Item::Run {
            id: format!("run{number}"),
            grouped: false,
        };
        numbers.into_iter().map(run).collect()
    }

    fn names(items: &[Item]) -> Vec<String> {
        items.iter().map(|item| key(item).1).collect()
    }

    /// Contents of the rows from the top, without spare ones, in DOM order.
    fn seen(slots: &mut Slots, shown: &[usize]) -> Vec<String> {
        moves(&mut slots.order, shown);
        let order = slots.order.iter().map(|place| &slots.slots[*place]);
        let seen = order.filter(|slot| !slot.is_spare.get_untracked());
        seen.map(|slot| slot.key().1).collect()
    }

    /// Fills rows frame by frame until all are shown. Returns the number of shown rows after each frame.
    fn frames(slots: &mut Slots, wanted: &[Item]) -> Vec<usize> {
        let mut counts = Vec::new();
        while counts.last() != Some(&wanted.len()) {
            let shown = slots.fill(wanted);
            assert_eq!(seen(slots, &shown), names(&wanted[..shown.len()]));
            counts.push(shown.len());
        }
        counts
    }

    #[test]
    fn rows_are_made_a_few_at_a_time_and_used_again() {
        let wanted = runs(0..40);
        let mut slots = Slots::default();
        assert_eq!(frames(&mut slots, &wanted), [MADE, 2 * MADE, 40]);

        // Another order moves the existing rows.
        let place_of =
            |slots: &Slots, name: &str| slots.slots.iter().position(|slot| slot.key().1 == name);
        let before = place_of(&slots, "run7");
        let turned: Vec<Item> = wanted.iter().rev().cloned().collect();
        assert_eq!(frames(&mut slots, &turned), [40]);
        assert_eq!(place_of(&slots, "run7"), before);

        // A filter keeps some items and adds others in existing rows. A folder's head needs a new row of its kind.
        let mut few = runs([7, 90, 91]);
        few.insert(0, Item::Group(Group::default()));
        assert_eq!(frames(&mut slots, &few), [4]);
        assert_eq!((place_of(&slots, "run7"), slots.slots.len()), (before, 41));
        frames(&mut slots, &wanted);
        assert_eq!(slots.slots.len(), 41);
        let others = runs(100..140);
        assert_eq!(frames(&mut slots, &others), [CHANGED, 40]);
    }

    #[test]
    fn the_fewest_rows_are_moved() {
        let mut order: Vec<usize> = (0..6).collect();
        // Down by one: the first goes behind the last.
        assert_eq!(moves(&mut order, &[1, 2, 3, 4, 5, 0]), [(0, Some(5))]);
        assert_eq!(order, [1, 2, 3, 4, 5, 0]);
        // And up again.
        assert_eq!(moves(&mut order, &[0, 1, 2, 3, 4, 5]), [(0, None)]);
        assert_eq!(order, [0, 1, 2, 3, 4, 5]);
        // Spare rows are not moved.
        assert_eq!(moves(&mut order, &[4, 1, 5]), [(4, None)]);
        assert_eq!(order, [4, 0, 1, 2, 3, 5]);
        assert_eq!(moves(&mut order, &[]), []);
    }
}
