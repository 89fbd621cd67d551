//! FLOPs by scope as a tree of shares.

use std::collections::BTreeMap;

use trainscope_api::profile::OperatorRow;
use trainscope_charts::profile::Shade;

use super::super::parts::share_row;
use trainscope_web_kit::format;
use trainscope_web_kit::i18n::use_i18n;
use trainscope_web_kit::prelude::*;

/// Maximum number of rows.
const LISTED: usize = 60;
/// Scopes with a smaller share are left out.
const MIN_SHARE: f64 = 0.005;

/// A scope, including its inner scopes.
#[derive(Clone, Debug, Default, PartialEq)]
struct Node {
    /// Parts of the scope below the parent's row, joined by `/`.
    name: String,
    depth: usize,
    flops: u64,
}

/// The tree; nothing without FLOPs.
pub(super) fn flops_tree(rows: &[OperatorRow], steps: u64) -> Option<AnyView> {
    let texts = use_i18n().texts().profile();
    let nodes = tree(rows);
    let all: u64 = rows
        .iter()
        .fold(0, |sum, row| sum.saturating_add(row.flops));
    if nodes.is_empty() {
        return None;
    }
    let rows = nodes.into_iter().map(|node| {
        let part = node.flops as f64 / all.max(1) as f64;
        let each = node.flops as f64 / steps.max(1) as f64;
        let name = if node.name.is_empty() {
            texts.no_scope
        } else {
            &node.name
        };
        let name = format!("{}{name}", "\u{2003}".repeat(node.depth));
        let shade = Shade::Time(0);
        share_row(
            &name,
            shade,
            part,
            [format::number(each, 3), format::percent(part)],
            None,
            None,
        )
    });
    Some(
        view! {
            <h3 class="micro ink3">{texts.flops_by_scope}</h3>
            <ul class="flops">{rows.collect::<Vec<_>>()}</ul>
        }
        .into_any(),
    )
}

/// Scopes in depth-first order, siblings by FLOPs descending. A scope with a single inner scope and no other FLOPs
/// shares a row with it.
fn tree(rows: &[OperatorRow]) -> Vec<Node> {
    let mut sums: BTreeMap<Vec<&str>, u64> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.flops > 0) {
        let parts: Vec<&str> = row.name.split('/').collect();
        for end in 1..=parts.len() {
            let sum = sums.entry(parts[..end].to_vec()).or_default();
            *sum = sum.saturating_add(row.flops);
        }
    }
    let roots = sums.iter().filter(|(parts, _)| parts.len() == 1);
    let all = roots.map(|(_, flops)| *flops).fold(0, u64::saturating_add);
    let mut nodes = Vec::new();
    // Scopes without a row yet, the next one last.
    let mut open = children(&sums, &[], 0);
    while let Some((mut parts, depth)) = open.pop() {
        let flops = sums.get(&parts).copied().unwrap_or(0);
        if (flops as f64) < all as f64 * MIN_SHARE || nodes.len() == LISTED {
            continue;
        }
        let from = parts.len() - 1;
        let mut within = children(&sums, &parts, depth + 1);
        while let [(only, _)] = &within[..]
            && sums.get(only) == Some(&flops)
        {
            parts.clone_from(only);
            within = children(&sums, &parts, depth + 1);
        }
        nodes.push(Node {
            name: parts[from..].join("/"),
            depth,
            flops,
        });
        open.extend(within);
    }
    nodes
}

/// Scopes directly within another one, by FLOPs ascending.
fn children<'a>(
    sums: &BTreeMap<Vec<&'a str>, u64>,
    parts: &[&'a str],
    depth: usize,
) -> Vec<(Vec<&'a str>, usize)> {
    let below = sums.range(parts.to_vec()..);
    let below = below.take_while(|(scope, _)| scope.starts_with(parts));
    let below = below.filter(|(scope, _)| scope.len() == parts.len() + 1);
    let mut below: Vec<_> = below.collect();
    below.sort_by_key(|(_, flops)| **flops);
    let below = below.into_iter();
    below.map(|(scope, _)| (scope.clone(), depth)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_hold_what_is_within_them() {
        let row = |name: &str, flops| OperatorRow {
            name: name.to_owned(),
            flops,
            ..OperatorRow::default()
        };
        let rows = [
            row("net/encoder/a", 300),
            row("net/encoder/b", 500),
            row("net/decoder", 100),
            row("", 100),
            row("net/head", 0),
        ];
        let found = tree(&rows);
        let found: Vec<(&str, usize, u64)> = found
            .iter()
            .map(|node| (node.name.as_str(), node.depth, node.flops))
            .collect();
        assert_eq!(
            found,
            [
                ("net", 0, 900),
                ("encoder", 1, 800),
                ("b", 2, 500),
                ("a", 2, 300),
                ("decoder", 1, 100),
                ("", 0, 100),
            ]
        );
        let chain = tree(&[row("a/b/c", 3), row("a/b", 1)]);
        let names: Vec<&str> = chain.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["a/b", "c"]);
        assert!(tree(&[row("a", 0)]).is_empty());
    }
}
