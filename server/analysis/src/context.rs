//! Context of a run: facts about the model and the program, in addition to its tensors and scalars.

use trainscope_format::{Graph, Hparams, Lineage, ProgramFact};

/// Context of a run.
#[derive(Clone, Copy, Debug)]
pub enum Context<'a> {
    /// Names of modules, operators or tensors in forward execution order.
    ExecutionOrder(&'a [&'a str]),
    /// Computation graph.
    Graph(&'a Graph),
    /// Lineage of the model.
    Lineage(&'a Lineage),
    /// Hyper-parameters.
    Hparams(&'a Hparams),
    /// A recorded text: the printed form of a model lists its modules.
    Text {
        /// Its tag.
        tag: &'a str,
        /// The text itself.
        text: &'a str,
    },
    /// Fact of the program.
    Program {
        /// Step at which it was recorded.
        step: i64,
        /// The fact.
        fact: &'a ProgramFact,
    },
    /// An operator overflowed according to the device.
    OperatorOverflow {
        /// Step of the overflow.
        step: i64,
        /// The operator's full name.
        operator: &'a str,
    },
    /// Overflows of operators in an unsupported format.
    OperatorOverflowUnread {
        /// Step of the record.
        step: i64,
        /// Reason, and a converter, as a sentence.
        reason: &'a str,
    },
}
