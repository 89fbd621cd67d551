//! The messages of the native plugin: they read back equal, and errors in them are damage.

use std::io;

use proptest::prelude::*;
use trainscope_format::encode::Moment;
use trainscope_format::float::Float;
use trainscope_format::graph::{
    Dimension, Edge, GraphNote, GraphNoteKind, GraphOutput, Node, NodeKind, TensorType,
};
use trainscope_format::lineage::{
    DatasetNode, DatasetOperation, EvaluationLineage, LineageValue, TrainLineage, UserInfo,
};
use trainscope_format::profile::{Counter, LaneKind, Span, SpanFlow, SpanKind};
use trainscope_format::program::{MAX_FIELDS, MAX_TEXT_BYTES};
use trainscope_format::tensor::{ChannelStats, DType, Select, Tolerance};
use trainscope_format::{
    Body, CollectorLoss, DumpRef, Format, Graph, GraphFormat, Kind, Lineage, Profile, ProgramFact,
    RecordWriter, Role, Severity, SourceLine, Stretch, TensorSummary, WatchHit,
};

use crate::support::{
    DecoderOutput, bytes_field, one_value, only_body, varint, varint_field, whole,
};

pub(crate) const AT: Moment = Moment {
    step: 7,
    wall_time_secs: 1.7e9,
};

/// Decoded records of the output of `write`, and the bytes.
fn written(
    write: impl FnOnce(&mut RecordWriter<Vec<u8>>) -> io::Result<()>,
) -> (DecoderOutput, Vec<u8>) {
    let mut writer = RecordWriter::new(Vec::new(), 1.7e9).unwrap();
    write(&mut writer).unwrap();
    let bytes = writer.into_inner();
    let seen = whole(Format::Tfevents, &bytes);
    assert_eq!(
        (&seen.batch.damages[..], seen.batch.skipped_records),
        (&[][..], 0)
    );
    (seen, bytes)
}

fn at_stretch(bytes: &[u8], stretch: Stretch) -> &[u8] {
    let from = usize::try_from(stretch.offset).unwrap();
    &bytes[from..from + usize::try_from(stretch.len_bytes).unwrap()]
}

pub(crate) fn summary_of(role: Role, numbers: &[f32], before: Option<&[f32]>) -> TensorSummary {
    let bytes =
        |numbers: &[f32]| -> Vec<u8> { numbers.iter().flat_map(|x| x.to_le_bytes()).collect() };
    let (after, before) = (bytes(numbers), before.map(bytes));
    let mut select = Select::new().exponents().hash();
    if let Some(before) = &before {
        select = select.change(before, Tolerance::default());
    }
    let seen = select.read(DType::F32, &after);
    let shape = vec![numbers.len() as u64];
    TensorSummary {
        role,
        dtype: DType::F32,
        stats: seen.stats,
        hash: seen.hash,
        change: seen.change,
        channels: ChannelStats::of(DType::F32, &shape, &after, 0),
        shape,
    }
}

#[test]
fn tensors_of_a_step_come_back_one_by_one() {
    let weight = summary_of(
        Role::Weight,
        &[1.0, -2.5, 0.0, 1e-40, 3e38],
        Some(&[1.0, -2.0, 0.0, 0.0, f32::NAN]),
    );
    let odd = summary_of(
        Role::Gradient,
        &[f32::NAN, f32::INFINITY, f32::NEG_INFINITY],
        None,
    );
    let bare = TensorSummary {
        role: Role::FrozenWeight,
        dtype: DType::F8E4m3,
        shape: vec![],
        stats: Select::new().read(DType::F8E4m3, &[0x7e]).stats,
        hash: None,
        change: None,
        channels: None,
    };
    let empty = summary_of(Role::Other, &[], None);
    let all = [
        ("fc/weight", &weight),
        ("fc/weight/é", &bare),
        ("grad", &odd),
        ("", &empty),
    ];
    let (seen, _) = written(|writer| writer.statistics(AT, &all));
    assert!(
        seen.batch
            .new_tags
            .iter()
            .all(|tag| tag.kind == Kind::Statistics)
    );
    assert_eq!(seen.batch.records.len(), all.len());
    for (tag, summary) in all {
        let [(7, Body::Statistics(read))] = &seen.bodies(tag)[..] else {
            panic!("{tag}");
        };
        // NaN in channels compares as equal here.
        assert_eq!(format!("{read:?}"), format!("{summary:?}"));
    }
}

#[test]
fn more_tensors_than_a_value_holds() {
    let summary = summary_of(Role::Weight, &[1.0], None);
    let tags: Vec<String> = (0..1_000).map(|index| format!("layer{index}")).collect();
    let all: Vec<_> = tags.iter().map(|tag| (&**tag, &summary)).collect();
    let (seen, bytes) = written(|writer| writer.statistics(AT, &all));
    assert_eq!(seen.batch.records.len(), 1_000);
    assert_eq!(seen.bodies("layer999").len(), 1);
    // Columns: names are not repeated for each tensor.
    assert!(bytes.len() < 1_000 * 250, "{}", bytes.len());
}

pub(crate) fn lineages() -> Vec<Lineage> {
    let values = vec![
        ("name".to_owned(), LineageValue::Text(String::new())),
        (
            "list".to_owned(),
            LineageValue::Texts(vec!["a".into(), String::new()]),
        ),
        ("no".to_owned(), LineageValue::Bool(false)),
        ("int".to_owned(), LineageValue::Int(i64::MIN)),
        (String::new(), LineageValue::Number(f64::NEG_INFINITY)),
        (
            "map".to_owned(),
            LineageValue::Map(UserInfo {
                values: vec![("deep".to_owned(), LineageValue::Int(0))],
            }),
        ),
    ];
    let operation = DatasetOperation {
        parameters: values.clone(),
        sizes: vec![224, -1],
        weights: vec![0.1],
    };
    let source = DatasetNode {
        parameters: values.clone(),
        ..DatasetNode::default()
    };
    let node = DatasetNode {
        operations: vec![operation.clone(), DatasetOperation::default()],
        sampler: Some(DatasetOperation::default()),
        children: vec![source.clone(), DatasetNode::default()],
        ..source
    };
    vec![
        Lineage::Train(TrainLineage {
            optimizer: Some("Adam".into()),
            learning_rate: Some(0.001),
            loss_function: None,
            epochs: Some(1 << 40),
            batch_size: Some(0),
            network: Some(String::new()),
            loss: Some(f64::INFINITY),
            model_size_bytes: Some(-1),
            ..TrainLineage::default()
        }),
        Lineage::Train(TrainLineage::default()),
        Lineage::Evaluation(EvaluationLineage {
            metric_json: Some("{}".into()),
            metrics: vec![("acc".into(), Float(0.1)), (String::new(), Float(0.0))],
            dataset_path: Some("/d".into()),
            dataset_size: Some(3),
        }),
        Lineage::Dataset(node),
        Lineage::UserDefined(UserInfo { values }),
    ]
}

#[test]
fn lineage_comes_back_exactly() {
    let lineages = lineages();
    let (seen, _) = written(|writer| lineages.iter().try_for_each(|one| writer.lineage(AT, one)));
    let read: Vec<_> = seen
        .batch
        .records
        .iter()
        .map(|record| record.body.clone())
        .collect();
    let expected: Vec<_> = lineages
        .into_iter()
        .map(|one| Body::Lineage(Box::new(one)))
        .collect();
    assert_eq!(read, expected);
}

pub(crate) fn graph() -> Graph {
    let weight = Node {
        name: "fc/weight".into(),
        kind: NodeKind::Parameter,
        outputs: vec![TensorType {
            dtype: "f32".into(),
            shape: Some(vec![Dimension::Size(0), Dimension::Symbol("n".into())]),
        }],
        ..Node::default()
    };
    let matmul = Node {
        name: "fc/matmul".into(),
        op_type: "MatMul".into(),
        inputs: vec![
            Edge {
                node: Some(0),
                slot: 1,
                ..Edge::default()
            },
            Edge {
                missing: "x".into(),
                is_control: true,
                ..Edge::default()
            },
        ],
        attributes: vec![("transpose".into(), "true".into())],
        outputs: vec![
            TensorType::default(),
            TensorType {
                shape: Some(vec![]),
                ..TensorType::default()
            },
        ],
        device: "cpu".into(),
        source: "model.rs:7".into(),
        ..Node::default()
    };
    Graph {
        name: "model".into(),
        producer: "test".into(),
        nodes: vec![weight, matmul],
        outputs: vec![GraphOutput {
            name: "y".into(),
            from: Edge {
                node: Some(1),
                ..Edge::default()
            },
        }],
        notes: vec![GraphNote {
            kind: GraphNoteKind::LeadNowhere,
            count: 1,
            example: "x".into(),
        }],
    }
}

#[test]
fn a_graph_comes_back_with_its_notes() {
    let (seen, bytes) = written(|writer| writer.graph("model", AT, &graph()));
    let [(7, Body::Graph(source))] = seen.bodies("model")[..] else {
        panic!();
    };
    assert_eq!(source.format, GraphFormat::Native);
    let read = Graph::read(source.format, at_stretch(&bytes, source.data));
    assert_eq!(read, Ok(graph()));
}

#[test]
fn an_edge_beyond_the_nodes_leads_nowhere() {
    let edge = bytes_field(4, &varint_field(1, 9));
    let read = Graph::read(GraphFormat::Native, &bytes_field(3, &edge)).unwrap();
    assert_eq!(read.nodes[0].inputs[0].node, None);
}

pub(crate) fn profile() -> Profile {
    let span = |name, step, start_nanos, duration_nanos| Span {
        name,
        lane: 1,
        step,
        start_nanos,
        duration_nanos,
    };
    Profile {
        names: vec!["forward".into(), "backward".into()],
        lanes: vec!["main".into(), String::new()],
        spans: vec![
            span(0, 3, 1_700_000_000_000_000_000, 1_000),
            span(1, -2, 1_700_000_000_000_000_010, u64::MAX),
            span(1, i64::MAX, i64::MIN, 0),
        ],
        counters: vec![
            Counter {
                name: 0,
                time_nanos: 5,
                value: f64::INFINITY,
            },
            Counter {
                name: 1,
                time_nanos: -5,
                value: 0.1,
            },
        ],
        ..Profile::default()
    }
}

#[test]
fn kinds_and_flows_come_back_and_cost_nothing_if_there_are_none() {
    let plain = profile();
    let bytes_of = |profile: &Profile| {
        let (seen, bytes) = written(|writer| writer.profile("spans", AT, profile));
        let bodies = seen.bodies("spans");
        let source = matched!(bodies[0].1, Body::Profile(source) => *source);
        at_stretch(&bytes, source.data).to_vec()
    };
    let mut undeclared = plain.clone();
    undeclared.name_kinds = vec![SpanKind::Other; 2];
    undeclared.lane_kinds = vec![LaneKind::Thread; 2];
    assert_eq!(bytes_of(&undeclared), bytes_of(&plain));

    let flow = |from_nanos, to_nanos| SpanFlow {
        from_lane: 1,
        from_nanos,
        to_lane: 0,
        to_nanos,
    };
    let mut full = plain.clone();
    full.name_kinds = vec![SpanKind::Other, SpanKind::Idle];
    full.lane_kinds = vec![LaneKind::Process, LaneKind::Stream];
    full.flows = vec![flow(i64::MIN, i64::MAX), flow(5, -5)];
    let bytes = bytes_of(&full);
    assert_eq!(Profile::read(&bytes), Ok(full));
    // New parts follow the old ones.
    assert!(bytes.starts_with(&bytes_of(&plain)));

    let text = |number, bytes: &[u8]| bytes_field(number, bytes);
    let named = [text(1, b"a"), text(2, b"lane")].concat();
    let with = |more: Vec<u8>| Profile::read(&[named.clone(), more].concat());
    // A kind of a later version.
    let later = with([text(11, &[99]), text(12, &[9])].concat()).unwrap();
    assert_eq!(
        (later.name_kinds[0], later.lane_kinds[0]),
        (SpanKind::Other, LaneKind::Thread)
    );
    assert!(with(text(11, &[1, 1])).is_err());
    assert!(with(text(12, &[1, 1])).is_err());
    assert!(with(text(13, &[0])).is_err());
    let ends = |lane: u8| {
        [
            text(13, &[0]),
            text(14, &[2]),
            text(15, &[lane]),
            text(16, &[4]),
        ]
        .concat()
    };
    assert_eq!(with(ends(0)).unwrap().flows[0].to_nanos, 2);
    assert!(with(ends(1)).is_err());
}

#[test]
fn a_profile_comes_back() {
    let profile = profile();
    let (seen, bytes) = written(|writer| {
        writer.profile("spans", AT, &profile)?;
        writer.profile("spans", AT, &Profile::default())
    });
    let bodies = seen.bodies("spans");
    let [(7, Body::Profile(full)), (7, Body::Profile(empty))] = bodies[..] else {
        panic!("{bodies:?}");
    };
    assert_eq!((full.spans, full.counters), (3, 2));
    assert_eq!((full.from_nanos, full.to_nanos), (i64::MIN, i64::MAX));
    assert_eq!(Profile::read(at_stretch(&bytes, full.data)), Ok(profile));
    assert_eq!((empty.spans, empty.from_nanos), (0, 0));
}

#[test]
fn what_a_collector_says_of_its_work() {
    let dump = DumpRef {
        path: "dump/step_7.safetensors".into(),
        tensors: 3,
        len_bytes: 1 << 40,
        reason: "overflow".into(),
    };
    let hit = WatchHit {
        condition: "tensor_overflow".into(),
        tag: "fc".into(),
        severity: Severity::Error,
        detail: "3 NaN".into(),
    };
    let loss = CollectorLoss {
        reason: "the queue was full".into(),
        records: 9,
        len_bytes: 0,
    };
    let (seen, _) = written(|writer| {
        writer.dump(AT, &dump)?;
        writer.hit(AT, &hit)?;
        writer.loss(AT, &loss)
    });
    let read: Vec<_> = seen
        .batch
        .records
        .iter()
        .map(|record| record.body.clone())
        .collect();
    assert_eq!(read, [Body::Dump(dump), Body::Hit(hit), Body::Loss(loss)]);
}

#[test]
fn facts_of_the_program_come_back_under_their_subject() {
    let fact = ProgramFact {
        kind: "optimizer_settings".into(),
        subject: "Adam 0".into(),
        numbers: vec![("lr".into(), f64::INFINITY), ("eps".into(), 0.0)],
        texts: vec![("type".into(), "bfloat16".into())],
        source: Some(SourceLine {
            file: "src/train é.py".into(),
            line: 7,
            function: "main".into(),
            first_line: 6,
            excerpt: "a\nb\n".into(),
        }),
    };
    let of_program = ProgramFact {
        kind: "environment".into(),
        ..ProgramFact::default()
    };
    let (seen, _) = written(|writer| {
        writer.program(AT, &fact)?;
        writer.program(AT, &of_program)
    });
    let settings = Body::Program(Box::new(fact));
    assert_eq!(seen.bodies("optimizer_settings:Adam 0"), [(7, &settings)]);
    let environment = Body::Program(Box::new(of_program));
    assert_eq!(seen.bodies("environment"), [(7, &environment)]);
}

#[test]
fn facts_beyond_their_limits_are_damage() {
    let many = ProgramFact {
        numbers: vec![(String::new(), f64::NAN); MAX_FIELDS + 1],
        ..ProgramFact::default()
    };
    let long = ProgramFact {
        texts: vec![("a".into(), "x".repeat(MAX_TEXT_BYTES + 1))],
        ..ProgramFact::default()
    };
    let mut writer = RecordWriter::new(Vec::new(), 1.7e9).unwrap();
    writer.program(AT, &many).unwrap();
    writer.program(AT, &long).unwrap();
    let seen = whole(Format::Tfevents, &writer.into_inner());
    assert_eq!((seen.batch.records.len(), seen.batch.damages.len()), (0, 2));
}

#[test]
fn sounds_and_tensors_come_back() {
    let (seen, bytes) = written(|writer| {
        writer.audio("beep", AT, &[(b"RIFF", "a *label*"), (b"", "")])?;
        writer.tensor("t", AT, (DType::F8E4m3, &[2, 1]), &[0x7e, 0x7f])?;
        writer.tensor("t", AT, (DType::Bf16, &[]), &[0x80, 0x3f])
    });
    let [(7, Body::Audio(audio))] = seen.bodies("beep")[..] else {
        panic!();
    };
    assert_eq!(audio.labels, ["a *label*", ""]);
    assert_eq!(at_stretch(&bytes, audio.items[0]), b"RIFF");
    let tensors = seen.bodies("t");
    let [(7, Body::Tensor(small)), (7, Body::Tensor(single))] = tensors[..] else {
        panic!("{tensors:?}");
    };
    assert_eq!(
        (small.dtype, &small.shape[..]),
        (DType::F8E4m3, &[2, 1][..])
    );
    assert_eq!((single.dtype, &single.shape[..]), (DType::Bf16, &[][..]));

    let mut writer = RecordWriter::new(Vec::new(), 0.0).unwrap();
    let wrong = writer
        .tensor("t", AT, (DType::F32, &[2]), &[0; 4])
        .unwrap_err();
    assert_eq!(wrong.kind(), io::ErrorKind::InvalidInput);
}

/// Decoded records of a native field with this content.
fn read_of(envelope: &[u8]) -> DecoderOutput {
    let value = [bytes_field(1, b"x"), bytes_field(1002, envelope)].concat();
    one_value(Format::Tfevents, &value)
}

fn versioned(message: &[u8]) -> Vec<u8> {
    [&varint_field(1, 1)[..], message].concat()
}

#[test]
fn another_version_and_a_new_message_are_counted() {
    for envelope in [
        [&varint_field(1, 2)[..], &bytes_field(7, b"")].concat(),
        bytes_field(7, b""),
        versioned(&bytes_field(99, b"new")),
        vec![],
    ] {
        let seen = read_of(&envelope);
        assert_eq!((seen.batch.unread.len(), seen.batch.damages.len()), (1, 0));
        assert_eq!(seen.batch.new_tags[0].kind, Kind::Unknown);
    }
}

#[test]
fn columns_that_disagree_are_damage() {
    let column = |number, values: &[u64]| {
        bytes_field(
            number,
            &values
                .iter()
                .flat_map(|value| varint(*value))
                .collect::<Vec<_>>(),
        )
    };
    // A tensor with one element, which is NaN.
    let columns = |count: u64, nan: u64, data_type: u64, dimensions: u64| {
        let mut all = [
            bytes_field(1, b"t"),
            column(2, &[1]),
            column(3, &[data_type]),
        ]
        .concat();
        all.extend(
            [
                column(4, &[dimensions]),
                column(6, &[count]),
                column(7, &[nan]),
            ]
            .concat(),
        );
        (8..14).for_each(|number| all.extend(column(number, &[0])));
        all
    };
    let read = |message: &[u8]| only_body(&read_of(&versioned(&bytes_field(2, message))));
    let whole = columns(1, 1, 13, 0);
    assert!(matches!(read(&whole), Ok(Body::Statistics(_))));
    let with = |number, table: &[u8]| [&whole[..], &bytes_field(number, table)].concat();
    let two = [column(1, &[0]), column(2, &[1])].concat();
    for message in [
        columns(2, 1, 13, 0),
        columns(1, u64::MAX, 13, 0),
        columns(1, 1, 15, 0),
        columns(1, 1, 13, u64::MAX),
        columns(1, 0, 13, 0),
        [&whole[..], &bytes_field(1, b"another")].concat(),
        with(20, &column(1, &[0])),
        with(21, &two),
        with(21, &[&two[..], &column(3, &[0]), &column(4, &[1])].concat()),
        with(22, &column(1, &[0])),
        with(23, &column(4, &[0])),
        with(23, &varint_field(1, 1)),
        bytes_field(1, b"t"),
    ] {
        let reason = read(&message).unwrap_err();
        assert!(reason.contains("tensor statistics"), "{reason}");
    }
    // An empty list of tensors has no records.
    let none = read_of(&versioned(&bytes_field(2, b"")));
    assert_eq!((none.batch.records.len(), none.batch.damages.len()), (0, 0));
    for profile in [column(3, &[0]), bytes_field(9, &varint(2)), column(7, &[1])] {
        let reason = only_body(&read_of(&versioned(&bytes_field(5, &profile)))).unwrap_err();
        assert!(reason.contains("profile"), "{reason}");
    }
}

proptest! {
    #[test]
    fn no_message_is_too_odd(number in 2_u64..9, message in prop::collection::vec(any::<u8>(), 0..200)) {
        let seen = read_of(&versioned(&bytes_field(number, &message)));
        if let [record] = &seen.batch.records[..]
            && let Body::Graph(source) = &record.body
        {
            let _graph = Graph::read(source.format, &message);
        }
    }

    #[test]
    fn statistics_of_any_numbers(numbers in prop::collection::vec(any::<f32>(), 0..40), before in prop::collection::vec(any::<f32>(), 0..40)) {
        let summary = summary_of(Role::Activation, &numbers, Some(&before));
        let (seen, _) = written(|writer| writer.statistics(AT, &[("t", &summary)]));
        let [(7, Body::Statistics(read))] = &seen.bodies("t")[..] else { panic!() };
        prop_assert_eq!(format!("{read:?}"), format!("{summary:?}"));
    }
}
