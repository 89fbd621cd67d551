//! Facts about the recording, from the keys before and after the events.

use serde::Deserialize;
use serde_json::Value as Json;

use super::cursor::{Value, signed, unsigned};
use crate::trace::{Device, ProcessGroup, TraceFormat, TraceHead};

/// Keys of Kineto's files that are flags, with the names of their options.
const OPTIONS: [(&[u8], &str); 5] = [
    (b"record_shapes", "shapes"),
    (b"profile_memory", "memory"),
    (b"with_stack", "stacks"),
    (b"with_modules", "modules"),
    (b"with_flops", "FLOPs"),
];

/// Other keys that only Kineto writes.
const KINETO_KEYS: [&[u8]; 4] = [
    b"baseTimeNanoseconds",
    b"deviceProperties",
    b"distributedInfo",
    b"trace_id",
];

/// `true` for keys that only Kineto writes.
pub(super) fn is_of_kineto(key: &[u8]) -> bool {
    KINETO_KEYS.contains(&key) || OPTIONS.iter().any(|(option, _)| *option == key)
}

/// The key under which `VizTracer` has its clock.
const VIZTRACER: &[u8] = b"viztracer_metadata";

/// `true` for keys whose value is read; the values of all others are skipped.
pub(super) fn is_wanted(key: &[u8]) -> bool {
    is_of_kineto(key) || key == b"host_name" || key == VIZTRACER
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Properties {
    #[serde(default)]
    id: u32,
    #[serde(default)]
    name: String,
    #[serde(default)]
    total_global_mem: u64,
    #[serde(default)]
    compute_major: u32,
    #[serde(default)]
    num_sms: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct VizTracer {
    base_time_nanoseconds: Option<i64>,
}

#[derive(Deserialize)]
struct DistributedInfo {
    rank: Option<u32>,
    world_size: Option<u32>,
    #[serde(default)]
    pg_config: Json,
}

/// Maximum number of process groups that are kept.
const MAX_GROUPS: usize = 10_000;

/// Process groups of `distributedInfo`; those without a name are left out.
fn process_groups(config: &Json) -> Vec<ProcessGroup> {
    let text = |group: &Json, key: &str| match group.get(key) {
        Some(Json::String(text)) => text.clone(),
        Some(Json::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    let groups = config.as_array().into_iter().flatten().map(|group| {
        let description = text(group, "pg_desc");
        ProcessGroup {
            name: text(group, "pg_name"),
            // Torch writes this word without a description.
            description: Some(description)
                .filter(|text| text != "undefined")
                .unwrap_or_default(),
        }
    });
    let named = groups.filter(|group| !group.name.is_empty());
    named.take(MAX_GROUPS).collect()
}

/// Takes the value of a key; `false` if it cannot be read.
pub(super) fn take(head: &mut TraceHead, key: &[u8], value: Value<'_>) -> bool {
    if is_of_kineto(key) {
        head.format = TraceFormat::Kineto;
    }
    match key {
        b"baseTimeNanoseconds" => {
            let Some(base) = signed(value.raw()) else {
                return false;
            };
            // Versions that do not know it write 0.
            head.unix_offset_nanos = (base != 0).then_some(base);
        }
        b"deviceProperties" => {
            let Ok(devices) = serde_json::from_slice::<Vec<Properties>>(value.raw()) else {
                return false;
            };
            head.devices = devices
                .into_iter()
                .map(|device| Device {
                    id: device.id,
                    name: device.name,
                    memory_len: device.total_global_mem,
                    compute_major: device.compute_major,
                    multiprocessors: device.num_sms,
                })
                .collect();
        }
        b"distributedInfo" => {
            let Ok(info) = serde_json::from_slice::<DistributedInfo>(value.raw()) else {
                return false;
            };
            head.rank = info.rank;
            head.world_size = info.world_size;
            head.process_groups = process_groups(&info.pg_config);
        }
        VIZTRACER => {
            let Ok(viztracer) = serde_json::from_slice::<VizTracer>(value.raw()) else {
                return false;
            };
            // Versions before 1.0 have none.
            head.unix_offset_nanos = viztracer.base_time_nanoseconds.filter(|base| *base != 0);
        }
        b"host_name" => head.host = Some(value.text().into_owned()),
        _ => {
            let option = OPTIONS.iter().find(|(option, _)| *option == key);
            let is_on =
                unsigned(value.raw()).is_some_and(|flag| flag > 0) || value.raw() == b"true";
            if let Some((_, option)) = option
                && is_on
                && !head.options.iter().any(|known| known == option)
            {
                head.options.push((*option).to_owned());
            }
        }
    }
    true
}
