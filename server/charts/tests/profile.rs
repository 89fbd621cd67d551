//! Plots of profiles: snapshots, elements under the pointer, and any input.

use proptest::prelude::*;
use trainscope_charts::profile::{
    Bar, Counts, Curve, Curves, Figure, Hit, Key, Layer, Memory, RankBar, RankMap, RankPart, Ranks,
    Row, Rows, Segment, Shade, Size, Stack, Unit,
};
use trainscope_charts::svg;
use trainscope_charts::theme::Theme;

const MILLI: f64 = 1e6;

fn snap(name: &str, figure: &Figure, size: (f64, f64)) {
    let text = svg::profile(figure, size, &Theme::light());
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(name, text);
    });
}

/// Every eighth step waits for data.
fn waits(step: usize) -> f64 {
    if step % 8 == 1 { 58.0 } else { 5.6 }
}

fn stack() -> Figure {
    let bar = |step: usize| Bar {
        text: format!("{}", 2_600 + step),
        parts: [96.2, 16.9, waits(step), 9.1, 6.4]
            .map(|part| part * MILLI)
            .to_vec(),
        is_pale: step == 23,
    };
    Figure::Stack(Stack {
        bars: (0..24).map(bar).collect(),
        shades: vec![
            Shade::Time(0),
            Shade::Time(2),
            Shade::Time(3),
            Shade::Time(4),
            Shade::Time(5),
        ],
        mean: Some((141.0 * MILLI, "mean 141 ms".to_owned())),
        unit: Unit::Nanos,
    })
}

fn phases(wait: f64) -> Vec<Segment> {
    let lengths = [
        (Shade::Time(3), wait),
        (Shade::Time(0), 31.8),
        (Shade::Pale(0, 0.72), 54.6),
        (Shade::Pale(0, 0.46), 9.9),
        (Shade::Time(4), 9.1),
        (Shade::Time(5), 6.4),
    ];
    let mut begin = 0.0;
    let lengths = lengths.into_iter().map(|(shade, length)| {
        let segment = Segment {
            shade,
            begin,
            end: begin + length * MILLI,
        };
        begin = segment.end;
        segment
    });
    lengths.collect()
}

fn rows() -> Figure {
    let row = |step: usize| Row {
        text: format!("{}", 2_600 + step),
        segments: phases(waits(step)),
        note: if step % 8 == 1 { "170" } else { "" }.to_owned(),
        is_pale: false,
    };
    let names = ["Data wait", "Forward", "Backward", "Update", "Host", "Idle"];
    let key = phases(5.6)
        .into_iter()
        .zip(names)
        .map(|(segment, name)| Key {
            value: format!("{:.1}", (segment.end - segment.begin) / MILLI),
            segment,
            name: name.to_owned(),
        });
    Figure::Rows(Rows {
        rows: (0..16).map(row).collect(),
        key: key.collect(),
        key_texts: ("median".to_owned(), "117 ms".to_owned()),
        line: Some(117.4 * MILLI),
    })
}

fn memory() -> Figure {
    let times: Vec<f64> = (0..130).map(f64::from).collect();
    let bump = |time: &f64| (1.0 - (time - 63.0).abs() / 50.0).max(0.0);
    let layer = |at: usize, of: &dyn Fn(&f64) -> f64| Layer {
        shade: Shade::Magnitude(at),
        bytes: times.iter().map(|time| of(time) * 1e9).collect(),
    };
    let layers = vec![
        layer(1, &|_| 1.9),
        layer(2, &|_| 3.8),
        layer(5, &|time| 13.1 * bump(time)),
        layer(7, &|time| 0.9 + bump(time)),
    ];
    Figure::Memory(Memory {
        layers,
        reserved: vec![22.8e9; times.len()],
        limit: Some((24e9, "device 24.0 GB".to_owned())),
        peak: Some((63.0 * MILLI, 20.7e9, "20.7 GB".to_owned())),
        phases: vec![(18.0 * MILLI, "forward".to_owned())],
        times: times.iter().map(|time| time * MILLI).collect(),
    })
}

fn ranks() -> Figure {
    let bar = |rank: usize| {
        let is_slow = rank == 2;
        let (compute, wait) = if is_slow {
            (1_670.0, 0.0)
        } else {
            (1_350.0, 320.0)
        };
        let part = |kind, millis: f64, text: &str, is_wait| RankPart {
            shade: Shade::Time(kind),
            nanos: millis * MILLI,
            text: text.to_owned(),
            is_wait,
        };
        RankBar {
            text: format!("rank {rank}"),
            parts: vec![
                part(3, 40.0, "", false),
                part(0, compute, "1.35 s", false),
                part(1, wait, "0.32", true),
                part(1, 120.0, "", false),
                part(4, 50.0, "", false),
            ],
            note: if is_slow { "+23 % compute" } else { "node-a" }.to_owned(),
            is_slow,
        }
    };
    Figure::Ranks(Ranks {
        bars: (0..4).map(bar).collect(),
    })
}

fn map() -> Figure {
    let row = |rank: usize| {
        let value = move |step: usize| match (rank, step) {
            (2, 12..) => 0.8,
            (1, 5) => f64::NAN,
            _ => 0.1 - 0.2 * ((rank + step) % 2) as f64,
        };
        (0..40).map(value).collect()
    };
    Figure::Map(RankMap {
        rows: (0..4).map(|rank| format!("rank {rank}")).collect(),
        columns: (0..40).map(|step| format!("{}", 6_000 + step)).collect(),
        values: (0..4).map(row).collect(),
        is_size: false,
        frame: Some((2, 12)),
    })
}

fn counts() -> Figure {
    Figure::Counts(Counts {
        edges: (0..=20)
            .map(|bin| (120.0 + 4.0 * f64::from(bin)) * MILLI)
            .collect(),
        counts: vec![
            0.0, 0.0, 1.0, 8.0, 21.0, 5.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0,
            1.0, 0.0, 1.0,
        ],
        unit: Unit::Nanos,
        shade: Shade::Plain,
        warn_from: Some(160.0 * MILLI),
        marks: vec![(135.0 * MILLI, "median 135 ms".to_owned())],
    })
}

fn curves() -> Figure {
    let of = |kind, name: &str, values: &dyn Fn(usize) -> f64| Curve {
        name: name.to_owned(),
        shade: Shade::Time(kind),
        values: (0..40).map(|step| values(step) * MILLI).collect(),
        bars: Vec::new(),
    };
    let lost = Curve {
        values: (0..40)
            .map(|step| if step < 12 { 2e6 } else { 3e7 })
            .collect(),
        bars: (0..40)
            .map(|step| {
                if step < 12 {
                    Shade::Plain
                } else {
                    Shade::Warning
                }
            })
            .collect(),
        ..Curve::default()
    };
    Figure::Curves(Curves {
        steps: (2_600..2_640).collect(),
        curves: vec![
            lost,
            of(0, "forward", &|_| 31.8),
            of(3, "data wait", &|step| {
                if step == 20 { f64::NAN } else { waits(step) }
            }),
        ],
        unit: Unit::Nanos,
        from_zero: true,
        limits: vec![(70.0 * MILLI, "limit".to_owned())],
    })
}

fn all() -> [(&'static str, Figure, (f64, f64)); 7] {
    [
        ("profile_stack", stack(), (680.0, 200.0)),
        ("profile_rows", rows(), (680.0, 320.0)),
        ("profile_memory", memory(), (680.0, 270.0)),
        ("profile_ranks", ranks(), (640.0, 160.0)),
        ("profile_map", map(), (640.0, 140.0)),
        ("profile_counts", counts(), (330.0, 140.0)),
        ("profile_curves", curves(), (330.0, 140.0)),
    ]
}

#[test]
fn pictures_of_profiles() {
    for (name, figure, size) in all() {
        snap(name, &figure, size);
    }
}

#[test]
fn the_middle_of_an_outline_is_its_element() {
    for (name, figure, (width, height)) in all() {
        let size = Size {
            width,
            height,
            dpr: 1.0,
        };
        for index in [0, 2] {
            let hit = Hit {
                index,
                part: Some(1),
            };
            let at = figure.outline(size, hit).unwrap();
            let middle = (
                f64::midpoint(at.left, at.right),
                f64::midpoint(at.top, at.bottom),
            );
            let found = figure.hit(size, middle).unwrap();
            assert_eq!(found.index, index, "{name}");
        }
        assert_eq!(figure.hit(size, (-5.0, -5.0)), None, "{name}");
    }
}

#[test]
fn parts_are_found_by_their_place() {
    let size = Size {
        width: 680.0,
        height: 200.0,
        dpr: 1.0,
    };
    let outline = stack().outline(size, Hit::default()).unwrap();
    let x = f64::midpoint(outline.left, outline.right);
    let parts = (0..200).filter_map(|y| stack().hit(size, (x, f64::from(y)))?.part);
    let mut parts: Vec<usize> = parts.collect();
    parts.dedup();
    assert_eq!(parts, [4, 3, 2, 1, 0]);
}

fn number() -> impl Strategy<Value = f64> {
    let special = vec![
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MAX,
        f64::MIN,
        5e-324,
        0.0,
    ];
    prop_oneof![
        3 => -1e9..1e9_f64,
        1 => any::<f64>(),
        1 => prop::sample::select(special),
    ]
}

/// Every kind of plot of the same numbers.
fn figures(values: &[f64], steps: &[i64], extra: f64) -> Vec<Figure> {
    let texts = || values.iter().map(|value| format!("<{value}>"));
    let segment = |pair: &[f64]| Segment {
        shade: Shade::Time(steps.len()),
        begin: pair[0],
        end: pair[1],
    };
    let segments: Vec<Segment> = values.windows(2).map(segment).collect();
    let key = segments.iter().map(|segment| Key {
        segment: *segment,
        name: "a".to_owned(),
        value: "1".to_owned(),
    });
    let part = |nanos: &f64| RankPart {
        shade: Shade::Pale(9, *nanos),
        nanos: *nanos,
        text: "1".to_owned(),
        is_wait: nanos.is_sign_negative(),
    };
    vec![
        Figure::Stack(Stack {
            bars: texts()
                .map(|text| Bar {
                    text,
                    parts: values.to_vec(),
                    is_pale: false,
                })
                .collect(),
            shades: vec![Shade::Plain; values.len() / 2],
            mean: Some((extra, "mean".to_owned())),
            unit: Unit::Bytes,
        }),
        Figure::Rows(Rows {
            rows: texts()
                .map(|text| Row {
                    note: text.clone(),
                    text,
                    segments: segments.clone(),
                    is_pale: true,
                })
                .collect(),
            key: key.collect(),
            key_texts: Default::default(),
            line: Some(extra),
        }),
        Figure::Memory(Memory {
            times: values.to_vec(),
            layers: vec![
                Layer {
                    shade: Shade::Magnitude(99),
                    bytes: values.to_vec(),
                };
                3
            ],
            reserved: values.to_vec(),
            limit: Some((extra, "limit".to_owned())),
            peak: Some((extra, extra, "peak".to_owned())),
            phases: vec![(extra, "forward".to_owned())],
        }),
        Figure::Ranks(Ranks {
            bars: texts()
                .map(|text| RankBar {
                    note: text.clone(),
                    text,
                    parts: values.iter().map(part).collect(),
                    is_slow: true,
                })
                .collect(),
        }),
        Figure::Map(RankMap {
            rows: texts().collect(),
            columns: texts().collect(),
            values: vec![values.to_vec(); 2],
            is_size: extra > 0.0,
            frame: Some((steps.len(), 1)),
        }),
        Figure::Counts(Counts {
            edges: values.to_vec(),
            counts: values.to_vec(),
            unit: Unit::Nanos,
            shade: Shade::Error,
            warn_from: Some(extra),
            marks: vec![(extra, "mark".to_owned())],
        }),
        Figure::Curves(Curves {
            steps: steps.to_vec(),
            curves: vec![Curve {
                name: "<&>".to_owned(),
                shade: Shade::Warning,
                values: values.to_vec(),
                bars: vec![Shade::Plain; values.len() % 3],
            }],
            unit: Unit::Count,
            from_zero: extra > 0.0,
            limits: vec![(extra, "limit".to_owned())],
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_input_makes_a_plot_panic(
        values in prop::collection::vec(number(), 0..12),
        steps in prop::collection::vec(any::<i64>(), 0..12),
        extra in number(),
        (width, height) in (number(), number()),
        at in (number(), number()),
    ) {
        for figure in figures(&values, &steps, extra) {
            let size = Size { width, height, dpr: extra };
            if let Some(hit) = figure.hit(size, at) {
                let _outline = figure.outline(size, hit);
            }
            let _outline = figure.outline(size, Hit { index: 3, part: Some(7) });
            prop_assert!(svg::profile(&figure, (width, height), &Theme::dark()).starts_with("<svg"));
            let text = svg::profile(&figure, (320.0, 200.0), &Theme::dark());
            prop_assert!(!text.contains("NaN\""), "{text}");
        }
    }
}
