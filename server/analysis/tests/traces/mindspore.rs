//! Profiles of `MindSpore` on a CPU.

use std::collections::BTreeMap;

use trainscope_analysis::trace::Model;
use trainscope_analysis::trace::operators::Operators;
use trainscope_analysis::trace::steps::StepRange;
use trainscope_analysis::trace::summary::summary;
use trainscope_api::profile::{OperatorGroup, PhaseKind, StepSource};
use trainscope_format::formats::mindspore_profile::{MindsporeFiles, read};
use trainscope_format::formats::trace_json::TraceReader;
use trainscope_format::trace::SliceClass;

use crate::traces::support::unpacked;

fn model(folder: &str) -> Model {
    let executions = unpacked(&format!("{folder}/cpu_op_execute_timestamp_0.txt.gz"));
    let framework = unpacked(&format!("{folder}/cpu_framework_0.txt.gz"));
    let iterator = unpacked(&format!("{folder}/dataset_iterator_profiling_0.txt"));
    let files = MindsporeFiles {
        executions: Some(&executions),
        framework: Some(&framework),
        iterator: Some(&iterator),
        ..MindsporeFiles::default()
    };
    Model::new(read(&files, None).0)
}

struct Truth {
    folder: &'static str,
    first: i64,
    lengths: [i64; 12],
    /// Forward, backward and update of the operators of the training.
    phases: [i64; 3],
    /// Executions, operators and types.
    counts: [usize; 3],
    total: i64,
    /// The type with the most time.
    longest: (&'static str, u64, i64),
}

const TRUTHS: [Truth; 4] = [
    Truth {
        folder: "ms20-lenet",
        first: 2_493_444_181_770,
        lengths: [
            30_917_025,
            1_977_618,
            59_815_903,
            31_791_755,
            25_529_385,
            180_703_597,
            13_403_067,
            1_386_117,
            8_027_248,
            1_088_824,
            1_274_973,
            1_091_674,
        ],
        phases: [121_915_333, 111_559_015, 110_799_876],
        counts: [684, 65, 17],
        total: 345_459_957,
        longest: ("ApplyMomentum", 96, 49_158_297),
    },
    Truth {
        folder: "ms20-slow-data",
        first: 2_498_654_433_875,
        lengths: [
            28_000_064, 603_789, 11_985_563, 10_332_185, 6_211_311, 33_424_362, 15_028_558,
            680_535, 838_673, 435_443, 825_715, 1_063_388,
        ],
        phases: [38_384_722, 35_861_725, 25_497_209],
        counts: [412, 37, 9],
        total: 130_252_795,
        longest: ("MatMulBiasAddReluFusion", 32, 36_185_677),
    },
    Truth {
        folder: "ms210-lenet",
        first: 1_795_213_065_485_396_901,
        lengths: [
            106_845_203,
            71_539_494,
            64_193_743,
            26_427_058,
            6_711_880,
            2_652_141,
            2_471_636,
            2_221_847,
            2_330_593,
            2_120_077,
            2_452_449,
            2_265_779,
        ],
        phases: [121_012_107, 160_096_161, 1_123_903],
        counts: [744, 72, 16],
        total: 286_899_709,
        longest: ("Conv2D", 32, 86_284_132),
    },
    Truth {
        folder: "ms210-slow-data",
        first: 1_795_213_070_051_413_911,
        lengths: [
            37_725_010, 7_996_268, 3_973_447, 6_255_180, 1_287_448, 1_565_571, 1_400_584,
            1_632_128, 1_264_417, 1_358_761, 1_188_800, 1_870_758,
        ],
        phases: [8_730_953, 49_246_522, 1_249_550],
        counts: [520, 50, 11],
        total: 59_888_141,
        longest: ("MatMul", 108, 54_568_015),
    },
];

#[test]
fn executions_of_a_graph_tell_its_steps() {
    for truth in &TRUTHS {
        let model = model(truth.folder);
        let steps = &model.steps;
        assert_eq!(steps.source, StepSource::Executions);
        assert_eq!(steps.list.len(), 12, "{}", truth.folder);
        assert_eq!(steps.list[0].begin, truth.first);
        let lengths: Vec<i64> = steps
            .list
            .iter()
            .map(|step| step.end - step.begin)
            .collect();
        assert_eq!(lengths, truth.lengths);
        assert!(steps.list.iter().all(|step| step.is_whole));
        assert_eq!(steps.list[0].number, 1);
    }
}

#[test]
fn scopes_tell_the_phases_of_operators() {
    for truth in &TRUTHS {
        let model = model(truth.folder);
        let operators = model.slices();
        let operators: Vec<u32> = operators
            .filter(|slice| model.class(*slice) == SliceClass::Operator)
            .collect();
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for slice in &operators {
            *counts.entry(model.name(*slice)).or_default() += 1;
        }
        let mut sums: BTreeMap<PhaseKind, i64> = BTreeMap::new();
        for slice in operators
            .iter()
            .filter(|slice| counts[model.name(**slice)] == 12)
        {
            let (begin, end) = model.span(*slice);
            *sums.entry(model.phases[*slice as usize]).or_default() += end - begin;
        }
        let [forward, backward, update] = truth.phases;
        let phases = [
            (PhaseKind::Forward, forward),
            (PhaseKind::Backward, backward),
            (PhaseKind::Update, update),
        ];
        assert_eq!(sums, BTreeMap::from(phases));
    }
}

#[test]
fn tables_agree_with_those_of_the_framework() {
    for truth in &TRUTHS {
        let model = model(truth.folder);
        let operators = Operators::new(&model);
        let table = |by| {
            let mut rows = operators.table(by, StepRange::default()).rows;
            rows.retain(|row| row.name != "get_next");
            rows
        };
        let [executions, names, types] = truth.counts;
        assert_eq!(table(OperatorGroup::Name).len(), names);
        let rows = table(OperatorGroup::Type);
        assert_eq!(rows.len(), types);
        assert_eq!(
            rows.iter().map(|row| row.calls).sum::<u64>(),
            executions as u64
        );
        assert_eq!(
            rows.iter().map(|row| row.total_nanos).sum::<i64>(),
            truth.total
        );
        let longest = (rows[0].name.as_str(), rows[0].calls, rows[0].total_nanos);
        assert_eq!(longest, truth.longest);
        let text = unpacked(&format!("{}/cpu_op_type_info_0.csv.gz", truth.folder));
        let text = String::from_utf8(text).unwrap();
        for line in text.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            let row = rows.iter().find(|row| row.name == cells[0]).unwrap();
            assert_eq!(row.calls, cells[1].parse::<u64>().unwrap());
            let millis: f64 = cells[3].parse().unwrap();
            let difference = (row.total_nanos as f64 / 1e6 - millis).abs();
            assert!(difference <= 1e-5 * millis.max(1.0), "{line}");
        }
    }
}

#[test]
fn scopes_are_those_of_the_graph() {
    let model = model("ms20-lenet");
    let scopes = Operators::new(&model).table(OperatorGroup::Scope, StepRange::default());
    let names: Vec<&str> = scopes.rows.iter().map(|row| row.name.as_str()).collect();
    assert!(names.contains(&"Default/optimizer-Momentum"), "{names:?}");
    let summary = summary(&model, StepRange::default(), usize::MAX);
    assert_eq!(summary.step_count, 12);
    let products: Vec<&String> = summary.flops.keys().collect();
    assert!(
        products
            .iter()
            .all(|name| name.contains("MatMul") || name.contains("Conv2D"))
    );
    assert!(!products.is_empty());
}

#[test]
fn iterations_of_the_step_trace_of_msprof_are_steps() {
    let text = br#"[{"name": "process_name", "pid": 10036, "args": {"name": "Step Trace"}, "ph": "M"},
        {"name": "process_name", "pid": 7, "args": {"name": "Ascend Hardware"}, "ph": "M"},
        {"name": "Iteration 1", "pid": 10036, "tid": 1, "ts": 10, "dur": 5, "cat": "Iteration Time", "ph": "X"},
        {"name": "FP_BP Time 1", "pid": 10036, "tid": 1, "ts": 11, "dur": 3, "cat": "FP_BP Time", "ph": "X"},
        {"name": "Iteration 2", "pid": 10036, "tid": 1, "ts": 20, "dur": 4, "cat": "Iteration Time", "ph": "X"},
        {"name": "MatMul", "pid": 7, "tid": 2, "ts": 12, "dur": 2, "ph": "X"}]"#;
    let mut reader = TraceReader::new();
    reader.push(text);
    let model = Model::new(reader.finish());
    let steps: Vec<_> = (model.steps.list.iter())
        .map(|step| (step.number, step.begin, step.end))
        .collect();
    assert_eq!(steps, [(1, 10_000, 15_000), (2, 20_000, 24_000)]);
    assert_eq!(model.steps.source, StepSource::Table);
    let summary = summary(&model, StepRange::default(), 400);
    assert_eq!(summary.steps[0].busy_nanos, 2_000);
    assert_eq!(summary.operators, []);
}
