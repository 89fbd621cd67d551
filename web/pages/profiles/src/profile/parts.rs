//! Parts shared by several views: the sentence on top, heads of cards, read-outs, shares as bars, downloads of tables.

use serde::Serialize;
use trainscope_charts::profile::Shade;
use trainscope_format::Severity;

use super::model::{css_of, swatch, use_model};
use trainscope_web_kit::client::ClientError;
use trainscope_web_kit::components::download::{download_rows, file_name};
use trainscope_web_kit::components::{
    IconName, MenuItem, Note, NoteKind, Popover, RowList, fixed_icon, severity_icon,
};
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

/// Meaning of the icon next to the sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// The severity of the worst finding.
    Found(Severity),
    /// No finding in sufficient data.
    Passed,
    /// No finding, for lack of data.
    Unjudged,
}

impl Standing {
    /// The worst finding; without one, `is_judged` decides.
    pub(super) fn new(worst: Option<Severity>, is_judged: bool) -> Self {
        match (worst, is_judged) {
            (Some(worst), _) => Self::Found(worst),
            (None, true) => Self::Passed,
            (None, false) => Self::Unjudged,
        }
    }
}

/// The sentence on top with its standing, the sentence below it, and a link at the right.
pub(super) fn verdict(
    standing: Standing,
    sentence: String,
    detail: String,
    link: Option<(String, String)>,
) -> AnyView {
    let ((class, icon), id) = match standing {
        Standing::Found(severity) => (severity_icon(severity), "found"),
        Standing::Passed => (("okc", IconName::Ok), "passed"),
        Standing::Unjudged => (("ink3", IconName::Info), "unjudged"),
    };
    let link = link.map(|(text, href)| {
        view! {
            <a class="btn hide-narrow" href=href>
                {fixed_icon(IconName::Profile, 14)}
                {text}
            </a>
        }
    });
    view! {
        <section class="verdict-head" data-standing=id>
            <span class=class>{fixed_icon(icon, 20)}</span>
            <div class="grow">
                <h1>{sentence}</h1>
                <p class="ink2">{detail}</p>
            </div>
            {link}
        </section>
    }
    .into_any()
}

/// Head of a card: title, a remark, and elements at the right.
pub(super) fn head(title: String, beside: String, right: AnyView) -> AnyView {
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

/// A table of many rows, of which only those in view exist; `columns` are the widths of its grid, `least` that of all.
pub(super) fn long_table(
    list: RowList,
    columns: Signal<String>,
    least: Signal<String>,
    heads: impl IntoView + 'static,
    rows: impl IntoView + 'static,
) -> AnyView {
    view! {
        <div class="optable" role="table" style:--cols=columns style:--least=least>
            <div class="r heads" role="row">
                {heads}
            </div>
            <div class="scroll" node_ref=list.holder on:scroll=move |_| list.follow()>
                <div
                    style:height=move || list.height()
                    style:padding-top=move || format!("{}px", list.range.get().above)
                >
                    {rows}
                </div>
            </div>
        </div>
    }
    .into_any()
}

/// A part of a line; a link if there is an address.
pub(super) fn linked(href: Option<String>, content: AnyView) -> AnyView {
    match href {
        Some(href) => view! { <a href=href>{content}</a> }.into_any(),
        None => view! { <span>{content}</span> }.into_any(),
    }
}

/// Rows of a read-out: colour, name and value below a title with a value.
pub(super) fn read_out(
    title: String,
    value: String,
    rows: Vec<(Option<Shade>, String, String)>,
) -> AnyView {
    let rows = rows.into_iter().map(|(shade, name, value)| {
        view! {
            <div class="row ink2">
                {shade.map(swatch)}
                {name}
                <b class="ink">{value}</b>
            </div>
        }
    });
    view! {
        <div class="row">
            <span class="bold">{title}</span>
            <b>{value}</b>
        </div>
        {rows.collect_view()}
    }
    .into_any()
}

/// A name, a bar of a share, and two values.
pub(super) fn share_row(
    name: &str,
    shade: Shade,
    part: f64,
    [value, beside]: [String; 2],
    href: Option<String>,
    title: Option<String>,
) -> AnyView {
    let width = format!("{:.1}%", part.clamp(0.0, 1.0) * 100.0);
    let title = title.unwrap_or_else(|| name.to_owned());
    let name = linked(href, name.to_owned().into_any());
    view! {
        <li class="share-row">
            <span class="cut" title=title>
                {name}
            </span>
            <span class="track">
                <i style:width=width style:--c=css_of(shade)></i>
            </span>
            <b class="num med">{value}</b>
            <span class="num ink3 micro">{beside}</span>
        </li>
    }
    .into_any()
}

/// A line with the server's reason for refusing a request of a view.
#[component]
pub(super) fn Refusal(error: RwSignal<Option<ClientError>>) -> impl IntoView {
    let i18n = use_i18n();
    move || {
        let Some(ClientError::Refused(error)) = error.get() else {
            return None;
        };
        Some(view! {
            <Note
                kind=NoteKind::Warning
                icon=IconName::Warning
                title=i18n.label(|t| t.profile().unread)
                next=Signal::stored(error.message)
            />
        })
    }
}

/// A menu that downloads rows as CSV or JSON. `columns` are fields of the rows, in the order of the file.
pub(super) fn downloads<T, F>(
    name: &'static str,
    columns: &'static [&'static str],
    rows: F,
) -> AnyView
where
    T: Serialize + 'static,
    F: Fn() -> Vec<T> + Clone + Send + Sync + 'static,
{
    let i18n = use_i18n();
    let model = use_model();
    let is_open = RwSignal::new(false);
    let save = move |is_json: bool| {
        is_open.set(false);
        let run = model.profiles.run.get_untracked();
        let name = format!("{}-{name}", file_name(&run));
        download_rows(rows(), columns, &name, is_json);
    };
    let children = move || {
        let (csv, json) = (save.clone(), save.clone());
        view! {
            <MenuItem
                icon=IconName::Download
                label=Signal::stored("CSV".to_owned())
                on_press=move || csv(false)
            />
            <MenuItem
                icon=IconName::Download
                label=Signal::stored("JSON".to_owned())
                on_press=move || json(true)
            />
        }
        .into_any()
    };
    view! {
        <Popover
            is_open
            label=i18n.label(|t| t.profile().download)
            class="btn bare icon small-icon"
            panel_class="popover narrow"
            role="menu"
            face=ViewFn::from(|| fixed_icon(IconName::Download, 14))
            children=leptos::children::ToChildren::to_children(children)
        />
    }
    .into_any()
}
