//! Drawings of distribution charts, and hit testing.

use plotters::prelude::SVGBackend;
use trainscope_charts::distribution::{self, Layout, Row, Spec, Stack, View};
use trainscope_charts::theme::{Rgb, Theme};

fn row(at: f64, counts: &[f64], nan: u64) -> Row {
    let finite: f64 = counts.iter().sum();
    Row {
        at,
        counts: counts.to_vec(),
        finite,
        nan,
        percentiles: if finite > 0.0 {
            vec![-9.0, -1.0, -0.5, 0.0, 0.5, 1.0, 9.0]
        } else {
            Vec::new()
        },
        text: format!("{at}"),
        ..Row::default()
    }
}

fn spec(view: View) -> Spec {
    Spec {
        width: 400.0,
        height: 280.0,
        dpr: 1.0,
        view,
        edges: vec![-2.0, -1.0, 0.0, 1.0, 2.0],
        stacks: vec![Stack {
            colour: Rgb(0x47, 0x47, 0xd8),
            rows: vec![
                row(0.0, &[1.0, 4.0, 4.0, 1.0], 0),
                row(10.0, &[0.0, 8.0, 2.0, 0.0], 0),
                row(20.0, &[0.0, 0.0, 0.0, 0.0], 10),
            ],
        }],
        ..Spec::default()
    }
}

fn svg(spec: &Spec) -> String {
    let layout = Layout::new(spec);
    let mut text = String::new();
    // 400 by 280 pixels, in sixteenths of a pixel.
    let backend = SVGBackend::with_string(&mut text, (6_400, 4_480));
    let drawn = distribution::draw(backend, spec, &layout, &Theme::light(), 1.0);
    assert!(drawn.is_ok(), "{drawn:?}");
    text
}

const VIEWS: [View; 4] = [
    View::Offset,
    View::Overlay,
    View::HeatMap,
    View::Percentiles,
];

#[test]
fn every_picture_says_where_values_are_not_finite() {
    for view in VIEWS {
        let text = svg(&spec(view));
        assert!(text.contains("NaN"), "{view:?}");
        assert!(text.contains("#B3123F"), "{view:?}");
    }
}

#[test]
fn the_first_steps_that_are_not_finite_are_named_with_all_they_stand_for() {
    let mut spec = spec(View::Overlay);
    let rows = &mut spec.stacks[0].rows;
    rows[1].nan = 30;
    rows[2].nan = 900;
    let text = svg(&spec);
    assert!(text.contains("10: 30 / 40"), "{text}");
    spec.stacks[0].rows[1].since = "7".to_owned();
    assert!(svg(&spec).contains("7–10: 30 / 40"));
}

#[test]
fn where_half_precision_ends_is_drawn_if_values_come_so_far() {
    for view in VIEWS {
        assert!(!svg(&spec(view)).contains("fp16"), "{view:?}");
        let mut far = spec(view);
        far.edges = vec![-1e4, -1.0, 0.0, 1.0, 1e5];
        let text = svg(&far);
        assert!(text.contains("fp16 65,504"), "{view:?}");
        assert!(!text.contains("fp16 −65,504"), "{view:?}");
    }
}

#[test]
fn labels_of_both_ends_of_half_precision_do_not_meet() {
    let place = |svg: &str, label: &str| {
        let tag = &svg[..svg.find(label)?];
        let tag = &tag[tag.rfind("<text").unwrap()..];
        let number = |name: &str| -> f64 {
            let from = tag.find(name).unwrap() + name.len();
            tag[from..].split('"').next().unwrap().parse().unwrap()
        };
        // Sixteenths of pixels.
        let (x, y) = (number("x=\"") / 16.0, number("y=\"") / 16.0);
        let width = trainscope_charts::label::width(label);
        let left = if tag.contains("text-anchor=\"end\"") {
            x - width
        } else {
            x
        };
        Some((left, left + width, y))
    };
    for view in VIEWS {
        for end in [7e4, 1e5, 1e7, 1e30] {
            for (low, high) in [(-end, end), (-end, 6.6e4), (-6.6e4, end)] {
                let mut far = spec(view);
                far.edges = vec![low, -1.0, 0.0, 1.0, high];
                let text = svg(&far);
                let places = (place(&text, "fp16 65,504"), place(&text, "fp16 −65,504"));
                // A limit on the edge of the plot has no line.
                let (Some(a), Some(b)) = places else {
                    assert!(end > 1e5, "{view:?} {low} {high}");
                    continue;
                };
                let is_beside = a.1 <= b.0 || b.1 <= a.0 || (a.2 - b.2).abs() >= 12.0;
                assert!(is_beside, "{view:?} {low} {high}: {a:?} {b:?}");
            }
        }
    }
}

#[test]
fn percentiles_have_names_where_they_are_drawn() {
    for view in VIEWS {
        let text = svg(&spec(view));
        let has_names = ["p5\n", "p50", "p95"]
            .iter()
            .all(|name| text.contains(name));
        assert_eq!(
            has_names,
            matches!(view, View::HeatMap | View::Percentiles),
            "{view:?}"
        );
    }
}

#[test]
fn stepped_outlines_follow_the_bins() {
    let points = |is_stepped| {
        let text = svg(&Spec {
            is_stepped,
            ..spec(View::Overlay)
        });
        text.matches(',').count()
    };
    assert!(points(true) > points(false));
}

#[test]
fn a_heat_map_has_a_cell_for_each_bin_with_values() {
    let theme = Theme::light();
    let colour = |magnitude: f64| {
        let Rgb(r, g, b) = theme.sequence(magnitude);
        format!("#{r:02X}{g:02X}{b:02X}")
    };
    let text = svg(&spec(View::HeatMap));
    // The bin with the greatest share has the last colour.
    assert!(text.contains(&colour(1.0)));
    let empty = Spec {
        stacks: Vec::new(),
        ..spec(View::HeatMap)
    };
    // Neighbours of one shade are one rectangle.
    let cells = text.matches("<rect").count() - svg(&empty).matches("<rect").count();
    assert!(cells > 4, "{cells}");
}

#[test]
fn a_pointer_finds_row_and_bin() {
    for view in VIEWS {
        let spec = spec(view);
        let layout = Layout::new(&spec);
        let (x, y) = match view {
            View::Offset | View::Overlay => (
                layout.plot.left + 0.3 * layout.plot.width(),
                layout.plot.top + 5.0,
            ),
            _ => (
                layout.step_x(10.0),
                layout.plot.top + 0.6 * layout.plot.height(),
            ),
        };
        let hit = layout.hit(&spec, x, y).unwrap();
        assert_eq!(hit.stack, 0);
        let expected = match view {
            View::Offset => (0, Some(1)),
            View::Overlay | View::HeatMap => (1, Some(1)),
            View::Percentiles => (1, None),
        };
        assert_eq!((hit.row, hit.bin), expected);
        assert_eq!(layout.hit(&spec, -50.0, -50.0), None);
    }
}

#[test]
fn nothing_and_nonsense_are_drawn_without_a_panic() {
    for view in VIEWS {
        svg(&Spec {
            width: 400.0,
            height: 280.0,
            view,
            ..Spec::default()
        });
        let mut odd = spec(view);
        odd.edges = vec![f64::NAN, f64::INFINITY, f64::MIN, f64::MAX, 0.0];
        odd.stacks[0].rows[0].at = f64::NAN;
        odd.stacks[0].rows[1].counts = vec![f64::INFINITY, f64::NAN, -1.0];
        svg(&odd);
        odd.width = f64::NAN;
        svg(&odd);
    }
}
