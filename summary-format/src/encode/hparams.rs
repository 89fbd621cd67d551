//! Hyper-parameters as the content of their plugin's metadata.

use crate::hparams::{
    Experiment, HparamDomain, HparamInfo, HparamType, HparamValue, Hparams, MetricDataset,
    MetricInfo, SessionEnd, SessionStart, SessionStatus,
};
use crate::message::Message;

/// The tag that TensorBoard expects, and an `HParamsPluginData`.
pub(super) fn encode(hparams: &Hparams) -> (&'static [u8], Message) {
    let (tag, number, message): (&[u8], _, _) = match hparams {
        Hparams::Experiment(experiment) => {
            (b"_hparams_/experiment", 2, encode_experiment(experiment))
        }
        Hparams::SessionStart(start) => (b"_hparams_/session_start_info", 3, encode_start(start)),
        Hparams::SessionEnd(end) => (b"_hparams_/session_end_info", 4, encode_end(*end)),
    };
    let mut data = Message::default();
    data.message(number, &message);
    (tag, data)
}

fn encode_experiment(experiment: &Experiment) -> Message {
    let mut message = Message::default();
    message.text(1, &experiment.description);
    message.text(2, &experiment.user);
    message.double(3, experiment.created_secs);
    for info in &experiment.hparams {
        message.message(4, &encode_hparam(info));
    }
    for info in &experiment.metrics {
        message.message(5, &encode_metric(info));
    }
    message.text(6, &experiment.name);
    message
}

fn encode_hparam(info: &HparamInfo) -> Message {
    let mut message = Message::default();
    message.text(1, &info.name);
    message.text(2, &info.display_name);
    message.text(3, &info.description);
    message.varint(
        4,
        match info.value_type {
            HparamType::Unset => 0,
            HparamType::Text => 1,
            HparamType::Bool => 2,
            HparamType::Number => 3,
        },
    );
    let mut domain = Message::default();
    match &info.domain {
        HparamDomain::Any => {}
        HparamDomain::Discrete(values) => {
            for value in values {
                domain.message(1, &encode_value(value));
            }
            message.message(5, &domain);
        }
        HparamDomain::Interval { min, max } => {
            domain.double(1, *min);
            domain.double(2, *max);
            message.message(6, &domain);
        }
    }
    message
}

fn encode_metric(info: &MetricInfo) -> Message {
    let mut name = Message::default();
    name.text(1, &info.group);
    name.text(2, &info.tag);
    let mut message = Message::default();
    message.message(1, &name);
    message.text(3, &info.display_name);
    message.text(4, &info.description);
    message.varint(
        5,
        match info.dataset {
            MetricDataset::Unset => 0,
            MetricDataset::Training => 1,
            MetricDataset::Validation => 2,
        },
    );
    message
}

fn encode_start(start: &SessionStart) -> Message {
    let mut message = Message::default();
    for (name, value) in &start.values {
        let mut entry = Message::default();
        entry.bytes(1, name.as_bytes());
        entry.message(2, &encode_value(value));
        message.message(1, &entry);
    }
    message.text(2, &start.model_uri);
    message.text(3, &start.monitor_url);
    message.text(4, &start.group);
    message.double(5, start.start_secs);
    message
}

fn encode_end(end: SessionEnd) -> Message {
    let mut message = Message::default();
    message.varint(
        1,
        match end.status {
            SessionStatus::Unknown => 0,
            SessionStatus::Success => 1,
            SessionStatus::Failure => 2,
            SessionStatus::Running => 3,
        },
    );
    message.double(2, end.end_secs);
    message
}

/// A `google.protobuf.Value`.
fn encode_value(value: &HparamValue) -> Message {
    let mut message = Message::default();
    match value {
        HparamValue::Null => message.varint(1, 0),
        HparamValue::Number(number) => message.double(2, *number),
        HparamValue::Text(text) => message.bytes(3, text.as_bytes()),
        HparamValue::Bool(is_set) => message.varint(4, u64::from(*is_set)),
    }
    message
}
