//! Places of rows on axes, and counts of their lines.

use super::*;
use crate::density::{Density, SHADES};
use crate::theme::Rgb;

fn numbers(values: &[f64]) -> Arc<Vec<Spot>> {
    Arc::new(values.iter().copied().map(Spot::Number).collect())
}

fn axis(name: &str, scale: Scale, spots: Arc<Vec<Spot>>) -> AxisSpec {
    AxisSpec {
        name: name.to_owned(),
        group: "Parameters".to_owned(),
        kind: AxisKind::Numbers {
            scale,
            is_whole: false,
        },
        is_upside_down: false,
        spots,
        spread: None,
    }
}

fn spec(axes: Vec<AxisSpec>) -> Spec {
    Spec {
        width: 600.0,
        height: 260.0,
        dpr: 1.0,
        axes,
    }
}

#[test]
fn a_curve_is_level_at_its_ends_and_passes_the_middle() {
    assert!(ease(0.0).abs() < 1e-12 && (ease(1.0) - 1.0).abs() < 1e-12);
    assert!((ease(0.5) - 0.5).abs() < 1e-12);
    assert!(ease(0.1) < 0.05 && ease(0.9) > 0.95);
    assert!((0..100).all(|i| ease(f64::from(i) / 100.0) <= ease(f64::from(i + 1) / 100.0)));
}

#[test]
fn every_row_has_a_place_on_every_axis() {
    let odd = Arc::new(vec![
        Spot::Number(1.0),
        Spot::Number(f64::NAN),
        Spot::Number(f64::INFINITY),
        Spot::Number(f64::NEG_INFINITY),
        Spot::Missing,
        Spot::Number(-1.0),
        Spot::Text,
        Spot::Number(100.0),
    ]);
    let layout = Layout::new(&spec(vec![
        axis("lr", Scale::Log, odd),
        axis(
            "loss",
            Scale::Linear,
            numbers(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]),
        ),
    ]));
    let placed = &layout.axes[0];
    let lanes = [
        None,
        Some(Lane::Nan),
        Some(Lane::PosInf),
        Some(Lane::NegInf),
        Some(Lane::Missing),
        Some(Lane::OffScale),
        Some(Lane::Text),
        None,
    ];
    assert_eq!(placed.lanes, lanes);
    let y = |row: usize| f64::from(placed.y[row]);
    assert!(y(1) < y(2) && y(2) < y(3) && y(3) < layout.top);
    assert!(layout.bottom < y(4) && y(4) < y(5) && y(5) < y(6) && y(6) < layout.height);
    assert!((y(0) - layout.bottom).abs() < 1e-3 && (y(7) - layout.top).abs() < 1e-3);
    assert_eq!(layout.axes[1].y.len(), 8);
    assert_eq!(layout.lanes_between(0, 0.0, layout.top - 1.0), Lane::ABOVE);
}

#[test]
fn values_and_positions_are_inverse_upside_down_too() {
    let mut lr = axis("lr", Scale::Log, numbers(&[1e-5, 1e-2]));
    lr.is_upside_down = true;
    let layout = Layout::new(&spec(vec![lr]));
    let placed = &layout.axes[0];
    for value in [1e-5, 3e-4, 1e-2] {
        let back = placed.value_at(placed.y_of_value(value));
        assert!((back / value - 1.0).abs() < 1e-9, "{value} {back}");
    }
    assert!(placed.y_of_value(1e-5) < placed.y_of_value(1e-2));
}

#[test]
fn choices_have_places_and_lines_of_one_choice_are_told_apart() {
    let names: Vec<String> = ["sgd", "adam", "lamb"].map(str::to_owned).to_vec();
    let layout = Layout::new(&spec(vec![AxisSpec {
        kind: AxisKind::Choices(names),
        ..axis("opt", Scale::Linear, Arc::new(vec![Spot::Choice(1); 5]))
    }]));
    let placed = &layout.axes[0];
    let middle = placed.y_of_choice(1);
    assert_eq!(placed.choice_at(middle + 5.0), Some(1));
    assert_eq!(placed.choice_at(0.0), Some(2));
    assert!(
        placed
            .y
            .iter()
            .all(|y| (f64::from(*y) - middle).abs() <= 4.0)
    );
    assert!(
        placed
            .y
            .windows(2)
            .all(|pair| (pair[0] - pair[1]).abs() > 0.5)
    );
}

#[test]
fn more_axes_than_fit_make_the_plot_wider() {
    let axes = (0..12).map(|at| axis(&at.to_string(), Scale::Linear, numbers(&[1.0, 2.0])));
    let layout = Layout::new(&spec(axes.collect()));
    assert!(layout.width > 900.0);
    assert!(
        layout
            .axes
            .windows(2)
            .all(|pair| pair[1].x - pair[0].x >= 75.0)
    );
    assert_eq!(layout.nearest_axis(layout.axes[3].x + 20.0), Some(3));
}

#[test]
fn twelve_axes_fit_beside_the_rail_of_a_small_screen() {
    let axes = (0..12).map(|at| axis(&at.to_string(), Scale::Linear, numbers(&[1.0, 2.0])));
    let layout = Layout::new(&Spec {
        width: 1_062.0,
        ..spec(axes.collect())
    });
    assert!((layout.width - 1_062.0).abs() < 0.1, "{}", layout.width);
}

#[test]
fn few_distinct_values_are_the_ticks_of_their_axis() {
    let texts = |values: &[f64]| {
        let layout = Layout::new(&spec(vec![axis("batch", Scale::Linear, numbers(values))]));
        let ticks = layout.axes[0].ticks.iter();
        ticks.map(|(_, text)| text.clone()).collect::<Vec<_>>()
    };
    assert_eq!(
        texts(&[128.0, 16.0, 64.0, 32.0, 16.0]),
        ["16", "32", "64", "128"]
    );
    // Labels that would touch give way to the ends.
    assert_eq!(texts(&[0.0, 1.0, 100.0]), ["0", "100"]);
    let nine: Vec<f64> = (0..9).map(|at| f64::from(at * at)).collect();
    assert!(!texts(&nine).contains(&"49".to_owned()));
    // One value has the ticks around it.
    assert!(texts(&[3.0, 3.0]).len() > 1);
}

#[test]
fn the_nearest_line_follows_the_curve() {
    let layout = Layout::new(&spec(vec![
        axis("a", Scale::Linear, numbers(&[0.0, 10.0, 5.0])),
        axis("b", Scale::Linear, numbers(&[10.0, 0.0, 5.0])),
    ]));
    let (from, to) = (&layout.axes[0], &layout.axes[1]);
    let near = |x: f64, y: f64| layout.nearest_row(0..3, (x, y), 6.0);
    assert_eq!(near(from.x + 1.0, f64::from(from.y[1])), Some(1));
    assert_eq!(near(to.x - 1.0, f64::from(to.y[1])), Some(1));
    assert_eq!(near(to.x - 1.0, f64::from(to.y[0])), Some(0));
    assert_eq!(near(from.x + 1.0, f64::from(from.y[0]) + 20.0), None);
}

#[test]
fn counts_of_lines_that_were_added_and_subtracted_are_those_of_the_rest() {
    let values = |seed: usize| {
        let row = |row: usize| match (row * 7 + seed) % 11 {
            0 => Spot::Missing,
            1 => Spot::Number(f64::NAN),
            other => Spot::Number(other as f64),
        };
        Arc::new((0..60).map(row).collect::<Vec<_>>())
    };
    let layout = Layout::new(&spec(vec![
        axis("a", Scale::Linear, values(1)),
        axis("b", Scale::Linear, values(5)),
        axis("c", Scale::Linear, values(9)),
    ]));
    let mut all = Density::new(&layout);
    for row in 0..60 {
        all.add(&layout, row, u8::try_from(row).unwrap());
    }
    for row in (0..60).filter(|row| row % 3 != 0) {
        all.subtract(&layout, row, u8::try_from(row).unwrap());
    }
    let mut rest = Density::new(&layout);
    for row in (0..60).step_by(3) {
        rest.add(&layout, row, u8::try_from(row).unwrap());
    }
    assert_eq!(all, rest);
    // A line has at least one pixel in each column between the first and the last axis.
    let (_, height) = rest.size();
    let mut one = Density::new(&layout);
    one.add(&layout, 4, 200);
    let columns = 49..535;
    assert!(
        columns
            .clone()
            .all(|x| (0..height).any(|y| one.count_at(x, y) > 0))
    );
    let shown = one.pixels(&[Rgb(1, 2, 3); SHADES]);
    assert_eq!(shown.chunks(4).filter(|pixel| pixel[3] > 0).count(), {
        let cells = (0..600).flat_map(|x| (0..height).map(move |y| (x, y)));
        cells.filter(|(x, y)| one.count_at(*x, *y) > 0).count()
    });
}
