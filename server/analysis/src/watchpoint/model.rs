//! Data of a judgement: the records of a run, conditions and watchpoints, and their findings.

pub(super) mod attempts;
pub(super) mod condition;
pub(super) mod course;
pub(super) mod finding;
pub(super) mod history;
pub(super) mod key;
pub(super) mod knowledge;
pub(super) mod labels;
pub(super) mod missing;
pub(super) mod new_hit;
pub(super) mod observation;
pub(super) mod parameter;
pub(super) mod profile;
pub(super) mod run;
pub(super) mod scalars;
pub(super) mod steps;
pub(super) mod subject;
pub(super) mod tensor;
