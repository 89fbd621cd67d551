//! `/api/markdown`: recorded texts as nodes that a page can show: no markup, no scripts, nothing fetched from elsewhere.

use serde::{Deserialize, Serialize};

/// Nodes of one record at most.
pub const MAX_NODES: usize = 20_000;
/// How deep nodes may lie in each other.
pub const MAX_DEPTH: usize = 32;

/// A tensor of text, each item parsed as markdown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Markdown {
    /// Sizes, outermost first; none at all is a single text.
    pub shape: Vec<u64>,
    /// The texts as they were written, row by row, as far as they are sent.
    pub sources: Vec<String>,
    /// What they say.
    pub items: Vec<Vec<Node>>,
    /// Whether something was left out, because it was too much or lay too deep.
    pub cut: bool,
}

/// A part of a text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// Of text and code: what it says. Of a link: where it leads, `http`, `https` or `mailto` only; of a picture: its
    /// address, which nobody fetches.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// What lies in it, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(no_recursion))]
    pub children: Vec<Node>,
}

/// What a part of a text is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum NodeKind {
    /// Text.
    #[default]
    Text,
    /// A paragraph.
    Paragraph,
    /// A heading, first to sixth.
    H1,
    /// Second.
    H2,
    /// Third and below.
    H3,
    /// Bold.
    Strong,
    /// Slanted.
    Emphasis,
    /// Struck through.
    Strike,
    /// Code within a line.
    Code,
    /// Lines of code.
    Block,
    /// A quotation.
    Quote,
    /// A list with marks.
    List,
    /// A list with numbers.
    Numbers,
    /// An item of a list.
    Item,
    /// A table.
    Table,
    /// A row of one.
    Row,
    /// A cell of its head.
    Head,
    /// A cell.
    Cell,
    /// A link.
    Link,
    /// A picture that would have to be fetched.
    Picture,
    /// A line across.
    Rule,
    /// The end of a line.
    Break,
}
