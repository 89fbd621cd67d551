//! Models of the test data, and of traces that a test makes up.

use std::io::Read;

use flate2::read::GzDecoder;
use trainscope_analysis::trace::Model;
use trainscope_format::formats::trace_json::TraceReader;
use trainscope_format::trace::{
    Category, Lane, LaneKind, NONE, Slice, SliceClass, Trace, TraceFormat,
};

/// Content of a file below `tests/fixtures/profile`, unpacked if it is packed.
pub(crate) fn unpacked(path: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/profile");
    let packed = std::fs::read(format!("{folder}/{path}")).unwrap();
    if !packed.starts_with(&[0x1f, 0x8b]) {
        return packed;
    }
    let mut bytes = Vec::new();
    GzDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
    bytes
}

/// Model of a packed Chrome trace.
pub(crate) fn model(path: &str) -> Model {
    let mut reader = TraceReader::new();
    reader.push(&unpacked(path));
    Model::new(reader.finish())
}

/// Four generated steps of two layers.
pub(crate) fn generated() -> Model {
    model("generated/steps4-layers2.pt.trace.json.gz")
}

/// A trace that is put together slice by slice: a thread of the host, lane 0, and streams, lanes 1 and above.
#[derive(Clone, Debug)]
pub(crate) struct GeneratedTrace {
    trace: Trace,
}

impl GeneratedTrace {
    pub(crate) fn new(streams: u16) -> Self {
        let mut trace = Trace::default();
        trace.head.format = TraceFormat::Kineto;
        for lane in 0..=streams {
            trace.lanes.push(Lane {
                process: if lane == 0 { "host" } else { "0" }.to_owned(),
                thread: lane.to_string(),
                kind: if lane == 0 {
                    LaneKind::Host
                } else {
                    LaneKind::Device
                },
                ..Lane::default()
            });
        }
        Self { trace }
    }

    /// Adds a slice; `link` is the correlation of calls and device work.
    pub(crate) fn slice(
        mut self,
        lane: u16,
        class: SliceClass,
        name: &str,
        (begin, end): (i64, i64),
        link: Option<u32>,
    ) -> Self {
        let categories = &mut self.trace.categories;
        let category = categories
            .iter()
            .position(|category| category.class == class);
        let category = category.unwrap_or_else(|| {
            categories.push(Category {
                name: format!("{class:?}"),
                class,
                ..Category::default()
            });
            categories.len() - 1
        });
        categories[category].count += 1;
        let name = self.trace.texts.intern(name);
        let place = self.trace.slices.len() as u64;
        self.trace.slices.push(&Slice {
            begin,
            duration: end.abs_diff(begin),
            name,
            lane,
            category: u16::try_from(category).unwrap(),
            link: link.unwrap_or(NONE),
            detail: NONE,
            place,
        });
        self
    }

    /// Changes the trace.
    pub(crate) fn change(mut self, change: impl FnOnce(&mut Trace)) -> Self {
        change(&mut self.trace);
        self
    }

    pub(crate) fn model(self) -> Model {
        Model::new(self.trace)
    }
}
