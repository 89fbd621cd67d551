//! Critical paths: the numbers of the generated trace, and that segments add up to any stretch of time.

use proptest::prelude::*;
use trainscope_analysis::trace::Model;
use trainscope_analysis::trace::critical::{self, KINDS, Paths};
use trainscope_format::trace::SliceClass;

use crate::traces::support::{GeneratedTrace, generated, model};

#[test]
fn the_path_of_generated_steps_is_that_of_a_slow_reading() {
    let model = generated();
    let steps = &model.steps.list;
    let spans: Vec<(i64, i64)> = steps.iter().map(|step| (step.begin, step.end)).collect();
    let totals = critical::totals(&model, &spans);
    let expected = [
        ("between_kernels", 12_000),
        ("communication", 10_080_000),
        ("data", 1_216_728),
        ("host", 229_246),
        ("kernel", 4_397_446),
        ("launch", 19_264),
        ("memcpy", 846_400),
        ("memset", 4_800),
    ];
    let totals: Vec<(&str, i64)> = totals.iter().map(|(kind, n)| (&**kind, *n)).collect();
    assert_eq!(totals, expected);
    let paths = Paths::new(&model);
    for (begin, end) in spans {
        assert_eq!(paths.sums(begin, end).iter().sum::<i64>(), end - begin);
    }
}

#[test]
fn a_trace_without_launches_has_no_path() {
    let model = model("torch-cnn/tb.pt.trace.json.gz");
    assert!(Paths::new(&model).is_empty());
    assert!(critical::totals(&model, &[(0, 1_000)]).is_empty());
}

/// Time of a kind in a path.
fn of(sums: critical::Sums, kind: &str) -> i64 {
    let at = KINDS.iter().position(|name| *name == kind).unwrap();
    sums[at]
}

/// A kernel of 60 that a call of the host waits for.
fn kernel_and_wait() -> Model {
    GeneratedTrace::new(1)
        .slice(
            0,
            SliceClass::Runtime,
            "cudaLaunchKernel",
            (10, 20),
            Some(1),
        )
        .slice(1, SliceClass::Kernel, "gemm", (30, 90), Some(1))
        .slice(
            0,
            SliceClass::Runtime,
            "cudaStreamSynchronize",
            (40, 95),
            None,
        )
        .model()
}

#[test]
fn a_wait_leads_to_the_work_it_waited_for() {
    let model = kernel_and_wait();
    let sums = Paths::new(&model).sums(0, 100);
    assert_eq!(of(sums, "kernel"), 60);
    assert_eq!(of(sums, "launch"), 10);
    // Before the launch returned, from the end of the kernel to that of the call, and behind it.
    assert_eq!(of(sums, "host"), 20 + 5 + 5);
}

#[test]
fn a_wait_for_nothing_stays_on_the_host() {
    let model = GeneratedTrace::new(1)
        .slice(0, SliceClass::Runtime, "cudaLaunchKernel", (0, 10), Some(1))
        .slice(1, SliceClass::Kernel, "gemm", (12, 30), Some(1))
        .slice(
            0,
            SliceClass::Runtime,
            "cudaDeviceSynchronize",
            (40, 50),
            None,
        )
        .model();
    let sums = Paths::new(&model).sums(0, 60);
    assert_eq!((of(sums, "host"), of(sums, "kernel")), (60, 0));
}

fn classes() -> impl Strategy<Value = (SliceClass, &'static str)> {
    prop_oneof![
        Just((SliceClass::Kernel, "gemm")),
        Just((SliceClass::Kernel, "ncclDevKernel_AllReduce")),
        Just((SliceClass::Memcpy, "Memcpy HtoD (Pageable -> Device)")),
        Just((SliceClass::Runtime, "cudaLaunchKernel")),
        Just((SliceClass::Runtime, "cudaStreamSynchronize")),
        Just((SliceClass::Annotation, "enumerate(DataLoader)#X.__next__")),
        Just((SliceClass::Operator, "aten::mm")),
    ]
}

/// Slices of any order, also of no length, and work that runs before its launch.
pub(crate) fn any_trace() -> impl Strategy<Value = GeneratedTrace> {
    let slice = (classes(), 0_u16..3, 0_i64..200, 0_i64..40, 0_u32..8);
    proptest::collection::vec(slice, 0..60).prop_map(|slices| {
        let mut made = GeneratedTrace::new(3);
        for ((class, name), stream, begin, length, link) in slices {
            let lane = match class {
                SliceClass::Kernel | SliceClass::Memcpy => stream + 1,
                _ => 0,
            };
            let link = (name != "aten::mm").then_some(link);
            made = made.slice(lane, class, name, (begin, begin + length), link);
        }
        made
    })
}

proptest! {
    #[test]
    fn segments_add_up_to_any_stretch(made in any_trace(), begin in 0_i64..250, length in 0_i64..250) {
        let model = made.model();
        let sums = Paths::new(&model).sums(begin, begin + length);
        prop_assert!(sums.iter().all(|nanos| *nanos >= 0), "{:?}", sums);
        prop_assert_eq!(sums.iter().sum::<i64>(), length);
    }

    #[test]
    fn segments_follow_one_another_without_a_gap(made in any_trace(), begin in 0_i64..250, length in 1_i64..250) {
        let model = made.model();
        let mut before = begin + length;
        Paths::new(&model).walk(begin, begin + length, |segment| {
            assert_eq!(segment.end, before);
            assert!(segment.begin < segment.end);
            before = segment.begin;
        });
        prop_assert_eq!(before, begin);
    }
}

/// Segments of the picture of a view: kind, length, name of the slice.
fn picture(model: &Model, from: i64, to: i64) -> Vec<(String, i64, String)> {
    let answer = Paths::new(model).picture(from, to);
    assert!(answer.has_launches && !answer.cut);
    let segments = answer.segments.into_iter();
    let parts = segments.map(|segment| {
        let slice = segment.slice.map(|slice| slice.name);
        let length = segment.end_nanos - segment.begin_nanos;
        (segment.kind, length, slice.unwrap_or_default())
    });
    parts.collect()
}

#[test]
fn a_picture_has_the_slices_of_the_path_in_order_of_time() {
    let model = kernel_and_wait();
    let part = |kind: &str, length: i64, slice: &str| (kind.to_owned(), length, slice.to_owned());
    // Since the first slice: 10.
    let expected = [
        part("host", 10, "cudaLaunchKernel"),
        part("launch", 10, "cudaLaunchKernel"),
        part("kernel", 60, "gemm"),
        part("host", 5, "cudaStreamSynchronize"),
    ];
    assert_eq!(picture(&model, 0, 85), expected);
    let in_view: Vec<_> = picture(&model, 30, 40)
        .into_iter()
        .map(|part| part.0)
        .collect();
    assert_eq!(in_view, ["kernel"]);
    let unseen = Paths::new(&model).picture(0, 100_000_000);
    assert_eq!(unseen.segments, [], "all are shorter than a pixel");
}

#[test]
fn the_picture_of_generated_steps_has_all_of_the_path() {
    let model = generated();
    let extent = model.extent.end - model.extent.start;
    let answer = Paths::new(&model).picture(0, extent);
    let spans = model.steps.list.iter().map(|step| (step.begin, step.end));
    let totals = critical::totals(&model, &spans.collect::<Vec<_>>());
    for (kind, nanos) in &totals {
        let segments = answer
            .segments
            .iter()
            .filter(|segment| segment.kind == *kind);
        let drawn: i64 = segments
            .map(|segment| segment.end_nanos - segment.begin_nanos)
            .sum();
        assert!(drawn <= *nanos, "{kind}");
        if *nanos > extent / 50 {
            assert!(drawn * 10 >= nanos * 9, "{kind}: {drawn} of {nanos}");
        }
    }
    let begins: Vec<i64> = answer
        .segments
        .iter()
        .map(|segment| segment.begin_nanos)
        .collect();
    assert!(begins.is_sorted());
}
