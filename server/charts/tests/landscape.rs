//! Maps and perspective views of loss landscapes.

use proptest::prelude::*;
use trainscope_charts::contour::{Map, Path};
use trainscope_charts::profile::Size;
use trainscope_charts::surface::{Relief, Track};
use trainscope_charts::svg;
use trainscope_charts::theme::{Rgb, Theme};

const BLUE: Rgb = Rgb(0x47, 0x47, 0xd8);
const SIZE: (f64, f64) = (480.0, 360.0);

fn square(from: f64, to: f64) -> Vec<(f64, f64)> {
    vec![(from, from), (to, from), (to, to), (from, to)]
}

/// Clockwise, as outlines of holes are.
fn hole(from: f64, to: f64) -> Vec<(f64, f64)> {
    square(from, to).into_iter().rev().collect()
}

/// A square basin with two levels, a cell of NaN, an infinite one, and a path.
fn map() -> Map {
    let above = |low: f64, high: f64| vec![square(0.0, 10.0), hole(low, high)];
    let lines = |low: f64, high: f64| {
        let mut line = square(low, high);
        line.push((low, low));
        vec![line]
    };
    Map {
        x: (0.0, 10.0),
        y: (0.0, 10.0),
        names: ["first direction".to_owned(), "second direction".to_owned()],
        is_equal: true,
        area: vec![square(0.0, 10.0)],
        above: vec![above(4.0, 6.0), above(2.0, 8.0)],
        lines: vec![lines(4.0, 6.0), lines(2.0, 8.0)],
        texts: vec!["0.5".to_owned(), "2".to_owned()],
        has_lines: true,
        limit: Some(("+10 %".to_owned(), lines(3.0, 7.0))),
        gaps: vec![
            ((0.0, 8.0), (2.0, 10.0), true),
            ((8.0, 0.0), (10.0, 1.0), false),
        ],
        paths: vec![Path {
            colour: BLUE,
            states: vec![
                ((1.0, 1.0), "start".to_owned()),
                ((3.0, 4.0), "2".to_owned()),
                ((f64::NAN, 4.0), "lost".to_owned()),
                ((5.0, 5.0), "3".to_owned()),
            ],
            end: Some((5.0, 5.0)),
        }],
        key: Some(("0.1".to_owned(), "loss".to_owned())),
        mark: None,
    }
}

fn relief() -> Relief {
    let places: Vec<f64> = (0..9).map(|at| f64::from(at) / 8.0).collect();
    let heights = places.iter().flat_map(|y| {
        places.iter().map(move |x| match (*x, *y) {
            (0.0, 0.0) => f64::NAN,
            (1.0, 1.0) => f64::INFINITY,
            (x, y) => ((x - 0.5).powi(2) + (y - 0.5).powi(2)) * 2.0,
        })
    });
    Relief {
        heights: heights.collect(),
        columns: places.clone(),
        rows: places.clone(),
        bands: 14,
        tracks: vec![Track {
            colour: BLUE,
            points: vec![(0.1, 0.2, 0.5), (0.4, 0.4, 0.1), (0.5, 0.5, 0.0)],
        }],
        yaw: -0.6,
        pitch: 0.6,
    }
}

fn snap(name: &str, text: &str) {
    assert!(text.ends_with("</svg>\n"), "{text}");
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(name, text);
    });
}

#[test]
fn a_map_has_areas_lines_gaps_and_a_path() {
    let text = svg::map(&map(), SIZE, &Theme::light());
    snap("landscape_map", &text);
    for wanted in [
        "start",
        "first direction",
        "+10 %",
        "0.5",
        "#4747D8",
        "#B3123F",
        "#AD4C06",
    ] {
        assert!(text.contains(wanted), "{wanted}");
    }
    assert!(
        !text.contains("lost"),
        "a state without a place has no label"
    );
    snap(
        "landscape_map_dark",
        &svg::map(&map(), SIZE, &Theme::dark()),
    );
}

#[test]
fn holes_are_open() {
    // One polygon a level; the way between border and hole is taken twice.
    let map = Map {
        has_lines: false,
        limit: None,
        gaps: Vec::new(),
        paths: Vec::new(),
        ..map()
    };
    let text = svg::map(&map, SIZE, &Theme::light());
    assert_eq!(text.matches("<polygon").count(), 3, "{text}");
}

#[test]
fn names_are_text() {
    let map = Map {
        names: ["<script>".to_owned(), "&".to_owned()],
        ..map()
    };
    let text = svg::map(&map, SIZE, &Theme::light());
    assert!(!text.contains("<script>") && text.contains("&lt;script&gt;"));
}

#[test]
fn a_unit_is_as_long_along_both_axes() {
    let size = Size {
        width: 480.0,
        height: 360.0,
        dpr: 1.0,
    };
    let wide = Map {
        x: (0.0, 20.0),
        ..map()
    };
    let frame = wide.frame(size);
    let unit = |from: (f64, f64), to: (f64, f64)| {
        let (from, to) = (frame.place(from), frame.place(to));
        (to.0 - from.0).hypot(to.1 - from.1)
    };
    let (x, y) = (unit((0.0, 0.0), (1.0, 0.0)), unit((0.0, 0.0), (0.0, 1.0)));
    assert!((x - y).abs() < 1e-9, "{x} {y}");
    let stretched = Map {
        is_equal: false,
        ..wide
    };
    assert!(stretched.frame(size).plot.bottom > frame.plot.bottom);
    let at = frame.place((7.0, 3.0));
    let (x, y) = frame.point(at).unwrap();
    assert!((x - 7.0).abs() < 1e-9 && (y - 3.0).abs() < 1e-9);
    assert_eq!(frame.point((0.0, 0.0)), None);
}

#[test]
fn a_view_is_drawn_from_back_to_front() {
    let text = svg::relief(&relief(), SIZE, &Theme::light());
    snap("landscape_relief", &text);
    assert_eq!(text.matches("<polygon").count(), 64);
    // Turned by half, the parts come in another order.
    let turned = Relief {
        yaw: -0.6 + std::f64::consts::PI,
        ..relief()
    };
    assert_ne!(svg::relief(&turned, SIZE, &Theme::light()), text);
}

#[test]
fn large_surfaces_have_as_many_patches_as_can_be_seen() {
    let places: Vec<f64> = (0..1_000).map(|at| f64::from(at) / 999.0).collect();
    let mut heights = vec![0.5; 1_000_000];
    heights[500 * 1_000 + 501] = f64::NAN;
    let relief = Relief {
        columns: places.clone(),
        rows: places,
        heights,
        ..relief()
    };
    let text = svg::relief(&relief, SIZE, &Theme::light());
    assert!(text.matches("<polygon").count() <= 97 * 97);
    let gap = Theme::light().surface.mixed(Theme::light().nan, 0.55);
    let gap = format!("#{:02X}{:02X}{:02X}", gap.0, gap.1, gap.2);
    assert!(text.contains(&gap), "no gap is lost between the patches");
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => -10.0..10.0,
        1 => prop::sample::select(vec![
            f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, 0.0,
        ]),
    ]
}

proptest! {
    #[test]
    fn anything_is_drawn(
        size in (number(), number()),
        x in (number(), number()),
        y in (number(), number()),
        outline in prop::collection::vec((number(), number()), 0..9),
        heights in prop::collection::vec(number(), 0..12),
        angles in (number(), number()),
        is_equal in any::<bool>(),
    ) {
        let states = outline.iter().map(|at| (*at, "s".to_owned())).collect();
        let gaps = outline.windows(2).map(|pair| (pair[0], pair[1], true));
        let map = Map {
            x, y, is_equal,
            area: vec![outline.clone()],
            above: vec![vec![outline.clone()]],
            lines: vec![vec![outline.clone()]],
            gaps: gaps.collect(),
            paths: vec![Path { colour: BLUE, states, end: outline.first().copied() }],
            mark: outline.last().copied(),
            ..map()
        };
        svg::map(&map, size, &Theme::dark());
        let places = vec![x.0, x.1, y.0];
        let tracks = vec![Track { colour: BLUE, points: vec![(x.0, y.0, y.1); 2] }];
        let relief = Relief {
            columns: places.clone(), rows: places, heights, bands: 3, tracks,
            yaw: angles.0, pitch: angles.1,
        };
        svg::relief(&relief, size, &Theme::light());
    }
}
