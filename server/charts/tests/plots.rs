//! Plots as SVG: one snapshot for each case that has failed before.

use trainscope_charts::line::{Class, LimitLine, Line, Spec, Stretch, Stroke, XKind, YRange};
use trainscope_charts::scale::Scale;
use trainscope_charts::theme::{Rgb, Theme};
use trainscope_charts::{smooth, svg};

const BLUE: Rgb = Rgb(0x47, 0x47, 0xd8);
const ORANGE: Rgb = Rgb(0xb2, 0x54, 0x0d);
const TEAL: Rgb = Rgb(0x01, 0x4c, 0x49);

fn spec(scale: Scale, x: (f64, f64), lines: Vec<Line>) -> Spec {
    Spec {
        width: 400.0,
        height: 280.0,
        dpr: 1.0,
        x,
        x_kind: XKind::Step,
        x_scale: Scale::Linear,
        scale,
        y_range: YRange::All,
        limits: Vec::new(),
        lines,
    }
}

fn raw(colour: Rgb, points: &[(f64, f64)]) -> Line {
    Line {
        colour,
        x: points.iter().map(|p| p.0).collect(),
        values: points.iter().map(|p| p.1).collect(),
        is_raw: true,
        ..Line::default()
    }
}

fn stretch(class: Class, first: f64, last: f64, label: &str) -> Stretch {
    Stretch {
        class,
        first,
        last,
        label: label.to_owned(),
    }
}

/// A decaying curve with noise that repeats on every machine.
fn curve(colour: Rgb, seed: u32, count: u32, step: f64, end: f64) -> Line {
    let mut state = seed;
    let mut noise = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / f64::from(1 << 24) - 0.5
    };
    let mut line = Line {
        colour,
        ..Line::default()
    };
    let mut values = Vec::new();
    for index in 0..count {
        let x = f64::from(index) * step;
        if x > end {
            break;
        }
        let mean = 1.7 + 6.8 / (1.0 + x / 400.0);
        let value = mean * (1.0 + 0.12 * noise());
        line.x.push(x);
        values.push(value);
        line.low
            .push(value.min(mean * (0.93 - 0.1 * noise().abs())));
        line.high
            .push(value.max(mean * (1.08 + 0.1 * noise().abs())));
    }
    line.values = smooth::smooth(&line.x, &values, 0.9, step);
    line
}

/// The picture of a card: three runs, one NaN since 412, one live.
fn story() -> Spec {
    let mut fp16 = curve(ORANGE, 5, 400, 8.0, 408.0);
    fp16.is_main = true;
    fp16.stretches = vec![stretch(Class::Nan, 412.0, 1184.0, "")];
    let mut live = curve(TEAL, 9, 400, 8.0, 2731.0);
    live.is_live = true;
    spec(
        Scale::Linear,
        (0.0, 3000.0),
        vec![curve(BLUE, 3, 400, 8.0, 3000.0), fp16, live],
    )
}

fn snap(name: &str, spec: &Spec, theme: &Theme) {
    let text = svg::line(spec, theme);
    assert!(text.ends_with("</svg>\n"), "{text}");
    if let Some(folder) = std::env::var_os("TRAINSCOPE_CHART_SVGS") {
        let path = std::path::Path::new(&folder).join(format!("{name}.svg"));
        assert!(
            std::fs::write(path, &text).is_ok(),
            "the folder is writable"
        );
    }
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(name, text);
    });
}

#[test]
fn the_story_in_both_themes() {
    snap("story_light", &story(), &Theme::light());
    let mut dark = story();
    let colours = [
        Rgb(0x62, 0x7c, 0xf7),
        Rgb(0xfa, 0x6d, 0x18),
        Rgb(0x37, 0xb4, 0x91),
    ];
    for (line, colour) in dark.lines.iter_mut().zip(colours) {
        line.colour = colour;
    }
    snap("story_dark", &dark, &Theme::dark());
}

#[test]
fn constant_series() {
    let line = raw(BLUE, &[(0.0, 1e-3), (50.0, 1e-3), (100.0, 1e-3)]);
    snap(
        "constant",
        &spec(Scale::Linear, (0.0, 100.0), vec![line]),
        &Theme::light(),
    );
}

#[test]
fn one_point() {
    let line = raw(BLUE, &[(7.0, 0.25)]);
    snap(
        "one_point",
        &spec(Scale::Linear, (7.0, 7.0), vec![line]),
        &Theme::light(),
    );
}

#[test]
fn nothing_at_all() {
    snap(
        "empty",
        &spec(Scale::Linear, (0.0, 0.0), vec![]),
        &Theme::light(),
    );
}

#[test]
fn nothing_but_nan() {
    let mut line = raw(ORANGE, &[(0.0, f64::NAN), (10.0, f64::NAN)]);
    line.stretches = vec![stretch(Class::Nan, 0.0, 10.0, "")];
    snap(
        "all_nan",
        &spec(Scale::Linear, (0.0, 10.0), vec![line]),
        &Theme::light(),
    );
}

#[test]
fn nan_in_the_middle_is_a_gap() {
    let mut line = raw(
        BLUE,
        &[
            (0.0, 1.0),
            (1.0, 2.0),
            (2.0, f64::NAN),
            (3.0, 2.0),
            (4.0, 3.0),
            (5.0, 2.5),
        ],
    );
    line.stretches = vec![stretch(Class::Nan, 2.0, 2.0, "")];
    snap(
        "nan_in_the_middle",
        &spec(Scale::Linear, (0.0, 5.0), vec![line]),
        &Theme::light(),
    );
}

#[test]
fn infinities_at_the_edges() {
    let mut line = raw(
        ORANGE,
        &[
            (0.0, 1.0),
            (100.0, 20.0),
            (200.0, f64::INFINITY),
            (300.0, f64::NEG_INFINITY),
            (400.0, 3.0),
        ],
    );
    line.stretches = vec![
        stretch(Class::PosInf, 200.0, 200.0, "+Inf at 200"),
        stretch(Class::NegInf, 300.0, 300.0, "−Inf at 300"),
    ];
    snap(
        "infinities",
        &spec(Scale::Log, (0.0, 400.0), vec![line]),
        &Theme::light(),
    );
}

/// A run that stays infinite is visible in any range, and on a logarithmic axis together with values that it cannot
/// show.
#[test]
fn infinities_that_stay() {
    let mut line = raw(
        ORANGE,
        &[
            (0.0, f64::INFINITY),
            (100.0, f64::INFINITY),
            (200.0, f64::INFINITY),
            (300.0, -1.0),
            (400.0, f64::NAN),
        ],
    );
    line.stretches = vec![
        stretch(Class::PosInf, 0.0, 200.0, "+Inf at 0"),
        stretch(Class::Nan, 400.0, 400.0, ""),
    ];
    let lines = vec![line];
    let (whole, zoomed) = ((0.0, 400.0), (50.0, 150.0));
    for (name, range) in [("infinities_stay", whole), ("infinities_zoomed", zoomed)] {
        let plot = spec(Scale::Log, range, lines.clone());
        snap(name, &plot, &Theme::light());
        let drawn = svg::line(&plot, &Theme::light());
        assert!(drawn.contains("+Inf at 0"));
        let is_there = |text: &str| drawn.contains(&format!(">\n{text}\n<"));
        assert_eq!(is_there("≤ 0") && is_there("NaN"), range == whole);
    }
}

/// Two runs that overflow close to each other, over a curve that ends at the very top of the axis.
#[test]
fn infinities_of_two_runs_above_a_point_at_the_top() {
    let points = [(0.0, 100.0), (210.0, 100.0), (400.0, 0.0)];
    let overflowing = |colour, first: f64| {
        let stretches = [first, first + 60.0]
            .map(|at| stretch(Class::PosInf, at, at, &format!("+Inf at {at}")));
        Line {
            stretches: stretches.to_vec(),
            ..raw(colour, &points)
        }
    };
    snap(
        "infinities_above_points",
        &spec(
            Scale::Linear,
            (0.0, 400.0),
            vec![overflowing(BLUE, 200.0), overflowing(TEAL, 215.0)],
        ),
        &Theme::light(),
    );
}

#[test]
fn the_whole_range_of_numbers() {
    let points = [(0.0, 1e-308), (1.0, 1.0), (2.0, 1e308)];
    for (name, scale) in [
        ("extremes_linear", Scale::Linear),
        ("extremes_log", Scale::Log),
        ("extremes_symlog", Scale::Symlog { linear: 0.0 }),
    ] {
        let lines = vec![raw(BLUE, &points), raw(TEAL, &points.map(|(x, y)| (x, -y)))];
        snap(name, &spec(scale, (0.0, 2.0), lines), &Theme::light());
    }
}

#[test]
fn ten_thousand_buckets_draw_what_pixels_show() {
    let line = curve(BLUE, 1, 10_000, 1.0, 10_000.0);
    let plot = spec(Scale::Linear, (0.0, 10_000.0), vec![line]);
    // Four points per column at most, and two edges of the envelope.
    assert!(svg::line(&plot, &Theme::light()).len() < 60_000);
    snap("ten_thousand_buckets", &plot, &Theme::light());
}

#[test]
fn negative_values_on_a_logarithmic_axis() {
    let points: Vec<_> = (0..40)
        .map(|i| (f64::from(i), f64::from(i - 12) / 8.0))
        .collect();
    snap(
        "log_negative",
        &spec(Scale::Log, (0.0, 39.0), vec![raw(BLUE, &points)]),
        &Theme::light(),
    );
    snap(
        "symlog",
        &spec(
            Scale::Symlog { linear: 0.0 },
            (0.0, 39.0),
            vec![raw(BLUE, &points)],
        ),
        &Theme::light(),
    );
}

#[test]
fn many_runs_share_the_lane_and_the_patterns() {
    let lines = (0..5_u8)
        .map(|index| {
            let start = f64::from(index) * 10.0;
            let mut line = raw(BLUE, &[(0.0, start), (40.0, start + 5.0), (100.0, start)]);
            line.stroke = match index {
                0 => Stroke::Solid,
                1 => Stroke::Dashed,
                _ => Stroke::Shared {
                    index: index - 2,
                    of: 3,
                },
            };
            line.stretches = vec![stretch(Class::Nan, start + 20.0, start + 60.0, "")];
            line
        })
        .collect();
    snap(
        "many_runs",
        &spec(Scale::Linear, (0.0, 100.0), lines),
        &Theme::light(),
    );
}

#[test]
fn a_zoomed_range_cuts_lines_at_its_edges() {
    let mut plot = story();
    plot.x = (300.0, 700.0);
    snap("zoomed", &plot, &Theme::light());
    plot.x = (0.0, 5_400.0);
    plot.x_kind = XKind::Relative;
    snap("relative", &plot, &Theme::light());
}

#[test]
fn what_is_beyond_a_limit_is_red() {
    let mut line = curve(ORANGE, 5, 400, 8.0, 3_000.0);
    line.beyond = vec![(6.0, f64::INFINITY), (f64::NEG_INFINITY, 2.0)];
    let mut plot = spec(Scale::Linear, (0.0, 3_000.0), vec![line]);
    let limit = |value, text: &str, is_passed| LimitLine {
        value,
        text: text.to_owned(),
        is_passed,
    };
    plot.limits = vec![
        limit(6.0, "alert when > 6 · 12 points beyond", true),
        limit(1e6, "target ≥ 1,000,000", false),
    ];
    snap("limits", &plot, &Theme::light());
}

#[test]
fn points_over_another_scalar_are_joined_in_their_order() {
    let line = raw(BLUE, &[(0.1, 3.0), (0.3, 2.0), (0.2, 1.0), (0.05, 0.5)]);
    let mut plot = spec(Scale::Linear, (0.0, 0.3), vec![line]);
    plot.x_kind = XKind::Value;
    snap("over_another_scalar", &plot, &Theme::light());
}

#[test]
fn a_logarithmic_axis_of_steps_begins_at_the_first_one_it_can_show() {
    let points: Vec<(f64, f64)> = (0_u32..200)
        .map(|i| (f64::from(i), 1.0 / f64::from(i + 1)))
        .collect();
    let mut plot = spec(Scale::Log, (0.0, 200.0), vec![raw(BLUE, &points)]);
    plot.x_scale = Scale::Log;
    snap("log_x", &plot, &Theme::light());
}

#[test]
fn a_robust_range_lets_spikes_leave() {
    let mut line = curve(BLUE, 3, 200, 1.0, 200.0);
    line.values[150] = 4e4;
    let mut plot = spec(Scale::Linear, (0.0, 200.0), vec![line]);
    plot.y_range = YRange::Robust;
    snap("robust", &plot, &Theme::light());
}

#[test]
fn a_sheet_names_its_plots_as_text() {
    let card = |title: &str, names: &[&str]| svg::Card {
        title: title.to_owned(),
        note: "x axis: Step · y axis: loss (Log)".to_owned(),
        legend: names
            .iter()
            .map(|name| (TEAL, (*name).to_owned()))
            .collect(),
        spec: spec(
            Scale::Linear,
            (0.0, 1.0),
            vec![raw(TEAL, &[(0.0, 0.0), (1.0, 2.0)])],
        ),
    };
    let cards = [
        card("train/loss <b>", &["a & b", "\u{1}c"]),
        card(
            "acc",
            &[
                "one",
                "a name that is rather long, so that it",
                "needs a line of its own",
            ],
        ),
        card("lr", &[]),
    ];
    let text = svg::sheet(&cards, 2, &Theme::dark());
    assert!(text.contains("train/loss &lt;b&gt;") && text.contains("a &amp; b"));
    assert!(!text.contains("<b>") && !text.contains('\u{1}'));
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!("sheet", text);
    });
}
