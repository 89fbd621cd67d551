//! Parts that several tabs share: heads of cards, names with their role, differences as text, downloads.

use serde::Serialize;
use trainscope_api::compare::{MapCell, MapGap};
use trainscope_api::table::CellValue;
use trainscope_format::Role;
use trainscope_format::hparams::HparamValue;

use super::model::use_model;
use trainscope_web_kit::components::download::download_rows;
use trainscope_web_kit::components::{IconButton, IconName};
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::{CompareTexts, use_i18n};
use trainscope_web_kit::prelude::*;

/// Significant digits of a difference.
const DIGITS: usize = 2;

/// Maximum length of a number that a setting shows in full, characters.
const SETTING_CHARS: usize = 10;
/// Significant digits of a longer number.
const SETTING_DIGITS: usize = 6;

pub(super) fn difference(value: f64) -> String {
    format::number(value, DIGITS)
}

/// Text of a cell.
pub(super) fn cell_text(cell: MapCell, texts: &CompareTexts) -> String {
    match cell {
        MapCell::Difference(value) => difference(value.0),
        MapCell::Other(gap) => texts.gaps[match gap {
            MapGap::Absent => 0,
            MapGap::Unread => 1,
            MapGap::OtherShape => 2,
            MapGap::Fault => 3,
        }]
        .to_owned(),
    }
}

/// Name of a tensor, with ∇ before gradients.
pub(super) fn named(name: &str, role: Option<Role>) -> String {
    if role == Some(Role::Gradient) {
        format!("∇ {name}")
    } else {
        name.to_owned()
    }
}

/// Text of a setting; long numbers are rounded.
pub(super) fn setting(value: Option<&HparamValue>, texts: &CompareTexts) -> String {
    match value {
        None | Some(HparamValue::Null) => texts.missing.to_owned(),
        Some(HparamValue::Number(stored)) => {
            let number = CellValue::of_single(*stored).number().unwrap_or(*stored);
            let exact = trainscope_format::digits::exact(number);
            // Results have all digits of their computation; the title shows them.
            if exact.len() > SETTING_CHARS {
                format::number(number, SETTING_DIGITS)
            } else {
                exact
            }
        }
        Some(HparamValue::Text(text)) => text.clone(),
        Some(HparamValue::Bool(yes)) => yes.to_string(),
    }
}

/// Head of a card: title, remark, and elements at the right.
pub(super) fn head(
    title: impl Fn() -> String + Send + 'static,
    beside: impl Fn() -> String + Send + 'static,
    right: AnyView,
) -> AnyView {
    view! {
        <div class="head">
            <h2>{title}</h2>
            <span class="micro ink3 cut">{beside}</span>
            <span class="grow"></span>
            {right}
        </div>
    }
    .into_any()
}

/// Sentence in place of an empty table.
pub(super) fn nothing(which: fn(&CompareTexts) -> &'static str) -> AnyView {
    let i18n = use_i18n();
    view! { <p class="small ink3 empty-part">{move || which(i18n.texts().compare())}</p> }
        .into_any()
}

/// Buttons that save rows as CSV and as JSON.
pub(super) fn downloads<T: Serialize + 'static>(
    name: &'static str,
    rows: impl Fn() -> Vec<T> + Clone + 'static,
) -> AnyView {
    let i18n = use_i18n();
    let model = use_model();
    let save = move |is_json: bool| {
        let base = untrack(|| model.base()).replace('/', "-");
        download_rows(untrack(&rows), &[], &format!("{base}-{name}"), is_json);
    };
    let (as_csv, as_json) = (save.clone(), save);
    let label = |kind: &'static str| {
        Signal::derive(move || format!("{} {kind}", i18n.texts().compare().download))
    };
    view! {
        <span class="flex gap4 hide-small">
            <IconButton icon=IconName::Download class="small-icon" label=label("CSV") on_press=move || as_csv(false) />
            <IconButton icon=IconName::File class="small-icon" label=label("JSON") on_press=move || as_json(true) />
        </span>
    }
    .into_any()
}
