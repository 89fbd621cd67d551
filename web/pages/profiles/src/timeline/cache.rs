//! Fetched cells. Each row is drawn from the answers that fit its scale best, until finer ones arrive.

use std::collections::HashMap;
use std::sync::Arc;

use trainscope_api::timeline::{Cell, MAX_CELLS, MAX_ROWS, RowCells, TimelineAnswer};

use super::view::{View, nanos};

/// Requests begin and end at multiples of this number of bins.
const TILE: i64 = 512;
/// Maximum number of cells in memory, about 50 MB.
const MAX_KEPT: usize = 1_500_000;
/// Maximum length of one request, in bins; wider views have longer bins.
const MAX_BINS: i64 = 24_576;

/// A row: lane and depth.
pub(super) type RowKey = (u32, u32);

/// Answers of one session and rank.
#[derive(Debug, Default)]
pub(super) struct Cache {
    rows: HashMap<RowKey, Vec<Stretch>>,
    names: HashMap<u32, Arc<str>>,
    cells: usize,
    /// Number of answers so far: the age of a stretch.
    answers: u64,
}

/// The cells of a row between two times.
#[derive(Debug)]
struct Stretch {
    from: i64,
    to: i64,
    /// Length of a bin, ns.
    bin: i64,
    cells: Vec<Cell>,
    answer: u64,
    /// `true` for cells of fewer events than the session has now.
    is_outdated: bool,
}

/// A part of a row, drawn from one answer or still unknown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Piece<'a> {
    pub(super) from: i64,
    pub(super) to: i64,
    /// Cells that touch the part, and some more; `None` if they were not fetched.
    pub(super) cells: Option<&'a [Cell]>,
}

/// A request for a stretch of time of some rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) from: i64,
    pub(super) to: i64,
    /// Number of bins.
    pub(super) width: u32,
    pub(super) rows: Vec<RowKey>,
}

/// Length of a bin for a view of a width in pixels, ns: the greatest power of two up to the length of a pixel.
pub(super) fn bin_of(view: View, width: f64) -> i64 {
    let each = nanos((view.span() / width.max(1.0)).floor()).max(1);
    1 << each.ilog2()
}

impl Cache {
    /// Name by its number; empty if it is unknown.
    pub(super) fn name(&self, name: u32) -> Arc<str> {
        self.names
            .get(&name)
            .map_or_else(|| Arc::from(""), Arc::clone)
    }

    /// Marks all cells as outdated, as more of the session was read. They stay until new ones arrive.
    pub(super) fn outdate(&mut self) {
        for stretch in self.rows.values_mut().flatten() {
            stretch.is_outdated = true;
        }
    }

    /// Adds an answer. Rows of the request that it leaves out were cut, and are requested again.
    pub(super) fn insert(&mut self, answer: TimelineAnswer) {
        self.answers += 1;
        let bins = i64::from(answer.width.max(1));
        let bin = ((answer.to_nanos - answer.from_nanos) / bins).max(1);
        for (name, text) in answer.names {
            self.names.entry(name).or_insert_with(|| text.into());
        }
        let mut room = MAX_CELLS;
        for (index, row) in answer.rows.into_iter().enumerate() {
            let RowCells { lane, depth, cells } = row;
            room = room.saturating_sub(cells.len());
            // The row that fills the answer may lack cells, and so may later ones. A single row is not requested again:
            // the answer would be the same.
            if answer.cut && room == 0 && index > 0 {
                break;
            }
            let stretch = Stretch {
                from: answer.from_nanos,
                to: answer.to_nanos,
                bin,
                cells,
                answer: self.answers,
                is_outdated: false,
            };
            let row = self.rows.entry((lane, depth)).or_default();
            // Nothing is drawn of an old stretch within the new one, if its bins are the same or it is outdated.
            row.retain(|old| {
                let is_within = (old.bin == bin || old.is_outdated)
                    && old.from >= stretch.from
                    && old.to <= stretch.to;
                if is_within {
                    self.cells -= old.cells.len();
                }
                !is_within
            });
            self.cells += stretch.cells.len();
            row.push(stretch);
        }
        self.forget_old();
    }

    /// Drops the oldest answers if there are too many cells; the newest one stays.
    fn forget_old(&mut self) {
        while self.cells > MAX_KEPT {
            let ages = self.rows.values().flatten().map(|stretch| stretch.answer);
            let Some(oldest) = ages.min().filter(|oldest| *oldest < self.answers) else {
                return;
            };
            let cells = &mut self.cells;
            self.rows.retain(|_, row| {
                row.retain(|stretch| {
                    let is_old = stretch.answer == oldest;
                    if is_old {
                        *cells -= stretch.cells.len();
                    }
                    !is_old
                });
                !row.is_empty()
            });
        }
    }

    /// Parts of a row between two times, from left to right. Each is from the answer with the bins closest to this
    /// length, finer ones first.
    pub(super) fn pieces(&self, row: RowKey, from: i64, to: i64, bin: i64) -> Vec<Piece<'_>> {
        let mut best: Vec<&Stretch> = self.rows.get(&row).map_or_else(Vec::new, |row| {
            let touches = |stretch: &&Stretch| stretch.from < to && stretch.to > from;
            row.iter().filter(touches).collect()
        });
        best.sort_by_key(|stretch| {
            let is_coarse = stretch.bin > bin;
            let distance = (stretch.bin.ilog2()).abs_diff(bin.max(1).ilog2());
            (
                stretch.is_outdated,
                is_coarse,
                distance,
                std::cmp::Reverse(stretch.answer),
            )
        });
        let mut open = vec![(from, to)];
        let mut pieces = Vec::new();
        for stretch in best {
            let mut rest = Vec::new();
            for (from, to) in open {
                let (low, high) = (from.max(stretch.from), to.min(stretch.to));
                if low >= high {
                    rest.push((from, to));
                    continue;
                }
                pieces.push(Piece {
                    from: low,
                    to: high,
                    cells: Some(touching(&stretch.cells, low, high)),
                });
                rest.extend([(from, low), (high, to)].into_iter().filter(|(a, b)| a < b));
            }
            open = rest;
            if open.is_empty() {
                break;
            }
        }
        let missing = open.into_iter().map(|(from, to)| Piece {
            from,
            to,
            cells: None,
        });
        pieces.extend(missing);
        pieces.sort_by_key(|piece| piece.from);
        pieces
    }

    /// `true` if a whole stretch is known in bins of at most this length.
    fn is_known(&self, row: RowKey, from: i64, to: i64, bin: i64) -> bool {
        let Some(row) = self.rows.get(&row) else {
            return from >= to;
        };
        let fine = (row.iter()).filter(|stretch| stretch.bin <= bin && !stretch.is_outdated);
        let mut fine: Vec<(i64, i64)> = fine.map(|stretch| (stretch.from, stretch.to)).collect();
        fine.sort_unstable();
        let mut known = from;
        for (begin, end) in fine {
            if begin > known {
                break;
            }
            known = known.max(end);
        }
        known >= to
    }

    /// The next request for a view, of three times its length: rows without cells of the right size in the view, or
    /// within half of its length on either side.
    pub(super) fn request(
        &self,
        view: View,
        width: f64,
        extent: i64,
        rows: impl IntoIterator<Item = RowKey>,
    ) -> Option<Request> {
        let (begin, end) = (nanos(view.from), nanos(view.to));
        let (near, extent) = ((end - begin) / 2, extent.max(1));
        let needed = ((begin - near).max(0), (end + near).min(extent));
        let wanted = ((begin - 2 * near).max(0), (end + 2 * near).min(extent));
        let mut bin = bin_of(view, width);
        let (from, to) = loop {
            let tile = bin.saturating_mul(TILE);
            let from = wanted.0.div_euclid(tile) * tile;
            let to = (wanted.1 + tile - 1).div_euclid(tile) * tile;
            let to = to.max(from + tile);
            if (to - from) / bin <= MAX_BINS {
                break (from, to);
            }
            bin *= 2;
        };
        let bins = (to - from) / bin;
        let most = MAX_CELLS / usize::try_from(bins).unwrap_or(1).max(1);
        let rows: Vec<RowKey> = rows
            .into_iter()
            .filter(|row| !self.is_known(*row, needed.0, needed.1, bin))
            .take(most.clamp(1, MAX_ROWS))
            .collect();
        (!rows.is_empty()).then(|| Request {
            from,
            to,
            width: u32::try_from(bins).unwrap_or(u32::MAX),
            rows,
        })
    }

    /// The cell of a row nearest to a time, at most `slack` away; of equally near ones the shortest.
    pub(super) fn at(&self, row: RowKey, time: f64, slack: f64, bin: i64) -> Option<Cell> {
        let (low, high) = (nanos(time - slack), nanos(time + slack).saturating_add(1));
        let mut best: Option<(f64, i64, Cell)> = None;
        for piece in self.pieces(row, low, high, bin) {
            for cell in piece.cells.unwrap_or_default() {
                let (begin, end) = (cell.begin as f64, (cell.begin + cell.length) as f64);
                let distance = (begin - time).max(time - end).max(0.0);
                let is_nearer = best.is_none_or(|(nearest, length, _)| {
                    distance < nearest || (distance <= nearest && cell.length < length)
                });
                if distance <= slack && is_nearer {
                    best = Some((distance, cell.length, *cell));
                }
            }
        }
        best.map(|(_, _, cell)| cell)
    }
}

/// Cells that may touch a stretch. `cells` are in order of their start and do not overlap.
fn touching(cells: &[Cell], from: i64, to: i64) -> &[Cell] {
    let first = cells.partition_point(|cell| cell.begin + cell.length < from);
    let end = cells.partition_point(|cell| cell.begin < to);
    cells.get(first..end).unwrap_or_default()
}

/// Rows for the API: `lane:depth`, separated by commas.
pub(super) fn rows_text(rows: &[RowKey]) -> String {
    let rows: Vec<String> = rows
        .iter()
        .map(|(lane, depth)| format!("{lane}:{depth}"))
        .collect();
    rows.join(",")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const ROW: RowKey = (3, 1);

    fn cell(begin: i64, length: i64) -> Cell {
        Cell {
            begin,
            length,
            count: 1,
            ..Cell::default()
        }
    }

    fn answer(from: i64, to: i64, width: u32, cells: Vec<Cell>) -> TimelineAnswer {
        TimelineAnswer {
            from_nanos: from,
            to_nanos: to,
            width,
            rows: vec![RowCells {
                lane: ROW.0,
                depth: ROW.1,
                cells,
            }],
            names: BTreeMap::from([(0, "conv".to_owned())]),
            cut: false,
        }
    }

    fn stretches(cache: &Cache, from: i64, to: i64, bin: i64) -> Vec<(i64, i64, Option<usize>)> {
        let pieces = cache.pieces(ROW, from, to, bin).into_iter();
        pieces
            .map(|piece| (piece.from, piece.to, piece.cells.map(<[Cell]>::len)))
            .collect()
    }

    #[test]
    fn what_is_unknown_is_a_piece_without_cells() {
        let mut cache = Cache::default();
        assert_eq!(stretches(&cache, 0, 100, 1), [(0, 100, None)]);
        cache.insert(answer(20, 60, 40, vec![cell(10, 15), cell(30, 5)]));
        assert_eq!(
            stretches(&cache, 0, 100, 1),
            [(0, 20, None), (20, 60, Some(2)), (60, 100, None)]
        );
        assert_eq!(stretches(&cache, 40, 50, 1), [(40, 50, Some(0))]);
        assert_eq!(&*cache.name(0), "conv");
        assert_eq!(&*cache.name(9), "");
    }

    #[test]
    fn the_answer_of_the_nearest_size_is_drawn_and_others_fill_the_rest() {
        let mut cache = Cache::default();
        cache.insert(answer(0, 1_600, 100, vec![cell(0, 16); 3]));
        cache.insert(answer(400, 800, 100, vec![cell(400, 1); 5]));
        cache.insert(answer(500, 600, 100, vec![cell(500, 1); 7]));
        // Bins of 4: the second answer has exactly these.
        assert_eq!(
            stretches(&cache, 300, 900, 4),
            [
                (300, 400, Some(0)),
                (400, 800, Some(5)),
                (800, 900, Some(0))
            ]
        );
        let of = |from, to, bin| {
            let pieces = cache.pieces(ROW, from, to, bin);
            let firsts = pieces.iter().map(|piece| (piece.from, piece.to));
            firsts.collect::<Vec<_>>()
        };
        // Bins of 2: finer ones come first.
        assert_eq!(
            of(450, 700, 2),
            [(450, 500), (500, 600), (600, 700)],
            "the finest in the middle"
        );
        assert_eq!(of(0, 1_600, 64), [(0, 1_600)]);
    }

    #[test]
    fn a_request_is_made_of_tiles_around_the_view() {
        let cache = Cache::default();
        let view = View {
            from: 100_000.0,
            to: 200_000.0,
        };
        assert_eq!(bin_of(view, 1_000.0), 64);
        let request = cache.request(view, 1_000.0, 1_000_000, [ROW]).unwrap();
        let tile = 64 * TILE;
        assert_eq!((request.from % tile, request.to % tile), (0, 0));
        assert!(request.from == 0 && request.to >= 300_000, "{request:?}");
        assert_eq!(i64::from(request.width) * 64, request.to - request.from);
        assert_eq!(rows_text(&request.rows), "3:1");
    }

    #[test]
    fn nothing_is_asked_for_twice() {
        let mut cache = Cache::default();
        let view = View {
            from: 100_000.0,
            to: 200_000.0,
        };
        let ask = |cache: &Cache, view: View| cache.request(view, 1_000.0, 1_000_000, [ROW]);
        let first = ask(&cache, view).unwrap();
        cache.insert(answer(first.from, first.to, first.width, Vec::new()));
        assert_eq!(ask(&cache, view), None);
        let moved = |by: f64| View {
            from: view.from + by,
            to: view.to + by,
        };
        assert_eq!(ask(&cache, moved(40_000.0)), None, "half a view is spare");
        assert!(ask(&cache, moved(100_000.0)).is_some());
        assert!(ask(&cache, view.zoomed(4.0, 0.5, 1e6)).is_some(), "finer");
    }

    #[test]
    fn views_at_the_end_of_a_session_are_known_at_last() {
        let mut cache = Cache::default();
        for extent in [1, 77, 1_000, 999_999_999] {
            for width in [1.0, 700.0, 3_000.0] {
                for factor in [1.0, 7.0, 1e4] {
                    let view = View::whole(extent as f64).zoomed(factor, 1.0, extent as f64);
                    for _ in 0..2 {
                        if let Some(request) = cache.request(view, width, extent, [ROW]) {
                            cache.insert(answer(
                                request.from,
                                request.to,
                                request.width,
                                Vec::new(),
                            ));
                        }
                    }
                    assert_eq!(
                        cache.request(view, width, extent, [ROW]),
                        None,
                        "{extent} {width} {factor}"
                    );
                }
            }
            cache = Cache::default();
        }
    }

    #[test]
    fn one_request_has_no_more_cells_than_an_answer() {
        let cache = Cache::default();
        let view = View::whole(1e9);
        let rows = (0..2_000).map(|lane| (lane, 0));
        let request = cache.request(view, 4_000.0, 1_000_000_000, rows).unwrap();
        let bins = request.width as usize;
        assert!(request.rows.len() * bins <= MAX_CELLS, "{bins}");
        assert!(request.rows.len() > 10);
    }

    #[test]
    fn cells_of_fewer_events_are_drawn_until_there_are_new_ones() {
        let mut cache = Cache::default();
        cache.insert(answer(0, 400, 400, vec![cell(0, 1); 3]));
        cache.insert(answer(100, 200, 400, vec![cell(100, 1); 5]));
        cache.outdate();
        assert!(!cache.is_known(ROW, 0, 400, 1));
        assert_eq!(stretches(&cache, 200, 300, 1), [(200, 300, Some(0))]);
        cache.insert(answer(0, 200, 100, vec![cell(0, 150); 1]));
        assert_eq!(
            stretches(&cache, 100, 300, 1),
            [(100, 200, Some(1)), (200, 300, Some(0))]
        );
        assert_eq!(cache.cells, 4, "the outdated cells within are gone");
        cache.insert(answer(0, 400, 100, Vec::new()));
        assert_eq!(cache.cells, 1);
    }

    #[test]
    fn old_answers_go_first() {
        let mut cache = Cache::default();
        let many = |from: i64| answer(from, from + 100, 100, vec![cell(from, 1); MAX_KEPT / 2]);
        for from in [0, 100, 200] {
            cache.insert(many(from));
        }
        assert_eq!(cache.pieces(ROW, 0, 100, 1)[0].cells, None);
        assert!(cache.pieces(ROW, 200, 300, 1)[0].cells.is_some());
        assert_eq!(cache.cells, MAX_KEPT / 2 * 2);
        // The same stretch again replaces the one before.
        cache.insert(many(200));
        assert_eq!(cache.cells, MAX_KEPT / 2 * 2);
    }

    #[test]
    fn rows_that_an_answer_had_no_room_for_are_asked_for_again() {
        let mut cache = Cache::default();
        let mut cut = answer(0, 100, 100, vec![cell(0, 1); MAX_CELLS - 1]);
        cut.cut = true;
        for lane in [8, 9] {
            cut.rows.push(RowCells {
                lane,
                depth: 0,
                cells: vec![cell(0, 1)],
            });
        }
        cache.insert(cut);
        assert!(cache.is_known(ROW, 0, 100, 1));
        assert!(!cache.is_known((8, 0), 0, 100, 1));
        assert!(!cache.is_known((9, 0), 0, 100, 1));
    }

    #[test]
    fn a_click_hits_the_nearest_cell() {
        let mut cache = Cache::default();
        let cells = vec![cell(10, 20), cell(40, 2), cell(50, 30)];
        cache.insert(answer(0, 100, 100, cells));
        let at = |time: f64| cache.at(ROW, time, 4.0, 1).map(|cell| cell.begin);
        assert_eq!(at(15.0), Some(10));
        assert_eq!(at(33.0), Some(10));
        assert_eq!(at(37.0), Some(40));
        assert_eq!(at(46.0), Some(40), "the shorter one");
        assert_eq!(at(90.0), None);
        assert_eq!(cache.at((8, 8), 15.0, 4.0, 1), None);
    }
}
