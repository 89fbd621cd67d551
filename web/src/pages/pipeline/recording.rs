//! The lines of code that record what is missing here.

use crate::prelude::*;

/// Missing data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Graph of the pipeline.
    Graph,
    /// Times per batch.
    Times,
}

const GRAPH: [(&str, &str); 2] = [
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

const TIMES: [(&str, &str); 2] = [
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

/// A snippet for each way to record it.
#[component]
pub(super) fn Recording(
    /// Missing data.
    wanted: Wanted,
) -> impl IntoView {
    let snippets = match wanted {
        Wanted::Graph => &GRAPH[..],
        Wanted::Times => &TIMES[..],
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
