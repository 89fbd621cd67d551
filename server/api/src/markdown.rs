//! `/api/markdown`: recorded texts parsed into nodes: no markup, no scripts, no remote content.

use serde::{Deserialize, Serialize};

/// Maximum number of nodes of one record.
pub const MAX_NODES: usize = 20_000;
/// Maximum nesting depth.
pub const MAX_DEPTH: usize = 32;

/// A tensor of text, each item parsed as markdown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Markdown {
    /// Shape, outermost first; empty for a single text.
    pub shape: Vec<u64>,
    /// Source texts in row-major order, those that are sent.
    pub sources: Vec<String>,
    /// Parsed nodes of each text.
    pub items: Vec<Vec<Node>>,
    /// `true` if something was left out because it was too long or nested too deeply.
    pub cut: bool,
}

/// A part of a text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Node {
    /// Kind of the node.
    pub kind: NodeKind,
    /// Content of text and code; target of a link, `http`, `https` or `mailto` only; URL of an image, which is never
    /// fetched.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Child nodes in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(no_recursion))]
    pub children: Vec<Node>,
}

/// Kind of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum NodeKind {
    /// Text.
    #[default]
    Text,
    /// A paragraph.
    Paragraph,
    /// A heading of the first level.
    H1,
    /// A heading of the second level.
    H2,
    /// A heading of the third level or below.
    H3,
    /// Bold.
    Strong,
    /// Italic.
    Emphasis,
    /// Strikethrough.
    Strike,
    /// Inline code.
    Code,
    /// A code block.
    Block,
    /// A quotation.
    Quote,
    /// A bulleted list.
    List,
    /// A numbered list.
    Numbers,
    /// An item of a list.
    Item,
    /// A table.
    Table,
    /// A table row.
    Row,
    /// A header cell.
    Head,
    /// A cell.
    Cell,
    /// A link.
    Link,
    /// An image that would have to be fetched.
    Picture,
    /// A horizontal rule.
    Rule,
    /// A line break.
    Break,
}
