//! Code snippets that record the missing data.

use trainscope_web_kit::prelude::*;

/// Missing data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MissingData {
    /// Graph of the pipeline.
    Graph,
    /// Times per batch.
    Times,
}

const GRAPH: [(&str, &str); 3] = [
    (
        "Python",
        r#"run = trainscope.start(folder)
run.dataset([
    {"op": "Mnist", "path": "data/mnist"},
    {"op": "Batch", "size": 32},
])"#,
    ),
    (
        "Rust",
        r#"let pipeline = DatasetPipeline::source("Mnist")
    .parameter("path", "data/mnist")
    .then("Batch")
    .parameter("size", 32);
collector.lineage(pipeline.build());"#,
    ),
    (
        "MindSpore",
        r#"SummaryCollector(folder, collect_specified_data={
    "collect_dataset_graph": True})"#,
    ),
];

const TIMES: [(&str, &str); 3] = [
    (
        "Python",
        "for batch in run.steps(loader):
    train(batch)",
    ),
    (
        "Rust",
        r#"let batch = {
    let _span = collector.span("data");
    loader.next()
};"#,
    ),
    (
        "MindSpore",
        "profiler = Profiler(output_path=folder, data_process=True)
model.train(epochs, dataset)
profiler.analyse()",
    ),
];

/// One snippet per language.
#[component]
pub(super) fn Recording(
    /// Missing data.
    wanted: MissingData,
) -> impl IntoView {
    let snippets = match wanted {
        MissingData::Graph => &GRAPH[..],
        MissingData::Times => &TIMES[..],
    };
    let one = |(language, code): &(&'static str, &'static str)| {
        view! {
            <figure class="snippet">
                <figcaption class="micro ink3">{*language}</figcaption>
                <pre class="mono small">{*code}</pre>
            </figure>
        }
    };
    view! { <div class="snippets">{snippets.iter().map(one).collect_view()}</div> }
}
