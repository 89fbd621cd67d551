//! Hyper-parameters: the content of the metadata of their plugin.

use super::super::event_file::{Fault, detailed};
use crate::body::Body;
use crate::hparams::{
    Experiment, HparamDomain, HparamInfo, HparamType, HparamValue, Hparams, MetricDataset,
    MetricInfo, SessionEnd, SessionStart, SessionStatus,
};
use crate::wire::{Fields, Value, WireError, bytes_of, text};

const NOTHING: Fault = Fault("hyper-parameters have no content");

/// An `HParamsPluginData`: experiment 2, session begins 3, session ends 4.
pub(super) fn read(content: &[u8]) -> Result<Body, Fault> {
    let mut found = None;
    for field in Fields::of(detailed(content)?) {
        if let (number @ 2..=4, Value::Bytes(message)) = field? {
            found = Some((number, message));
        }
    }
    Ok(Body::Hparams(match found.ok_or(NOTHING)? {
        (2, message) => Hparams::Experiment(experiment(message)?),
        (3, message) => Hparams::SessionStart(session_start(message)?),
        (_, message) => Hparams::SessionEnd(session_end(message)?),
    }))
}

/// An `Experiment`: description 1, user 2, time 3, parameters 4, metrics 5, name 6.
fn experiment(message: &[u8]) -> Result<Experiment, WireError> {
    let mut experiment = Experiment::default();
    for field in Fields::of(message) {
        match field? {
            (1, Value::Bytes(bytes)) => experiment.description = text(bytes),
            (2, Value::Bytes(bytes)) => experiment.user = text(bytes),
            (3, Value::Fixed64(bits)) => experiment.created_secs = f64::from_bits(bits),
            (4, Value::Bytes(message)) => experiment.hparams.push(hparam_info(message)?),
            (5, Value::Bytes(message)) => experiment.metrics.push(metric_info(message)?),
            (6, Value::Bytes(bytes)) => experiment.name = text(bytes),
            _ => {}
        }
    }
    Ok(experiment)
}

/// An `HParamInfo`: name 1, display name 2, description 3, type 4, discrete domain 5, interval 6.
fn hparam_info(message: &[u8]) -> Result<HparamInfo, WireError> {
    let mut info = HparamInfo::default();
    for field in Fields::of(message) {
        match field? {
            (1, Value::Bytes(bytes)) => info.name = text(bytes),
            (2, Value::Bytes(bytes)) => info.display_name = text(bytes),
            (3, Value::Bytes(bytes)) => info.description = text(bytes),
            (4, Value::Varint(number)) => {
                info.value_type = match number {
                    1 => HparamType::Text,
                    2 => HparamType::Bool,
                    3 => HparamType::Number,
                    _ => HparamType::Unset,
                };
            }
            (5, Value::Bytes(list)) => {
                let mut values = Vec::new();
                for field in Fields::of(list) {
                    if let (1, Value::Bytes(message)) = field? {
                        values.push(value(message)?);
                    }
                }
                info.domain = HparamDomain::Discrete(values);
            }
            (6, Value::Bytes(interval)) => {
                let [mut min, mut max] = [0.0; 2];
                for field in Fields::of(interval) {
                    match field? {
                        (1, Value::Fixed64(bits)) => min = f64::from_bits(bits),
                        (2, Value::Fixed64(bits)) => max = f64::from_bits(bits),
                        _ => {}
                    }
                }
                info.domain = HparamDomain::Interval { min, max };
            }
            _ => {}
        }
    }
    Ok(info)
}

/// A `MetricInfo`: name 1 (in it group 1, tag 2), display name 3, description 4, data set 5.
fn metric_info(message: &[u8]) -> Result<MetricInfo, WireError> {
    let mut info = MetricInfo::default();
    for field in Fields::of(message) {
        match field? {
            (1, Value::Bytes(name)) => {
                info.group = text(bytes_of(name, 1)?.unwrap_or_default());
                info.tag = text(bytes_of(name, 2)?.unwrap_or_default());
            }
            (3, Value::Bytes(bytes)) => info.display_name = text(bytes),
            (4, Value::Bytes(bytes)) => info.description = text(bytes),
            (5, Value::Varint(1)) => info.dataset = MetricDataset::Training,
            (5, Value::Varint(2)) => info.dataset = MetricDataset::Validation,
            _ => {}
        }
    }
    Ok(info)
}

/// A `SessionStartInfo`: values 1 (name 1, value 2), model 2, monitor 3, group 4, time 5.
fn session_start(message: &[u8]) -> Result<SessionStart, WireError> {
    let mut start = SessionStart::default();
    for field in Fields::of(message) {
        match field? {
            (1, Value::Bytes(entry)) => {
                let name = text(bytes_of(entry, 1)?.unwrap_or_default());
                let value = value(bytes_of(entry, 2)?.unwrap_or_default())?;
                start.values.push((name, value));
            }
            (2, Value::Bytes(bytes)) => start.model_uri = text(bytes),
            (3, Value::Bytes(bytes)) => start.monitor_url = text(bytes),
            (4, Value::Bytes(bytes)) => start.group = text(bytes),
            (5, Value::Fixed64(bits)) => start.start_secs = f64::from_bits(bits),
            _ => {}
        }
    }
    Ok(start)
}

/// A `SessionEndInfo`: status 1, time 2.
fn session_end(message: &[u8]) -> Result<SessionEnd, WireError> {
    let mut end = SessionEnd::default();
    for field in Fields::of(message) {
        match field? {
            (1, Value::Varint(number)) => {
                end.status = match number {
                    1 => SessionStatus::Success,
                    2 => SessionStatus::Failure,
                    3 => SessionStatus::Running,
                    _ => SessionStatus::Unknown,
                };
            }
            (2, Value::Fixed64(bits)) => end.end_secs = f64::from_bits(bits),
            _ => {}
        }
    }
    Ok(end)
}

/// A `google.protobuf.Value`: number 2, text 3, boolean 4. Null (1), structures (5) and lists (6) are not valid for a
/// hyper-parameter.
fn value(message: &[u8]) -> Result<HparamValue, WireError> {
    let mut value = HparamValue::Null;
    for field in Fields::of(message) {
        match field? {
            (1, Value::Varint(_)) => value = HparamValue::Null,
            (2, Value::Fixed64(bits)) => value = HparamValue::Number(f64::from_bits(bits)),
            (3, Value::Bytes(bytes)) => value = HparamValue::Text(text(bytes)),
            (4, Value::Varint(number)) => value = HparamValue::Bool(number != 0),
            _ => {}
        }
    }
    Ok(value)
}
