//! Legend of the colours.

use super::model::use_model;
use trainscope_web_kit::components::{Colour, IconName, fixed_icon};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

#[component]
pub(super) fn Legend(
    /// Kinds that have a colour, in the order of the colours.
    #[prop(into)]
    kinds: Signal<Vec<String>>,
) -> impl IntoView {
    let model = use_model();
    let i18n = use_i18n();
    let swatch = |class: &str, text: String| {
        view! {
            <span>
                <i class=format!("sw {class}")></i>
                <span class="cut">{text}</span>
            </span>
        }
        .into_any()
    };
    let sign = |class: &'static str, icon: IconName, text: &'static str| {
        view! { <span class=class>{fixed_icon(icon, 12)} {text}</span> }.into_any()
    };
    let rows = move || {
        let texts = i18n.texts().graph();
        if model.diff.with(Option::is_some) {
            let [added, changed] = texts.differing;
            return vec![
                swatch("added", added.to_owned()),
                sign("warn", IconName::Warning, changed),
            ];
        }
        match model.colour() {
            Colour::Health => {
                let [error, warning, healthy, carries] = texts.health;
                let dash = view! {
                    <span>
                        <i class="dash-error"></i>
                        {carries}
                    </span>
                };
                vec![
                    sign("err", IconName::Error, error),
                    sign("warn", IconName::Warning, warning),
                    swatch("plain", healthy.to_owned()),
                    dash.into_any(),
                ]
            }
            Colour::Precision => {
                let [reduced, raised] = texts.precision;
                vec![
                    sign("warn", IconName::Warning, reduced),
                    swatch("added", raised.to_owned()),
                ]
            }
            Colour::Time => vec![swatch("time", texts.time_legend.to_owned())],
            Colour::Type | Colour::Device => {
                let kinds = kinds.get().into_iter().enumerate();
                kinds
                    .map(|(index, kind)| swatch(&format!("run-{}", index + 1), kind))
                    .collect()
            }
        }
    };
    view! { <div class="leg">{rows}</div> }
}
