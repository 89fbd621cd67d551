//! Icons: 16 × 16, lines of 1.5 px in the colour of the text.

use crate::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum IconName {
    Brand,
    Runs,
    Overview,
    Scalars,
    Histograms,
    Images,
    Tensors,
    Text,
    PrCurves,
    Graph,
    Pipeline,
    Compare,
    Lineage,
    Profile,
    Debugger,
    Audio,
    Landscape,
    Explain,
    Help,
    Search,
    Sun,
    Moon,
    Down,
    Right,
    Left,
    Up,
    Arrow,
    Close,
    Tick,
    Plus,
    Minus,
    Pin,
    Full,
    More,
    Filter,
    Columns,
    Download,
    Wand,
    Pause,
    Play,
    Stop,
    Copy,
    Hide,
    Recheck,
    Fit,
    Path,
    Sliders,
    Only,
    Baseline,
    Clock,
    File,
    Folder,
    Tag,
    Error,
    Warning,
    Info,
    Ok,
    Gone,
}

impl IconName {
    /// Content of the SVG: constant markup of this file, never external text.
    const fn paths(self) -> &'static str {
        match self {
            Self::Brand => {
                r#"<path d="M1.5 12.5 5 6l3 4 2.5-7 4 9.5" stroke-width="1.75"/><circle cx="10.5" cy="3" r="1.6" fill="currentColor" stroke="none"/>"#
            }
            Self::Runs => r#"<path d="M2 4h2M2 8h2M2 12h2M6.5 4H14M6.5 8H14M6.5 12H14"/>"#,
            Self::Overview => {
                r#"<rect x="2" y="2" width="5" height="6.5" rx="1"/><rect x="9" y="2" width="5" height="3.5" rx="1"/><rect x="2" y="11" width="5" height="3" rx="1"/><rect x="9" y="8" width="5" height="6" rx="1"/>"#
            }
            Self::Scalars => r#"<path d="M2 2v12h12"/><path d="M4.5 4.5C6 10 8 11 14 11.5"/>"#,
            Self::PrCurves => r#"<path d="M2 2v12h12"/><path d="M4.5 4.5H8c3 0 4.5 2.5 4.5 7"/>"#,
            Self::Histograms => r#"<path d="M2 14h12M3.5 14v-3M6.5 14V6M9.5 14V3.5M12.5 14V9"/>"#,
            Self::Images => {
                r#"<rect x="2" y="3" width="12" height="10" rx="1.5"/><circle cx="5.6" cy="6.4" r="1.1"/><path d="m2.5 12 4-3.6 2.4 2 2.2-1.8 2.6 2.4"/>"#
            }
            Self::Tensors => {
                r#"<rect x="2" y="2" width="12" height="12" rx="1.5"/><path d="M6 2v12M10 2v12M2 6h12M2 10h12"/>"#
            }
            Self::Text => r#"<path d="M3 3h10M8 3v10M5.5 13h5"/>"#,
            Self::Graph => {
                r#"<circle cx="8" cy="3" r="1.7"/><circle cx="3.5" cy="8.5" r="1.7"/><circle cx="12.5" cy="8.5" r="1.7"/><circle cx="8" cy="13.4" r="1.7"/><path d="M7 4.4 4.5 7.1M9 4.4l2.5 2.7M4.4 10l2.6 2.2M11.6 10 9 12.2"/>"#
            }
            Self::Pipeline => {
                r#"<rect x="1.5" y="5.5" width="4" height="5" rx="1"/><rect x="10.5" y="5.5" width="4" height="5" rx="1"/><path d="M5.5 8h5M8.7 6.2 10.4 8 8.7 9.8"/>"#
            }
            Self::Compare => r#"<path d="M2 11c3 0 4-6 7-6 2 0 3 1 5 1M2 13c4 0 6-3 12-3"/>"#,
            Self::Lineage => {
                r#"<path d="M3 2v12M8 2v12M13 2v12M3 5l5 5 5-6M3 11l5-6 5 6" stroke-width="1.25"/>"#
            }
            Self::Profile => r#"<path d="M2 3.5h7M5 7h8M3.5 10.5h5M8 14h6"/>"#,
            Self::Debugger => {
                r#"<circle cx="8" cy="8" r="5.2"/><circle cx="8" cy="8" r="1.6"/><path d="M8 1v3M8 12v3M1 8h3M12 8h3"/>"#
            }
            Self::Audio => r#"<path d="M2.5 6.5v3M5.25 4v8M8 2v12M10.75 4.5v7M13.5 6.5v3"/>"#,
            Self::Landscape => {
                r#"<path d="M1.5 12.5c2.5 0 3-8 5.5-8s2 4.5 4 4.5 2-2.5 3.5-2.5M1.5 14.5h13"/>"#
            }
            Self::Explain => {
                r#"<path d="M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8z"/><circle cx="8" cy="8" r="1.8"/>"#
            }
            Self::Help => {
                r#"<circle cx="8" cy="8" r="6"/><path d="M6.2 6.3c0-1 .8-1.7 1.8-1.7s1.8.7 1.8 1.6c0 1.3-1.8 1.4-1.8 2.7M8 11.3v.2"/>"#
            }
            Self::Search => r#"<circle cx="7" cy="7" r="4.2"/><path d="m10.2 10.2 3.6 3.6"/>"#,
            Self::Sun => {
                r#"<circle cx="8" cy="8" r="2.8"/><path d="M8 1.5v1.7M8 12.8v1.7M1.5 8h1.7M12.8 8h1.7M3.4 3.4l1.2 1.2M11.4 11.4l1.2 1.2M12.6 3.4l-1.2 1.2M4.6 11.4l-1.2 1.2"/>"#
            }
            Self::Moon => r#"<path d="M13.5 9.8A6 6 0 0 1 6.2 2.5a6 6 0 1 0 7.3 7.3z"/>"#,
            Self::Path => {
                r#"<circle cx="3.5" cy="12.5" r="1.6"/><circle cx="12.5" cy="3.5" r="1.6"/><path d="M5 12.5h3.5v-9H11"/>"#
            }
            Self::Down => r#"<path d="m4 6 4 4 4-4"/>"#,
            Self::Right => r#"<path d="m6 4 4 4-4 4"/>"#,
            Self::Left => r#"<path d="m10 4-4 4 4 4"/>"#,
            Self::Up => r#"<path d="m4 10 4-4 4 4"/>"#,
            Self::Arrow => r#"<path d="M3 8h10M9.5 4.5 13 8l-3.5 3.5"/>"#,
            Self::Close => r#"<path d="m4 4 8 8M12 4l-8 8"/>"#,
            Self::Tick => r#"<path d="m3.5 8.5 3 3 6-7"/>"#,
            Self::Plus => r#"<path d="M8 3v10M3 8h10"/>"#,
            Self::Minus => r#"<path d="M3 8h10"/>"#,
            Self::Pin => r#"<path d="M6 2h4l-.5 4.5L12 9H4l2.5-2.5zM8 9v5"/>"#,
            Self::Full => r#"<path d="M9.5 2.5h4v4M6.5 13.5h-4v-4M13 3 9.5 6.5M3 13l3.5-3.5"/>"#,
            Self::More => r#"<path d="M3.2 8h.1M8 8h.1M12.8 8h.1" stroke-width="2.4"/>"#,
            Self::Filter => r#"<path d="M2 4h12M4.5 8h7M7 12h2"/>"#,
            Self::Columns => {
                r#"<rect x="2" y="3" width="12" height="10" rx="1"/><path d="M6 3v10M10 3v10"/>"#
            }
            Self::Download => r#"<path d="M8 2v8M4.5 7 8 10.5 11.5 7M2.5 13.5h11"/>"#,
            Self::Wand => {
                r#"<path d="m2.5 13.5 7-7M11.5 2v2.5M10.2 3.2h2.6M13.2 7v2M12.2 8h2M6 2.5v2M5 3.5h2"/>"#
            }
            Self::Pause => r#"<path d="M5.5 3v10M10.5 3v10" stroke-width="2"/>"#,
            Self::Play => r#"<path d="M4.5 2.8v10.4L13 8z"/>"#,
            Self::Stop => r#"<rect x="3.5" y="3.5" width="9" height="9" rx="1"/>"#,
            Self::Copy => {
                r#"<rect x="5.5" y="5.5" width="8" height="8" rx="1.2"/><path d="M10.5 5.5v-2a1 1 0 0 0-1-1h-6a1 1 0 0 0-1 1v6a1 1 0 0 0 1 1h2"/>"#
            }
            Self::Hide => {
                r#"<path d="M2 2l12 12M6.3 4A6 6 0 0 1 8 3.5c4 0 6.5 4.5 6.5 4.5a11 11 0 0 1-2 2.4M3.6 5.6A11 11 0 0 0 1.5 8S4 12.5 8 12.5c.9 0 1.7-.2 2.4-.5"/>"#
            }
            Self::Recheck => r#"<path d="M13.5 8A5.5 5.5 0 1 1 11.7 4M13.5 2v3h-3"/>"#,
            Self::Fit => r#"<path d="M2.5 5.5v-3h3M10.5 2.5h3v3M13.5 10.5v3h-3M5.5 13.5h-3v-3"/>"#,
            Self::Only => {
                r#"<circle cx="8" cy="8" r="5.5"/><circle cx="8" cy="8" r="2.2" fill="currentColor" stroke="none"/>"#
            }
            Self::Baseline => r#"<path d="M3 3v10M13.5 8H6M8.4 5.6 6 8l2.4 2.4"/>"#,
            Self::Sliders => {
                r#"<path d="M2 4.5h6M12 4.5h2M2 11.5h2M8 11.5h6"/><circle cx="10" cy="4.5" r="1.8"/><circle cx="6" cy="11.5" r="1.8"/>"#
            }
            Self::Clock => r#"<circle cx="8" cy="8" r="6"/><path d="M8 4.5V8l2.5 1.8"/>"#,
            Self::File => r#"<path d="M4 1.8h5L12.5 5.3V14.2H4zM9 1.8v3.7h3.5"/>"#,
            Self::Folder => r#"<path d="M1.8 12.8V3.2h4.4l1.6 2h6.4v7.6z"/>"#,
            Self::Tag => {
                r#"<path d="M2 2.5h5.5l6.5 6.3-5.2 5.2L2 7.5z"/><circle cx="5" cy="5.3" r=".6"/>"#
            }
            Self::Error => {
                r#"<path d="M5.3 1.5h5.4l3.8 3.8v5.4l-3.8 3.8H5.3l-3.8-3.8V5.3z" fill="currentColor" stroke="none"/><path d="M8 4.5v4.3M8 11.3v.1" stroke="var(--surface)" stroke-width="1.8"/>"#
            }
            Self::Warning => {
                r#"<path d="M8 1.8 15 14H1z" fill="currentColor" stroke="currentColor" stroke-width="1"/><path d="M8 6v4M8 12.1v.1" stroke="var(--surface)" stroke-width="1.6"/>"#
            }
            Self::Info => {
                r#"<circle cx="8" cy="8" r="6.5" fill="currentColor" stroke="none"/><path d="M8 7.5v4M8 4.7v.1" stroke="var(--surface)" stroke-width="1.8"/>"#
            }
            Self::Ok => r#"<circle cx="8" cy="8" r="6" /><path d="m5.2 8.3 2 2 3.7-4.3"/>"#,
            Self::Gone => r#"<circle cx="8" cy="8" r="5.5" stroke-dasharray="2 2.3"/>"#,
        }
    }
}

/// An icon, hidden from screen readers: its meaning is in the text next to it or in a label.
#[component]
pub fn Icon(
    /// Name; may change.
    #[prop(into)]
    name: Signal<IconName>,
    /// Width and height in pixels.
    #[prop(default = 16)]
    size: u32,
) -> impl IntoView {
    view! {
        <svg
            class="i"
            width=size
            height=size
            viewBox="0 0 16 16"
            fill="none"
            stroke="currentColor"
            stroke-width="1.5"
            stroke-linecap="round"
            stroke-linejoin="round"
            aria-hidden="true"
            inner_html=move || name.get().paths()
        ></svg>
    }
}

/// A constant icon without a signal, for lists with hundreds of them.
pub fn fixed_icon(name: IconName, size: u32) -> impl IntoView {
    view! {
        <svg
            class="i"
            width=size
            height=size
            viewBox="0 0 16 16"
            fill="none"
            stroke="currentColor"
            stroke-width="1.5"
            stroke-linecap="round"
            stroke-linejoin="round"
            aria-hidden="true"
            inner_html=name.paths()
        ></svg>
    }
}
