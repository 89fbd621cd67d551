//! Grid of cards. Only the rows in view and one more on each side are created: only they send requests and draw. At
//! first only those in view are created, for a fast first paint.

use std::sync::Arc;
use std::time::Duration;

use leptos::html;

use crate::frames::after_paint;
use crate::pixels::{pixels, whole};
use crate::prelude::*;

/// Size of cards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CardSize {
    /// More than two rows in view.
    Small,
    /// Two rows in view.
    #[default]
    Medium,
    /// One under the other.
    Large,
}

impl CardSize {
    /// All sizes with their words in the URL.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Small, "s"), (Self::Medium, "m"), (Self::Large, "l")];
}

/// Inputs of a card.
pub struct Place {
    pub tag: String,
    /// Its width in CSS pixels.
    pub width: Signal<f64>,
    /// True if the card is in view, false for the spare ones above and below.
    pub is_in_view: Memo<bool>,
}

impl Place {
    /// A setting for a card to follow: at once in view, and out of view after a delay, so that cards in view do not
    /// wait for the others.
    pub fn follow<T>(is_in_view: Memo<bool>, chosen: Memo<T>) -> Memo<T>
    where
        T: Clone + PartialEq + Send + Sync + 'static,
    {
        let rested = RwSignal::new(chosen.get_untracked());
        let round = StoredValue::new(0_u32);
        Effect::new(move || {
            chosen.track();
            round.update_value(|round| *round = round.wrapping_add(1));
            let mine = round.get_value();
            set_timeout(
                move || {
                    // The card may be gone, or the setting changed.
                    if round.try_get_value() == Some(mine) {
                        let now = chosen.get_untracked();
                        if rested.with_untracked(|before| *before != now) {
                            rested.set(now);
                        }
                    }
                },
                REST,
            );
        });
        Memo::new(move |_| {
            if is_in_view.get() {
                chosen.get()
            } else {
                rested.get()
            }
        })
    }
}

/// Constructor of a card.
pub type MakeCard = Callback<Place, AnyView>;

const GAP: f64 = 12.0;
const MIN_WIDTH: f64 = 280.0;
const MIN_HEIGHT: f64 = 260.0;
const MAX_HEIGHT: f64 = 420.0;
const SMALL_WIDTH: f64 = 220.0;
const SMALL_HEIGHT: f64 = 180.0;
/// Number of spare rows above and below the view, created after a delay.
const SPARE_ROWS: usize = 1;
const SPARE_AFTER: Duration = Duration::from_millis(300);
/// Time without changes after which a setting applies to spare cards.
const REST: Duration = Duration::from_millis(250);
/// Maximum number of cards created per frame: a dozen at once would be a noticeable pause.
const BATCH: usize = 3;

/// Geometry of the grid.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Layout {
    columns: usize,
    card_width: f64,
    card_height: f64,
}

impl Layout {
    /// Two columns, three from 1600 pixels of window, four from 2400, one below 900; two rows fill the view. Small
    /// cards have a column and a row more, large ones a row each.
    fn new(width: f64, height: f64, window_width: f64, size: CardSize) -> Self {
        let most: usize = if window_width >= 2400.0 {
            4
        } else if window_width >= 1600.0 {
            3
        } else if window_width >= 900.0 {
            2
        } else {
            1
        };
        let (most, least_width, rows) = match size {
            CardSize::Small => (most + 1, SMALL_WIDTH, 3.0),
            CardSize::Medium => (most, MIN_WIDTH, 2.0),
            CardSize::Large => (1, MIN_WIDTH, 1.0),
        };
        let heights = match size {
            CardSize::Small => (SMALL_HEIGHT, MIN_HEIGHT),
            CardSize::Medium => (MIN_HEIGHT, MAX_HEIGHT),
            CardSize::Large => (MIN_HEIGHT, 2.0 * MAX_HEIGHT),
        };
        // A panel at the right may leave less room than the window suggests.
        let columns = most.min(whole(width / least_width)).max(1);
        let gaps = GAP * (columns as f64 + 1.0);
        Self {
            columns,
            card_width: ((width - gaps) / columns as f64).floor().max(0.0),
            card_height: ((height - (rows + 1.0) * GAP) / rows)
                .floor()
                .clamp(heights.0, heights.1),
        }
    }

    fn row_height(self) -> f64 {
        self.card_height + GAP
    }

    /// Range of cards in view, of `all`.
    fn seen(self, scroll: f64, height: f64, all: usize) -> (usize, usize) {
        let columns = self.columns.max(1);
        let from = whole(scroll.max(0.0) / self.row_height()) * columns;
        // Below the last row is a gap without a card.
        let rows = (scroll.max(0.0) + height - GAP) / self.row_height();
        (from.min(all), (whole(rows.ceil()) * columns).min(all))
    }

    /// Range of cards to create, of `all`.
    fn window(self, scroll: f64, height: f64, all: usize) -> (usize, usize) {
        let columns = self.columns.max(1);
        let first = whole(scroll.max(0.0) / self.row_height()).saturating_sub(SPARE_ROWS);
        let rows = whole(height / self.row_height()) + 2 + 2 * SPARE_ROWS;
        let from = (first * columns).min(all);
        (from, (from + rows * columns).min(all))
    }
}

/// All cards, or the one that fills the page.
#[component]
pub fn CardGrid(
    /// Tags that have a card, in their order.
    cards: Memo<Arc<Vec<String>>>,
    /// The tag whose card fills the page.
    full: Memo<Option<String>>,
    /// The tag that a link points to.
    target: Memo<Option<String>>,
    /// The tag selected by keyboard.
    current: Signal<Option<String>>,
    /// Size of cards.
    #[prop(into)]
    size: Signal<CardSize>,
    /// True once the first card has been drawn; no other is created before.
    is_first_drawn: Signal<bool>,
    /// True if cards have the height of their content, up to that of their size. All are created then: there must be
    /// few.
    #[prop(optional, into)]
    fits: Signal<bool>,
    /// Changes when something next to the cards opens or closes.
    #[prop(into)]
    beside: Signal<bool>,
    /// Called with the cards in view, whenever they change.
    #[prop(optional)]
    on_seen: Option<Callback<Vec<String>>>,
    /// Constructor of a card.
    card: MakeCard,
) -> impl IntoView {
    let asked_full = full;
    let holder = NodeRef::<html::Div>::new();
    // Scroll position, width and height of the view, width of the window.
    let view_at = RwSignal::new((0.0_f64, 0.0_f64, 0.0_f64, 0.0_f64));
    let measure = move || {
        let Some(holder) = holder.try_get_untracked().flatten() else {
            return;
        };
        let width = window().inner_width().ok().and_then(|width| width.as_f64());
        let now = (
            f64::from(holder.scroll_top()),
            f64::from(holder.client_width()),
            f64::from(holder.client_height()),
            width.unwrap_or(1280.0),
        );
        if view_at.get_untracked() != now {
            view_at.set(now);
        }
    };
    Effect::new(move || {
        holder.track();
        cards.track();
        asked_full.track();
        beside.track();
        // After the layout that these changes cause.
        request_animation_frame(measure);
    });
    let handle = window_event_listener_untyped("resize", move |_| measure());
    on_cleanup(move || handle.remove());

    let layout = Memo::new(move |_| {
        let (_, width, height, window_width) = view_at.get();
        Layout::new(width, height, window_width, size.get())
    });
    let full = Memo::new(move |_| {
        let full = asked_full.get()?;
        cards.with(|cards| cards.contains(&full)).then_some(full)
    });
    let fits = Memo::new(move |_| fits.get() && full.get().is_none());
    let has_spare = RwSignal::new(false);
    let window = Memo::new(move |_| {
        let (scroll, width, height, _) = view_at.get();
        let all = cards.with(|cards| cards.len());
        if width < 1.0 || all == 0 {
            (0, 0)
        } else if fits.get() {
            (0, all)
        } else if has_spare.get() {
            layout.get().window(scroll, height, all)
        } else {
            layout.get().seen(scroll, height, all)
        }
    });
    let is_waiting = StoredValue::new(false);
    Effect::new(move || {
        if window.get().1 > 0 && !is_waiting.get_value() {
            is_waiting.set_value(true);
            set_timeout(
                move || {
                    // The page may have been left.
                    has_spare.try_set(true);
                },
                SPARE_AFTER,
            );
        }
    });
    let in_view = Memo::new(move |_| {
        if let Some(full) = full.get() {
            return vec![full];
        }
        let (scroll, _, height, _) = view_at.get();
        let layout = layout.get();
        cards.with(|cards| {
            let (from, to) = layout.seen(scroll, height, cards.len());
            cards.get(from..to).unwrap_or_default().to_vec()
        })
    });
    Effect::new(move || {
        if let Some(on_seen) = on_seen {
            on_seen.run(in_view.get());
        }
    });
    let existing = move || {
        if let Some(full) = full.get() {
            return vec![full];
        }
        let (from, to) = window.get();
        cards.with(|cards| {
            cards
                .get(from..to)
                .map(<[String]>::to_vec)
                .unwrap_or_default()
        })
    };
    let made = in_batches(Memo::new(move |_| existing()), is_first_drawn);
    let rows_before = move || (window.get().0 / layout.get().columns.max(1)) as f64;
    let all_rows = move || {
        let cards = cards.with(|cards| cards.len());
        cards.div_ceil(layout.get().columns.max(1)) as f64
    };
    let total_height = move || {
        let layout = layout.get();
        match full.get() {
            Some(_) => "100%".to_owned(),
            None if fits.get() => "auto".to_owned(),
            None => format!("{:.0}px", all_rows() * layout.row_height() + GAP),
        }
    };
    let top = move || {
        let rows = if full.get().is_some() {
            0.0
        } else {
            rows_before()
        };
        format!("{:.0}px", GAP + rows * layout.get().row_height())
    };
    let card_height = move || match full.get() {
        Some(_) => format!("{:.0}px", (view_at.get().2 - 2.0 * GAP).max(MIN_HEIGHT)),
        None => format!("{:.0}px", layout.get().card_height),
    };
    let columns = move || {
        let columns = if full.get().is_some() {
            1
        } else {
            layout.get().columns.max(1)
        };
        format!("repeat({columns}, minmax(0, 1fr))")
    };
    let card_width = Signal::derive(move || {
        if full.get().is_some() {
            (view_at.get().1 - 2.0 * GAP).max(0.0)
        } else {
            layout.get().card_width
        }
    });
    let card = move |tag: String| {
        let name = tag.clone();
        card.run(Place {
            tag,
            width: card_width,
            is_in_view: Memo::new(move |_| in_view.with(|tags| tags.contains(&name))),
        })
    };
    // A link to a tag scrolls its card into view once there are cards.
    let arrived = StoredValue::new(None::<String>);
    Effect::new(move || {
        let target = target.get();
        let layout = layout.get();
        if layout.card_width < 1.0 || arrived.get_value() == target {
            return;
        }
        let at = cards.with(|cards| cards.iter().position(|tag| Some(tag) == target.as_ref()));
        if let (Some(at), Some(holder)) = (at, holder.get_untracked()) {
            arrived.set_value(target);
            let row = (at / layout.columns.max(1)) as f64;
            let fits = fits.get_untracked();
            request_animation_frame(move || {
                if fits {
                    let grid = holder.query_selector(".grid").ok().flatten();
                    let at = u32::try_from(at).unwrap_or(u32::MAX);
                    if let Some(card) = grid.and_then(|grid| grid.children().item(at)) {
                        card.scroll_into_view();
                    }
                    return;
                }
                holder.set_scroll_top(pixels(row * layout.row_height()));
            });
        }
    });
    // When the keyboard selects a card, or a panel opens for it, it is scrolled into view, and stays there after a new
    // layout.
    Effect::new(move || {
        let current = current.get();
        let layout = layout.get();
        request_animation_frame(move || {
            let (Some(Some(holder)), Some(at)) = (
                holder.try_get_untracked(),
                cards.try_with_untracked(|cards| {
                    cards.iter().position(|tag| Some(tag) == current.as_ref())
                }),
            ) else {
                return;
            };
            let Some(at) = at else { return };
            let top = (at / layout.columns.max(1)) as f64 * layout.row_height();
            let end = top + layout.row_height() + GAP - f64::from(holder.client_height());
            let scroll = f64::from(holder.scroll_top());
            if top < scroll || end > scroll {
                holder.set_scroll_top(pixels(if top < scroll { top } else { end }));
            }
        });
    });
    view! {
        <div class="cards" data-part="cards" node_ref=holder on:scroll=move |_| measure()>
            <div class="extent" class:fitted=move || fits.get() style:height=total_height>
                <div
                    class="grid"
                    style:top=top
                    style:grid-template-columns=columns
                    style:--card-height=card_height
                >
                    <For each=move || made.get() key=Clone::clone children=card />
                </div>
            </div>
        </div>
    }
}

/// The cards, of which new ones are created a few per frame; the very first one alone, for a fast first paint.
fn in_batches(wanted: Memo<Vec<String>>, is_first_drawn: Signal<bool>) -> RwSignal<Vec<String>> {
    let made = RwSignal::new(Vec::new());
    let turn = RwSignal::new(0_u32);
    Effect::new(move || {
        turn.track();
        let wanted = wanted.get();
        let all = wanted.len();
        let batch = if is_first_drawn.get() { BATCH } else { 0 };
        let now = made.with_untracked(|before| next_batch(before, wanted, batch));
        if now.len() < all && batch > 0 {
            after_paint(move || {
                turn.try_update(|turn| *turn = turn.wrapping_add(1));
            });
        }
        made.set(now);
    });
    made
}

/// Existing cards among the wanted ones, and the first new ones: at most `batch`, or a single one at first.
fn next_batch(before: &[String], mut wanted: Vec<String>, batch: usize) -> Vec<String> {
    let is_there = |tag: &String| before.contains(tag);
    let least = usize::from(!wanted.iter().any(is_there));
    let mut left = if before.is_empty() {
        1
    } else {
        batch.max(least)
    };
    wanted.retain(|tag| {
        let is_new = !is_there(tag);
        let is_kept = !is_new || left > 0;
        left -= usize::from(is_new && is_kept);
        is_kept
    });
    wanted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_stays_and_what_is_new_comes_a_few_at_a_time() {
        let tags = |text: &str| text.chars().map(String::from).collect::<Vec<_>>();
        let next = |before: &str, wanted: &str| next_batch(&tags(before), tags(wanted), 3);
        assert_eq!(next("", "abcdefgh"), tags("a"));
        assert_eq!(next("a", "abcdefgh"), tags("abcd"));
        assert_eq!(next("gxh", "abcdefgh"), tags("abcgh"));
        assert_eq!(next("abc", "cb"), tags("cb"));
    }

    #[test]
    fn while_the_first_is_waited_for_there_is_one() {
        let tags = |text: &str| text.chars().map(String::from).collect::<Vec<_>>();
        let next = |before: &str, wanted: &str| next_batch(&tags(before), tags(wanted), 0);
        assert_eq!(next("", "abc"), tags("a"));
        assert_eq!(next("b", "abc"), tags("b"));
        assert_eq!(next("x", "abc"), tags("a"));
    }

    fn medium(width: f64, height: f64, window_width: f64) -> Layout {
        Layout::new(width, height, window_width, CardSize::Medium)
    }

    #[test]
    fn sizes_follow_the_choice() {
        let small = Layout::new(872.0, 708.0, 1280.0, CardSize::Small);
        assert_eq!(small.columns, 3);
        assert!(small.card_height < 230.0);
        let large = Layout::new(872.0, 708.0, 1280.0, CardSize::Large);
        assert_eq!(large.columns, 1);
        assert!((large.card_height - 684.0).abs() < 1e-9);
    }

    #[test]
    fn columns_follow_the_window() {
        assert_eq!(medium(872.0, 708.0, 1280.0).columns, 2);
        assert_eq!(medium(1200.0, 708.0, 1600.0).columns, 3);
        assert_eq!(medium(500.0, 708.0, 800.0).columns, 1);
        assert_eq!(medium(520.0, 708.0, 1280.0).columns, 1);
        let layout = medium(872.0, 708.0, 1280.0);
        assert!((layout.card_height - 336.0).abs() < 1e-9);
        assert!((layout.card_width - 418.0).abs() < 1e-9);
    }

    #[test]
    fn only_what_is_seen_exists() {
        let layout = medium(872.0, 708.0, 1280.0);
        assert_eq!(layout.window(0.0, 708.0, 10_000), (0, 12));
        let (from, to) = layout.window(100_000.0, 708.0, 10_000);
        assert!(to - from <= 12 && from % 2 == 0);
        assert_eq!(layout.seen(0.0, 708.0, 100), (0, 4));
        assert_eq!(layout.seen(400.0, 708.0, 100), (2, 8));
        assert_eq!(layout.window(0.0, 708.0, 3), (0, 3));
        assert_eq!(layout.window(0.0, 708.0, 0), (0, 0));
    }
}
