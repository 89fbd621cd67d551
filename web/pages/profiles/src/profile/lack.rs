//! A line about data missing from a profile, with the code that records it if the profiler can.

use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

/// Kinds of missing data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lack {
    Device,
    Shapes,
    Stacks,
    Memory,
    Ranks,
}

impl Lack {
    /// In the order of their texts.
    #[cfg(test)]
    const ALL: [Self; 5] = [
        Self::Device,
        Self::Shapes,
        Self::Stacks,
        Self::Memory,
        Self::Ranks,
    ];

    /// Code that records the data; `None` if the profiler of the format cannot.
    const fn code(self, format: Format) -> Option<&'static str> {
        Some(match (format, self) {
            (Format::Kineto, Self::Device) => {
                "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"
            }
            (Format::Kineto, Self::Shapes) => "record_shapes=True",
            (Format::Kineto, Self::Stacks) => "with_stack=True, with_modules=True",
            (Format::Kineto | Format::Mindspore, Self::Memory) => "profile_memory=True",
            (Format::Kineto, Self::Ranks) => {
                "on_trace_ready=tensorboard_trace_handler(folder, worker_name=f\"rank{rank}\")"
            }
            (Format::Mindspore, Self::Device) => "mindspore.set_context(device_target=\"Ascend\")",
            (Format::Mindspore, Self::Stacks) => "with_stack=True",
            (Format::Mindspore, Self::Ranks) => {
                "mindspore.Profiler(output_path=f\"{folder}/rank_{rank}\")"
            }
            (Format::Spans, Self::Device) => "collector.lane(\"stream 0\", LaneKind::Stream)",
            (Format::Spans, Self::Ranks) => "builder.rank(rank, world_size)",
            (Format::Xplane, Self::Ranks) => "jax.profiler.trace(f\"{folder}/rank_{rank}\")",
            _ => return None,
        })
    }
}

/// Formats whose writers can record more.
#[derive(Clone, Copy)]
enum Format {
    Kineto,
    Mindspore,
    Spans,
    Xplane,
    Other,
}

impl Format {
    /// The format of a name of the API.
    fn of_name(name: &str) -> Self {
        match name {
            "kineto" => Self::Kineto,
            "mindspore" => Self::Mindspore,
            "spans" => Self::Spans,
            "xplane" => Self::Xplane,
            _ => Self::Other,
        }
    }
}

/// The line, for a profile of a format.
pub(super) fn missing(lack: Lack, format: &str) -> AnyView {
    let texts = use_i18n().texts().profile();
    let text = texts.lacks[lack as usize];
    let code = lack.code(Format::of_name(format)).map(|code| {
        view! {
            " "
            {texts.to_record}
            " "
            <code>{code}</code>
        }
    });
    view! { <p class="small ink2 missing">{text} {code}</p> }.into_any()
}

#[cfg(test)]
mod tests {
    use super::*;
    use trainscope_web_kit::i18n::Locale;

    #[test]
    fn each_writer_is_asked_in_its_own_words() {
        let code = |lack: Lack, name| lack.code(Format::of_name(name));
        for lack in Lack::ALL {
            assert!(code(lack, "kineto").is_some(), "{lack:?}");
            assert_eq!(code(lack, "chrome"), None, "{lack:?}");
            for name in ["mindspore", "spans", "xplane"] {
                let found = code(lack, name);
                assert!(
                    found.is_none_or(|code| !code.contains("Activity")),
                    "{found:?}"
                );
            }
        }
        for locale in [Locale::En, Locale::Zh] {
            let texts = locale.texts();
            assert_eq!(texts.profile().lacks.len(), Lack::ALL.len());
            assert!(texts.profile().lacks.iter().all(|text| !text.is_empty()));
        }
    }
}
