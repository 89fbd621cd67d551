//! Records that `TensorBoard` has no message for.

use std::io::{self, Write};

use super::{Moment, RecordWriter};
use crate::collection::{CollectorLoss, DumpRef, WatchHit};
use crate::formats::native::{
    DUMP, GRAPH, HIT, LANDSCAPE, LINEAGE, LOSS, PROFILE, PROGRAM, STATISTICS, collection, envelope,
    graph, landscape, lineage, profile, program, statistics,
};
use crate::graph::Graph;
use crate::lineage::Lineage;
use crate::message::Message;
use crate::profile::Profile;
use crate::program::ProgramFact;
use crate::statistics::TensorSummary;
use crate::surface::Landscape;

/// Maximum number of tensors in one value. Readers hold a whole value in memory.
const TENSORS_A_VALUE: usize = 256;

impl<W: Write> RecordWriter<W> {
    /// Writes statistics of the tensors of a step, each with its tag. Up to a few hundred tensors are one event, so
    /// that readers get all of them or none.
    pub fn statistics(&mut self, at: Moment, tensors: &[(&str, &TensorSummary)]) -> io::Result<()> {
        for tensors in tensors.chunks(TENSORS_A_VALUE) {
            self.native("tensors", at, STATISTICS, &statistics::write(tensors))?;
        }
        Ok(())
    }

    /// Writes one of the four lineage records, under the tag that `MindSpore` uses.
    pub fn lineage(&mut self, at: Moment, lineage: &Lineage) -> io::Result<()> {
        let tag = match lineage {
            Lineage::Train(_) => "train_lineage",
            Lineage::Evaluation(_) => "evaluation_lineage",
            Lineage::Dataset(_) => "dataset_graph",
            Lineage::UserDefined(_) => "user_defined_info",
        };
        self.native(tag, at, LINEAGE, &lineage::write(lineage))
    }

    /// Writes a computation graph. Its notes are not written: readers derive them.
    pub fn graph(&mut self, tag: &str, at: Moment, graph: &Graph) -> io::Result<()> {
        self.native(tag, at, GRAPH, &graph::write(graph))
    }

    /// Writes spans and counters.
    pub fn profile(&mut self, tag: &str, at: Moment, profile: &Profile) -> io::Result<()> {
        self.native(tag, at, PROFILE, &profile::write(profile))
    }

    /// Writes a loss landscape. Readers treat one with mismatched list lengths as damage.
    pub fn landscape(&mut self, tag: &str, at: Moment, landscape: &Landscape) -> io::Result<()> {
        self.native(tag, at, LANDSCAPE, &landscape::write(landscape))
    }

    /// Writes the location of a tensor dump.
    pub fn dump(&mut self, at: Moment, dump: &DumpRef) -> io::Result<()> {
        self.native("dump", at, DUMP, &collection::write_dump(dump))
    }

    /// Writes a reported condition.
    pub fn hit(&mut self, at: Moment, hit: &WatchHit) -> io::Result<()> {
        self.native("hits", at, HIT, &collection::write_hit(hit))
    }

    /// Writes a fact of the program.
    pub fn program(&mut self, at: Moment, fact: &ProgramFact) -> io::Result<()> {
        self.native("program", at, PROGRAM, &program::write(fact))
    }

    /// Writes a count of lost records.
    pub fn loss(&mut self, at: Moment, loss: &CollectorLoss) -> io::Result<()> {
        self.native("loss_of_records", at, LOSS, &collection::write_loss(loss))
    }

    /// Value of the native plugin, in a field that other readers skip.
    fn native(&mut self, tag: &str, at: Moment, number: u32, message: &Message) -> io::Result<()> {
        let mut data = Message::default();
        data.bytes(1, b"trainscope");
        let mut metadata = Message::default();
        metadata.message(1, &data);
        let mut value = Message::default();
        value.bytes(1, tag.as_bytes());
        value.message(9, &metadata);
        value.message(1002, &envelope(number, message));
        self.write_value(at, &value)
    }
}
