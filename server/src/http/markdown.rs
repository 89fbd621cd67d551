//! `/api/markdown`: recorded texts, parsed here: the page never handles markup.

use axum::extract::State;
use axum::response::Response;
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag};
use trainscope_api::markdown::{MAX_DEPTH, MAX_NODES, Markdown, Node, NodeKind};
use trainscope_api::records::RecordsQuery;
use trainscope_format::{Body, Kind, Text};

use super::Site;
use super::error::Failure;
use super::records::list;
use super::request::Params;

/// Maximum number of texts of one record.
const MAX_ITEMS: usize = 2_000;

/// Texts of one tag, parsed as markdown
#[cfg_attr(test, utoipa::path(
    get, path = "/api/markdown", operation_id = "markdown", params(RecordsQuery),
    responses((status = 200, description = "Records of one tag", body = trainscope_api::records::Records<Markdown>))
))]
pub(super) async fn get(
    State(site): State<Site>,
    Params(query): Params<RecordsQuery>,
) -> Result<Response, Failure> {
    list(site, Kind::Text, query, |found| match found.body {
        Body::Text(text) => Ok(Some(parse(text))),
        _ => Ok(None),
    })
    .await
}

fn parse(text: Text) -> Markdown {
    let mut left = MAX_NODES;
    let mut cut = text.items.len() > MAX_ITEMS;
    let mut sources = text.items;
    sources.truncate(MAX_ITEMS);
    let items = sources.iter().map(|source| {
        let mut tree = Tree::new(&mut left);
        for event in Parser::new_ext(
            source,
            Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH,
        ) {
            tree.take(event);
        }
        let (nodes, is_cut) = tree.finish();
        cut |= is_cut;
        nodes
    });
    let items = items.collect();
    Markdown {
        shape: text.shape,
        sources,
        items,
        cut,
    }
}

/// Tree of open nodes.
struct Tree<'a> {
    left: &'a mut usize,
    open: Vec<Node>,
    /// Number of open nodes dropped for depth: their content goes to their parent.
    skipped: usize,
    done: Vec<Node>,
    in_head: bool,
    is_cut: bool,
}

impl<'a> Tree<'a> {
    fn new(left: &'a mut usize) -> Self {
        Self {
            left,
            open: Vec::new(),
            skipped: 0,
            done: Vec::new(),
            in_head: false,
            is_cut: false,
        }
    }

    fn put(&mut self, node: Node) {
        match self.open.last_mut() {
            Some(parent) => parent.children.push(node),
            None => self.done.push(node),
        }
    }

    fn leaf(&mut self, kind: NodeKind, text: &str) {
        if *self.left == 0 {
            self.is_cut = true;
            return;
        }
        *self.left -= 1;
        self.put(Node {
            kind,
            text: text.to_owned(),
            children: Vec::new(),
        });
    }

    fn start(&mut self, kind: NodeKind, text: &str) {
        if *self.left == 0 || self.open.len() >= MAX_DEPTH {
            self.is_cut = true;
            self.skipped += 1;
            return;
        }
        *self.left -= 1;
        self.open.push(Node {
            kind,
            text: text.to_owned(),
            children: Vec::new(),
        });
    }

    fn end(&mut self) {
        if self.skipped > 0 {
            self.skipped -= 1;
        } else if let Some(node) = self.open.pop() {
            self.put(node);
        }
    }

    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.open_tag(&tag),
            Event::End(end) => {
                self.in_head &= !matches!(end, pulldown_cmark::TagEnd::TableHead);
                self.end();
            }
            Event::Code(code) => self.leaf(NodeKind::Code, &code),
            Event::SoftBreak => self.leaf(NodeKind::Text, "\n"),
            Event::HardBreak => self.leaf(NodeKind::Break, ""),
            Event::Rule => self.leaf(NodeKind::Rule, ""),
            // Markup is plain text.
            Event::Text(text)
            | Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => self.leaf(NodeKind::Text, &text),
            Event::TaskListMarker(is_done) => {
                self.leaf(NodeKind::Text, if is_done { "☑ " } else { "☐ " });
            }
        }
    }

    fn open_tag(&mut self, tag: &Tag<'_>) {
        let (kind, text) = match tag {
            Tag::Heading { level, .. } => {
                let kind = match level {
                    HeadingLevel::H1 => NodeKind::H1,
                    HeadingLevel::H2 => NodeKind::H2,
                    _ => NodeKind::H3,
                };
                (kind, String::new())
            }
            Tag::BlockQuote(_) => (NodeKind::Quote, String::new()),
            Tag::CodeBlock(kind) => {
                let language = match kind {
                    CodeBlockKind::Fenced(language) => language.to_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                (NodeKind::Block, language)
            }
            Tag::List(None) => (NodeKind::List, String::new()),
            Tag::List(Some(_)) => (NodeKind::Numbers, String::new()),
            Tag::Item => (NodeKind::Item, String::new()),
            Tag::Table(_) => (NodeKind::Table, String::new()),
            Tag::TableHead => {
                self.in_head = true;
                (NodeKind::Row, String::new())
            }
            Tag::TableRow => (NodeKind::Row, String::new()),
            Tag::TableCell if self.in_head => (NodeKind::Head, String::new()),
            Tag::TableCell => (NodeKind::Cell, String::new()),
            Tag::Emphasis => (NodeKind::Emphasis, String::new()),
            Tag::Strong => (NodeKind::Strong, String::new()),
            Tag::Strikethrough => (NodeKind::Strike, String::new()),
            Tag::Link { dest_url, .. } => (NodeKind::Link, safe(dest_url)),
            Tag::Image { dest_url, .. } => (NodeKind::Picture, dest_url.to_string()),
            _ => (NodeKind::Paragraph, String::new()),
        };
        self.start(kind, &text);
    }

    fn finish(mut self) -> (Vec<Node>, bool) {
        while self.skipped > 0 || !self.open.is_empty() {
            self.end();
        }
        (self.done, self.is_cut)
    }
}

/// A URL that is safe to follow; empty for others, such as scripts and files.
fn safe(address: &str) -> String {
    let lower = address.trim().to_ascii_lowercase();
    let is_safe = ["http://", "https://", "mailto:"]
        .iter()
        .any(|scheme| lower.starts_with(scheme));
    if is_safe {
        address.trim().to_owned()
    } else {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(source: &str) -> Vec<Node> {
        let text = Text {
            shape: Vec::new(),
            items: vec![source.to_owned()],
        };
        parse(text).items.remove(0)
    }

    #[test]
    fn markup_is_text_and_scripts_are_no_links() {
        let out = nodes("<script>alert(1)</script>\n\n[a](javascript:alert(1)) [b](https://x.org)");
        let flat = format!("{out:?}");
        assert!(flat.contains("<script>"), "{flat}");
        assert!(!flat.contains("javascript"), "{flat}");
        assert!(flat.contains("https://x.org"), "{flat}");
    }

    #[test]
    fn tables_have_heads_and_cells() {
        let out = nodes("| a | b |\n|---|---|\n| 1 | 2 |");
        assert_eq!(out[0].kind, NodeKind::Table);
        assert_eq!(out[0].children[0].children[0].kind, NodeKind::Head);
        assert_eq!(out[0].children[1].children[1].kind, NodeKind::Cell);
    }

    #[test]
    fn what_is_deep_or_much_is_cut_and_said() {
        let deep = Text {
            shape: Vec::new(),
            items: vec!["> ".repeat(500) + "x", "a *b* ".repeat(20_000)],
        };
        let parsed = parse(deep);
        assert!(parsed.cut);
        let depth = |node: &Node| {
            let mut depth = 1;
            let mut node = node;
            while let Some(child) = node.children.first() {
                (node, depth) = (child, depth + 1);
            }
            depth
        };
        assert!(depth(&parsed.items[0][0]) <= MAX_DEPTH + 1);
    }
}
