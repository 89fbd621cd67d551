//! Figures of real landscapes against those of a slow reader, surfaces with known answers, and input of any kind.

#![expect(clippy::float_cmp, reason = "equal means equal to the bit")]

use proptest::prelude::*;
use serde_json::Value;
use trainscope_format::surface::Grid;
use trainscope_format::{Body, RecordBatch, sniff};

use super::*;

fn list(values: &[f64]) -> Grid {
    Grid {
        shape: vec![values.len() as u64],
        values: values.to_vec(),
    }
}

/// A landscape of a function on a grid, with a path to its end.
fn landscape(
    (x, y): (&[f64], &[f64]),
    of: impl Fn(f64, f64) -> f64,
    path: &[(f64, f64)],
) -> Landscape {
    let z = y.iter().flat_map(|y| x.iter().map(|x| of(*x, *y)));
    let points = |path: &[(f64, f64)]| {
        let [x, y]: [Vec<f64>; 2] = [
            path.iter().map(|at| at.0).collect(),
            path.iter().map(|at| at.1).collect(),
        ];
        let z: Vec<f64> = path.iter().map(|at| of(at.0, at.1)).collect();
        Points {
            x: list(&x),
            y: list(&y),
            z: list(&z),
        }
    };
    let z: Vec<f64> = z.collect();
    Landscape {
        surface: Some(Points {
            x: list(x),
            y: list(y),
            z: Grid {
                shape: vec![y.len() as u64, x.len() as u64],
                values: z,
            },
        }),
        intervals: (0_i64..).map(|at| at * 10).take(path.len()).collect(),
        path: (path.len() > 1).then(|| points(path)),
        convergence_point: path.last().map(|end| points(&[*end])),
        unit: "step".to_owned(),
        ..Landscape::default()
    }
}

/// Equally spaced coordinates.
fn axis(from: f64, to: f64, points: u32) -> Vec<f64> {
    let share = |at: u32| f64::from(at) / f64::from(points - 1);
    (0..points)
        .map(|at| from + (to - from) * share(at))
        .collect()
}

fn concluded(landscape: &Landscape) -> Conclusion {
    let surface = Surface::new(landscape).unwrap();
    conclusion(landscape, &figures(landscape, &surface, |_| None))
}

/// An event file of `MindSpore` with two landscapes.
const RECORDED: &[u8] = include_bytes!(
    "../../../../tests/fixtures/ms20-summary/landscape/events.out.events.summary.1795212940.0.vm_MS"
);
/// Figures of a slow reader of that file.
const TRUTH: &str = include_str!("../../../../tests/fixtures/landscape-truth.json");

/// The landscapes of a file, by tag.
fn recorded() -> Vec<(String, Landscape)> {
    let name = "events.out.events.summary.1795212940.0.vm_MS";
    let mut batch = RecordBatch::default();
    let format = sniff(name, || RECORDED[..64].to_vec()).unwrap();
    format.decoder(name).push(RECORDED, &mut batch);
    let all = batch.records.into_iter().filter_map(|record| {
        let Body::Landscape(landscape) = record.body else {
            return None;
        };
        let tag = batch.new_tags.get(record.tag.0 as usize)?;
        Some((tag.name.to_string(), *landscape))
    });
    all.collect()
}

fn close(value: f64, truth: &Value) {
    let truth = truth.as_f64().expect("a number");
    assert!(
        (value - truth).abs() <= 1e-6 * truth.abs().max(1e-3),
        "{value} {truth}"
    );
}

#[test]
fn figures_of_recorded_landscapes_are_those_of_a_slow_reader() {
    let truth: Value = serde_json::from_str(TRUTH).unwrap();
    let truth = truth["ms20-summary"]["landscape"].as_array().unwrap();
    let recorded = recorded();
    assert_eq!((recorded.len(), truth.len()), (2, 2));
    for entry in truth {
        let tag = entry["tag"].as_str().unwrap();
        let (_, landscape) = recorded.iter().find(|(other, _)| other == tag).unwrap();
        let surface = Surface::new(landscape).unwrap();
        let ends = (surface.x().len() - 1, surface.y().len() - 1);
        close(surface.loss(0, 0), &entry["at"]["i=0,j=0"]);
        close(surface.loss(0, ends.0), &entry["at"]["i=0,j=last"]);
        close(surface.loss(ends.1, 0), &entry["at"]["i=last,j=0"]);
        let (low, high) = surface.range().unwrap();
        close(low, &entry["z_min"]);
        close(high, &entry["z_max"]);
        let losses = entry["training_loss_at_path"].as_array();
        let training = |step: i64| {
            let mut all = losses?.iter();
            all.find(|pair| pair[0].as_i64() == Some(step))?[1][1].as_f64()
        };
        let figures = figures(landscape, &surface, training);
        let least = figures.least.unwrap();
        close(least.at.0, &entry["least"]["x"]);
        close(least.at.1, &entry["least"]["y"]);
        close(least.loss, &entry["least"]["loss"]);
        close(figures.end.unwrap().1, &entry["loss_at_end"]);
        // A ray may exceed the limit before it reaches the nearest point of the grid above the limit.
        let nearest = entry["nearest_grid_point_more_than_10_percent_above"]
            .as_f64()
            .unwrap();
        let radius = figures.radius.unwrap();
        assert!(
            radius > 0.0 && radius <= nearest + 1e-9,
            "{radius} {nearest}"
        );
        assert_eq!(figures.not_finite, (0, 0));
        let path = entry["path"].as_array().map_or(&[][..], Vec::as_slice);
        assert_eq!(figures.saved.len(), path.len());
        for (saved, truth) in figures.saved.iter().zip(path) {
            close(saved.at.0, &truth[0]);
            close(saved.loss, &truth[2]);
        }
        if let Some(length) = entry.get("path_length") {
            close(figures.path_length.unwrap(), length);
            let bilinear = entry["surface_at_path_bilinear"].as_array().unwrap();
            for (saved, truth) in figures.saved.iter().zip(bilinear) {
                close(surface.at(saved.at).unwrap(), truth);
            }
            let steps: Vec<_> = figures
                .saved
                .iter()
                .filter_map(|state| state.step)
                .collect();
            assert_eq!(steps, [8, 16, 24, 32]);
            let training = figures.saved[1].training_loss.unwrap();
            assert!((training - 1.634_929_3).abs() < 1e-6);
        }
    }
    let sentences: Vec<_> = recorded
        .iter()
        .map(|pair| concluded(&pair.1).sentence.en)
        .collect();
    assert_eq!(
        sentences[0],
        "The minimum is outside of this plane: its loss falls to 0.086 at the border (0.161 at the end of the training)."
    );
    assert!(sentences[1].starts_with("The loss at the end is 0.112; it stays within 10 %"));
}

#[test]
fn short_names_are_in_the_tag() {
    assert_eq!(span_of("landscape_[1, 4]"), Some((1, 4)));
    assert_eq!(span_of("landscape_[4]"), None);
    assert_eq!(span_of("landscape"), None);
}

#[test]
fn the_surface_is_bilinear_and_its_rows_are_y() {
    let record = landscape(
        (&[0.0, 2.0], &[0.0, 1.0, 3.0]),
        |x, y| x + 10.0 * y + x * y,
        &[],
    );
    let surface = Surface::new(&record).unwrap();
    assert_eq!(surface.loss(2, 1), 38.0);
    // A bilinear function equals its bilinear surface.
    for (x, y) in [(0.0, 0.0), (1.0, 0.5), (2.0, 3.0), (0.3, 2.9)] {
        let loss = surface.at((x, y)).unwrap();
        assert!((loss - (x + 10.0 * y + x * y)).abs() < 1e-12);
    }
    assert_eq!(surface.at((2.1, 0.0)), None);
    assert_eq!(surface.at((f64::NAN, 0.0)), None);
}

#[test]
fn a_corner_without_a_share_does_not_count() {
    let record = landscape(
        (&[0.0, 1.0, 2.0], &[0.0, 1.0]),
        |x, _| if x > 1.5 { f64::NAN } else { x },
        &[],
    );
    let surface = Surface::new(&record).unwrap();
    assert_eq!(surface.at((1.0, 0.5)), Some(1.0));
    assert!(surface.at((1.1, 0.5)).unwrap().is_nan());
    let contours = contours(&surface, &[0.5]);
    assert_eq!(contours.gaps.len(), 1);
    assert_eq!(contours.gaps[0], ((1.0, 0.0), (2.0, 1.0), true));
    // The area ends at the gap.
    assert_eq!(contours.lines[0], [[(0.5, 1.0), (0.5, 0.0)]]);
    assert!((area(&contours.area) - 1.0).abs() < 1e-12);
    assert!((area(&contours.above[0]) - 0.5).abs() < 1e-12);
}

/// Area of outlines: positive counter-clockwise.
fn area(outlines: &[Vec<Point>]) -> f64 {
    let of = |outline: &Vec<Point>| {
        let next = outline.iter().cycle().skip(1);
        let crosses = outline.iter().zip(next).map(|(a, b)| a.0 * b.1 - b.0 * a.1);
        crosses.sum::<f64>() / 2.0
    };
    outlines.iter().map(of).sum()
}

#[test]
fn a_bowl_has_a_round_hole_at_each_level() {
    let places = axis(-1.0, 1.0, 81);
    let record = landscape((&places, &places), |x, y| x * x + y * y, &[]);
    let surface = Surface::new(&record).unwrap();
    let contours = contours(&surface, &[0.25, 0.64]);
    for (index, radius) in [0.5, 0.8].into_iter().enumerate() {
        let inside = std::f64::consts::PI * radius * radius;
        let above = area(&contours.above[index]);
        assert!((above - (4.0 - inside)).abs() < 0.005, "{above}");
        assert_eq!(contours.above[index].len(), 2, "the border and the hole");
        assert_eq!(contours.lines[index].len(), 1);
        for (x, y) in &contours.lines[index][0] {
            assert!((x.hypot(*y) - radius).abs() < 0.002);
        }
    }
    assert!((area(&contours.area) - 4.0).abs() < 1e-12);
}

#[test]
fn a_saddle_is_joined_by_the_mean_of_its_corners() {
    let corners = |low: f64| {
        let record = landscape(
            (&[0.0, 1.0], &[0.0, 1.0]),
            |x, y| if x == y { 1.0 } else { low },
            &[],
        );
        contours(&Surface::new(&record).unwrap(), &[0.5])
    };
    // Mean above the level: one area. Below: two.
    assert_eq!(corners(0.2).above[0].len(), 1);
    assert_eq!(corners(-0.2).above[0].len(), 2);
    assert_eq!(corners(0.2).lines[0].len(), 2);
    assert_eq!(corners(-0.2).lines[0].len(), 2);
    let (joined, apart) = (area(&corners(0.2).above[0]), area(&corners(-0.2).above[0]));
    assert!(joined > 0.5 && apart < 0.5);
}

#[test]
fn levels_are_between_the_extremes() {
    let linear = levels((1.0, 15.0), LossScale::Linear);
    assert_eq!(linear.len(), LEVELS);
    assert!((linear[0] - 2.0).abs() < 1e-12 && (linear[12] - 14.0).abs() < 1e-12);
    let log = levels((1.0, 2_f64.powi(14)), LossScale::Log);
    assert!((log[0] - 2.0).abs() < 1e-9 && (log[12] - 8192.0).abs() < 1e-6);
    assert!(levels((1.0, 1.0), LossScale::Log).is_empty());
    assert!(levels((f64::NAN, 1.0), LossScale::Linear).is_empty());
    assert_eq!(LossScale::of(Some((0.0, 1.0))), LossScale::Linear);
    assert_eq!(LossScale::of(Some((0.1, 1.0))), LossScale::Log);
    assert_eq!(LossScale::of(None), LossScale::Linear);
    for scale in [LossScale::Linear, LossScale::Log] {
        assert_eq!(scale.share((1.0, 9.0), 9.0), 1.0);
        assert_eq!(scale.share((1.0, 9.0), 1.0), 0.0);
        assert_eq!(scale.share((2.0, 2.0), 2.0), 0.0);
    }
    assert!((LossScale::Log.share((1.0, 9.0), 3.0) - 0.5).abs() < 1e-12);
}

#[test]
fn the_basin_ends_where_the_surface_exceeds_the_limit() {
    // A cone of loss 1 at the end: 1.1 at a distance of 0.1, exactly along the lines of the grid.
    let places = axis(-1.0, 1.0, 201);
    let cone = |x: f64, y: f64| 1.0 + x.hypot(y);
    let record = landscape((&places, &places), cone, &[(-0.9, 0.0), (0.0, 0.0)]);
    let surface = Surface::new(&record).unwrap();
    let figures = figures(&record, &surface, |_| None);
    assert!((figures.radius.unwrap() - 0.1).abs() < 1e-3, "{figures:?}");
    assert!((figures.path_length.unwrap() - 0.9).abs() < 1e-12);
    let bowl = |x: f64, y: f64| 1.0 + 3.0 * x * x + 5.0 * y * y;
    let record = landscape((&places, &places), bowl, &[(0.5, 0.5), (0.0, 0.0)]);
    let figures = super::figures(&record, &Surface::new(&record).unwrap(), |_| None);
    assert!((figures.curvature.unwrap() - 10.0).abs() < 1e-6);
    assert!((figures.radius.unwrap() - (0.1_f64 / 5.0).sqrt()).abs() < 2e-3);
}

#[test]
fn a_basin_that_the_plane_does_not_leave_has_no_size() {
    let places = axis(-1.0, 1.0, 5);
    let record = landscape((&places, &places), |_, _| 2.0, &[(0.5, 0.5), (0.0, 0.0)]);
    let figures = figures(&record, &Surface::new(&record).unwrap(), |_| None);
    assert_eq!((figures.radius, figures.curvature), (None, Some(0.0)));
    assert_eq!(figures.limit, Some(2.2));
    // A loss of 0 has no 10 %; a negative one rises by a share of its size.
    let record = landscape((&places, &places), |x, y| x * x + y * y, &[(0.0, 0.0)]);
    assert_eq!(
        super::figures(&record, &Surface::new(&record).unwrap(), |_| None).limit,
        None
    );
    let record = landscape((&places, &places), |_, _| -10.0, &[(0.0, 0.0)]);
    assert_eq!(
        super::figures(&record, &Surface::new(&record).unwrap(), |_| None).limit,
        Some(-9.0)
    );
}

#[test]
fn a_basin_ends_at_a_gap() {
    let places = axis(-1.0, 1.0, 9);
    let wall = |x: f64, _: f64| if x > 0.6 { f64::NAN } else { 1.0 };
    let record = landscape((&places, &places), wall, &[(0.0, 0.0)]);
    let figures = figures(&record, &Surface::new(&record).unwrap(), |_| None);
    assert!((figures.radius.unwrap() - 0.5).abs() < 1e-9, "{figures:?}");
    assert_eq!(figures.not_finite, (18, 0));
}

#[test]
fn the_first_rule_that_holds_makes_the_sentence() {
    let places = axis(-1.0, 1.0, 41);
    let grid = (&*places, &*places);
    let path = [(-0.8, 0.0), (-0.4, 0.0), (0.0, 0.0)];
    let bowl = |x: f64, y: f64| 1.0 + x * x + y * y;
    let broken = landscape(
        grid,
        |x, y| {
            if x == 0.0 && y == 0.0 {
                f64::NAN
            } else {
                bowl(x, y)
            }
        },
        &path,
    );
    let nan = concluded(&broken);
    assert_eq!(
        (nan.tone, &*nan.sentence.en),
        (Tone::Error, "The loss at the end is NaN.")
    );
    let slope = concluded(&landscape(grid, |x, _| 3.0 - x, &path));
    assert!(slope.sentence.en.contains("at the border"), "{slope:?}");
    // The lowest loss at the border equals that at the end: a flat surface is not a slope.
    let flat = concluded(&landscape(grid, |_, _| 2.0, &path));
    assert_eq!(flat.sentence.en, "The loss at the end is 2.");
    let hill = |x: f64, y: f64| bowl(x, y) + 2.0 * (-((x + 0.6) / 0.08).powi(2)).exp();
    let hill = concluded(&landscape(grid, hill, &path));
    assert!(
        hill.sentence
            .en
            .starts_with("Between steps 0 and 10, the path climbs over a loss of 3"),
        "{hill:?}"
    );
    assert!(hill.sentence.zh.contains("迭代 0 与 10"));
    let wide = concluded(&landscape(grid, bowl, &path));
    assert_eq!(wide.tone, Tone::Good);
    assert!(wide.sentence.en.contains("wide basin"), "{wide:?}");
    let narrow = |x: f64, y: f64| 1.0 + 40.0 * (x * x + y * y).min(0.02) + x * x + y * y;
    let fine = axis(-1.0, 1.0, 401);
    let long = [(-0.9, -0.9), (-0.5, 0.5), (0.9, -0.5), (0.0, 0.0)];
    let narrow = concluded(&landscape((&fine, &fine), narrow, &long));
    assert!(narrow.sentence.en.contains("narrow basin"), "{narrow:?}");
    let random = concluded(&landscape(grid, bowl, &[(0.0, 0.0)]));
    assert!(
        random
            .sentence
            .en
            .starts_with("The loss at the end is 1; it stays"),
        "{random:?}"
    );
    let nothing = concluded(&landscape(grid, |_, _| f64::NAN, &[]));
    assert_eq!(nothing.sentence.en, "No loss of this plane is finite.");
}

#[test]
fn records_that_are_no_surface_are_refused() {
    let record = landscape((&[0.0, 1.0], &[0.0, 1.0]), |x, _| x, &[]);
    let mut other = record.clone();
    other.surface.as_mut().unwrap().z.values.pop();
    assert_eq!(Surface::new(&other), Err(UnfitSurface::Sizes));
    other = record.clone();
    other.surface.as_mut().unwrap().x.values.reverse();
    assert_eq!(Surface::new(&other), Err(UnfitSurface::Axes));
    other = record.clone();
    other.surface.as_mut().unwrap().y.values[0] = f64::NEG_INFINITY;
    assert_eq!(Surface::new(&other), Err(UnfitSurface::Axes));
    other.surface = None;
    assert_eq!(Surface::new(&other), Err(UnfitSurface::Missing));
    other.surface = Some(Points::default());
    assert_eq!(Surface::new(&other), Err(UnfitSurface::Sizes));
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -10.0..10.0,
        1 => prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, 0.0]),
    ]
}

proptest! {
    #[test]
    fn any_losses_have_contours_and_a_sentence(
        columns in 1_usize..7,
        rows in 1_usize..7,
        losses in prop::collection::vec(number(), 36),
        level in number(),
        path in prop::collection::vec((number(), number()), 0..4),
    ) {
        let places = |count: usize| (0..count).map(|at| at as f64 * 2.0 - 5.0).collect::<Vec<_>>();
        let (x, y) = (places(columns), places(rows));
        let mut record = landscape((&x, &y), |_, _| 0.0, &path);
        record.surface.as_mut().unwrap().z.values = losses[..columns * rows].to_vec();
        let surface = Surface::new(&record).unwrap();
        let found = contours(&surface, &[level]);
        // Outlines are closed and within the grid, and areas and gaps are the whole grid.
        let cells = ((columns - 1) * (rows - 1)) as f64 * 4.0;
        let gaps: f64 = found.gaps.iter().map(|(from, to, _)| (to.0 - from.0) * (to.1 - from.1)).sum();
        prop_assert!((area(&found.area) + gaps - cells).abs() < 1e-6);
        let above = area(&found.above[0]);
        prop_assert!((-1e-6..=cells - gaps + 1e-6).contains(&above), "{above}");
        let figures = figures(&record, &surface, |_| None);
        prop_assert!(figures.radius.is_none_or(|radius| (0.0..100.0).contains(&radius)));
        prop_assert!(!conclusion(&record, &figures).sentence.zh.is_empty());
        surface.cut_along_x((0.5, 0.5));
    }
}
