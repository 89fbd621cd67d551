//! Cells against the slow way: every slice is in one of them, and no pixel that a slice touches is empty.

use proptest::prelude::*;
use trainscope_analysis::trace::Model;
use trainscope_analysis::trace::levels::Levels;
use trainscope_analysis::trace::outline::Outline;
use trainscope_analysis::trace::view::timeline;
use trainscope_api::timeline::{Cell, MAX_CELLS, MAX_ROWS, TimelineQuery};
use trainscope_format::trace::LaneKind;

use crate::traces::scatter::{of_lanes, random_model, span, touches};
use crate::traces::support::model as fixture;

/// Compares the cells of a row with its slices.
fn check(model: &Model, row: (u32, u32), time: (i64, i64), width: u32, cells: &[Cell]) {
    let slices = model.lanes[row.0 as usize].slices.clone();
    let slices: Vec<u32> = slices
        .filter(|slice| u32::from(model.rows[*slice as usize]) == row.1)
        .filter(|slice| touches(model, *slice, time))
        .collect();
    let counted: usize = cells.iter().map(|cell| cell.count as usize).sum();
    assert_eq!(counted, slices.len());
    let pixel = (u64::try_from(time.1 - time.0).unwrap() / u64::from(width)).max(1);
    let bits = pixel.ilog2();
    let durations = &model.trace.slices.durations;
    let is_short = |slice: &u32| durations[*slice as usize] < 1 << bits;
    let bin = |slice: &u32| model.span(*slice).0 >> bits;
    let mut rest = slices.as_slice();
    for cell in cells {
        let (inside, after) = rest.split_at(cell.count as usize);
        let first = span(model, inside[0]).0;
        let last = inside.iter().map(|slice| span(model, *slice).1).max();
        assert_eq!(
            (cell.begin, cell.begin + cell.length),
            (first, last.unwrap())
        );
        let longest = inside.iter().map(|slice| durations[*slice as usize]).max();
        let chosen = model.numbered(cell.index).unwrap();
        assert!(inside.contains(&chosen));
        assert_eq!(Some(durations[chosen as usize]), longest);
        assert_eq!(cell.name, model.trace.slices.names[chosen as usize].0);
        assert_eq!(cell.kind, model.kinds[chosen as usize] as u8);
        if inside.len() > 1 {
            assert!(inside.iter().all(is_short));
            assert!(inside.iter().all(|slice| bin(slice) == bin(&inside[0])));
            let sum: u64 = inside.iter().map(|slice| durations[*slice as usize]).sum();
            let share = 255.0 * sum as f64 / (cell.length as f64).max(1.0);
            assert!(
                cell.length == 0 || (f64::from(cell.busy) - share.ceil().min(255.0)).abs() <= 1.0
            );
        } else {
            assert_eq!(cell.busy, 255);
        }
        let behind = after.first();
        let last = inside.last().unwrap();
        let joins =
            behind.is_some_and(|next| is_short(next) && is_short(last) && bin(next) == bin(last));
        assert!(!joins, "two cells that are one");
        rest = after;
    }
}

/// Compares the pixels that cells cover with those that slices touch.
fn check_pixels(model: &Model, row: (u32, u32), time: (i64, i64), width: u32, cells: &[Cell]) {
    let slices = model.lanes[row.0 as usize].slices.clone();
    let mut slices = slices.filter(|slice| u32::from(model.rows[*slice as usize]) == row.1);
    let length = i128::from(time.1 - time.0);
    let pixel = |at: i64| i128::from(at - time.0) * i128::from(width) / length;
    let is_drawn = |x: i128| {
        cells
            .iter()
            .any(|cell| pixel(cell.begin) <= x && x <= pixel(cell.begin + cell.length))
    };
    let visible = slices
        .find(|slice| touches(model, *slice, time))
        .into_iter()
        .chain(slices);
    for slice in visible.filter(|slice| touches(model, *slice, time)) {
        let (begin, end) = span(model, slice);
        for x in pixel(begin).max(0)..=pixel(end).min(i128::from(width) - 1) {
            assert!(is_drawn(x), "pixel {x} of {width}");
        }
    }
}

fn rows(model: &Model) -> Vec<(u32, u32)> {
    let lanes = (0_u32..).zip(&model.lanes);
    lanes
        .flat_map(|(lane, lane_slices)| {
            (0..u32::from(lane_slices.rows)).map(move |depth| (lane, depth))
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn every_slice_is_in_one_cell_of_every_view(
        seed in any::<u64>(),
        count in 1_usize..1_000,
        spread in 12_u32..30,
        views in proptest::collection::vec((0.0_f64..1.0, 0.0_f64..1.0, 1_u32..2_000), 6),
    ) {
        let model = random_model(seed, count, spread);
        let levels = Levels::new(&model);
        let extent = model.extent.end - model.origin();
        let whole = [(0.0, 1.0, 300), (0.0, 1.0, 1)];
        for (a, b, width) in views.into_iter().chain(whole) {
            #[expect(clippy::cast_possible_truncation, reason = "a time within the extent")]
            let at = |share: f64| (share * (extent + 2) as f64) as i64 - 1;
            let (from, to) = (at(a.min(b)), at(a.max(b)).max(at(a.min(b)) + 1));
            for row in rows(&model) {
                let (cells, is_whole) = levels.cells(&model, row, (from, to), width, MAX_CELLS);
                prop_assert!(is_whole);
                prop_assert!(cells.len() <= 2 * width as usize + 2 || to - from < i64::from(width));
                check(&model, row, (from, to), width, &cells);
                check_pixels(&model, row, (from, to), width.min(200), &cells);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn an_outline_answers_as_the_slices_do(
        seed in any::<u64>(),
        count in 1_usize..1_000,
        spread in 6_u32..30,
        width in 1_u32..5_000,
        beyond in 0_i64..5_000,
    ) {
        let model = random_model(seed, count, spread);
        let levels = Levels::new(&model);
        let outline = Outline::new(&model, &levels).unwrap();
        let extent = model.extent.end - model.origin();
        for rows in [None, Some("0:0,1:1,0:7,99:3".to_owned())] {
            let query = TimelineQuery {
                to: (beyond > 0).then_some(extent + beyond),
                width: Some(width),
                rows,
                ..TimelineQuery::default()
            };
            if let Some(answer) = outline.timeline(&query) {
                prop_assert_eq!(answer, timeline(&model, &levels, &query));
            } else {
                prop_assert!(width > 2_048, "the whole in few pixels needs no slices");
            }
            let part = TimelineQuery { from: Some(extent / 3 + 1), ..query };
            prop_assert!(outline.timeline(&part).is_none());
        }
        let bad = TimelineQuery { rows: Some("1".to_owned()), width: Some(1), ..TimelineQuery::default() };
        prop_assert!(outline.timeline(&bad).is_none_or(|answer| answer.is_err()));
    }
}

#[test]
fn slices_of_the_deepest_row_overlap_and_are_counted_too() {
    let staircase: Vec<_> = (0..3_000).map(|at| (at, 2_500, "a")).collect();
    let model = of_lanes(&[(LaneKind::Host, &staircase)]);
    let levels = Levels::new(&model);
    let deepest = (0, 1_023);
    assert!(levels.row(0, 1_023).len() > 1_000);
    for (time, width) in [((0, 5_500), 1), ((2_000, 2_001), 10), ((4_000, 5_000), 100)] {
        let (cells, is_whole) = levels.cells(&model, deepest, time, width, MAX_CELLS);
        assert!(is_whole);
        check(&model, deepest, time, width, &cells);
    }
}

#[test]
fn a_long_row_is_a_few_cells_however_many_its_slices() {
    let many: Vec<_> = (0..200_000).map(|at| (at * 100, 60, "a")).collect();
    let model = of_lanes(&[(LaneKind::Host, &many)]);
    let levels = Levels::new(&model);
    let whole = (0, 20_000_000);
    let (cells, _) = levels.cells(&model, (0, 0), whole, 100, MAX_CELLS);
    assert!(cells.len() <= 201, "{} cells", cells.len());
    check(&model, (0, 0), whole, 100, &cells);
    let busy = cells.iter().map(|cell| f64::from(cell.busy) / 255.0);
    assert!(busy.into_iter().all(|busy| (busy - 0.6).abs() < 0.01));
}

#[test]
fn answers_have_the_rows_of_the_query_and_say_what_they_leave_out() {
    let model = fixture("torch-cnn/plain.pt.trace.json.gz");
    let levels = Levels::new(&model);
    let query = |rows: Option<&str>| TimelineQuery {
        rows: rows.map(str::to_owned),
        ..TimelineQuery::default()
    };
    let all = timeline(&model, &levels, &query(None)).unwrap();
    assert_eq!(
        (all.from_nanos, all.to_nanos, all.width),
        (0, 5_511_880, 1_600)
    );
    assert_eq!(all.rows.len(), rows(&model).len());
    let counted: u32 = all
        .rows
        .iter()
        .flat_map(|row| &row.cells)
        .map(|cell| cell.count)
        .sum();
    let outside = |slice: &u32| !touches(&model, *slice, (0, 5_511_880));
    let outside = model.slices().filter(outside).count();
    assert_eq!(counted as usize + outside, model.trace.slices.len());
    for cell in all.rows.iter().flat_map(|row| &row.cells) {
        let slice = model.numbered(cell.index).unwrap();
        assert_eq!(all.names[&cell.name], model.name(slice));
    }
    assert!(!all.cut);
    let two = timeline(&model, &levels, &query(Some("0:1, 0:0"))).unwrap();
    let depths: Vec<_> = two.rows.iter().map(|row| (row.lane, row.depth)).collect();
    assert_eq!(depths, [(0, 1), (0, 0)]);
    assert_eq!(two.rows[1], all.rows[0]);
    let none = timeline(&model, &levels, &query(Some("9999:0,0:9999"))).unwrap();
    assert!(none.rows.iter().all(|row| row.cells.is_empty()));
    let bad = timeline(&model, &levels, &query(Some("0:0,1-1"))).unwrap_err();
    assert!(bad.to_string().contains("`1-1`"), "{bad}");
    let many = vec!["0:0"; MAX_ROWS + 1].join(",");
    let many = timeline(&model, &levels, &query(Some(&many))).unwrap();
    assert_eq!((many.rows.len(), many.cut), (MAX_ROWS, true));
}

#[test]
fn an_answer_has_a_limited_number_of_cells() {
    let count = i64::try_from(MAX_CELLS).unwrap() + 5;
    let many: Vec<_> = (0..count).map(|at| (at * 2, 1, "a")).collect();
    let model = of_lanes(&[(LaneKind::Host, &many)]);
    let query = TimelineQuery {
        width: Some(u32::MAX),
        ..TimelineQuery::default()
    };
    let answer = timeline(&model, &Levels::new(&model), &query).unwrap();
    assert_eq!((answer.rows[0].cells.len(), answer.cut), (MAX_CELLS, true));
}
