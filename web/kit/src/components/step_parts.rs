//! The parts of a mean step of a profile as a bar: in the list of runs and on the overview.

use trainscope_api::runs::RunProfile;

use crate::format;
use crate::i18n::Texts;
use crate::prelude::*;

/// Colours of the kinds of time, in the order of [`Parts::kinds`](trainscope_api::profile::Parts::kinds).
pub const KIND_TOKENS: [&str; 6] = ["compute", "comm", "memcpy", "data", "host", "idle"];

/// Kinds of time in a mean step: colour, name, nanoseconds.
pub fn kinds_of_step(
    profile: &RunProfile,
    texts: Texts,
) -> impl Iterator<Item = (&'static str, &'static str, i64)> + use<> {
    let names = texts.parts().kinds[usize::from(!profile.has_device)];
    let kinds = profile.mean_parts_nanos.kinds(profile.has_device);
    let all = KIND_TOKENS.into_iter().zip(names).zip(kinds);
    all.filter(|(_, nanos)| *nanos > 0)
        .map(|((token, name), nanos)| (token, name, nanos))
}

/// The mean step in words: `A step takes 212 ms, mean of 40 steps.`
pub fn mean_step(profile: &RunProfile, texts: Texts) -> Option<String> {
    let nanos = profile.mean_step_nanos.unsigned_abs();
    (nanos > 0).then(|| (texts.parts().mean_step)(&format::nanos(nanos), profile.steps))
}

/// The bar; `None` without a whole step.
pub fn step_parts(profile: &RunProfile, texts: Texts) -> Option<AnyView> {
    let said = mean_step(profile, texts)?;
    let kinds = kinds_of_step(profile, texts);
    let named: Vec<String> = kinds
        .map(|(_, name, nanos)| format!("{name} {}", format::nanos(nanos.unsigned_abs())))
        .collect();
    let label = format!("{said} {}", named.join(", "));
    let bars = kinds_of_step(profile, texts)
        .map(|(token, _, nanos)| {
            view! { <i style:flex-grow=nanos.to_string() style:background=format!("var(--k-{token})")></i> }
        })
        .collect_view();
    Some(
        view! {
            <span class="step-parts" role="img" title=label.clone() aria-label=label data-part="step-parts">
                {bars}
            </span>
        }
        .into_any(),
    )
}
