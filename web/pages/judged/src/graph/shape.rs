//! Short texts of tensor types and node names; places and kinds of boxes.

use trainscope_api::graphs::{BoxKind, GraphBox};
use trainscope_format::graph::{Dimension, TensorType};

/// `64×8×128 f16`; unknown sizes and types are left out.
pub(super) fn shape(tensor: &TensorType) -> String {
    let sizes = tensor.shape.as_ref().map(|shape| {
        let sizes = shape.iter().map(|size| match size {
            Dimension::Size(size) => size.to_string(),
            Dimension::Symbol(name) => name.clone(),
        });
        sizes.collect::<Vec<_>>().join("×")
    });
    let sizes = sizes.unwrap_or_default();
    match (sizes.is_empty(), tensor.dtype.is_empty()) {
        (false, false) => format!("{sizes} {}", tensor.dtype),
        (true, _) => tensor.dtype.clone(),
        (false, true) => sizes,
    }
}

/// The last two parts of a name, which tell it apart from most others.
pub(super) fn short(name: &str) -> &str {
    let from = name.rmatch_indices('/').nth(1).map_or(0, |(at, _)| at + 1);
    &name[from..]
}

/// Open scopes without their enclosing scopes, which are open too: a short list for the address.
pub(super) fn innermost(open: &[String]) -> Vec<String> {
    let is_around = |path: &str| {
        let inside = format!("{path}/");
        open.iter().any(|other| other.starts_with(&inside))
    };
    let inner = open.iter().filter(|path| !is_around(path));
    inner.cloned().collect()
}

/// Paths from an address with their enclosing scopes, without duplicates.
pub(super) fn with_scopes_around(paths: &[String]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for path in paths {
        let around = path.match_indices('/').map(|(at, _)| &path[..at]);
        for scope in around.chain([&**path]) {
            if !scope.is_empty() && !all.iter().any(|known| known == scope) {
                all.push(scope.to_owned());
            }
        }
    }
    all
}

/// Left, top, width and height of a box, in units of the picture.
pub(super) fn place(graph_box: &GraphBox) -> [f64; 4] {
    [graph_box.x, graph_box.y, graph_box.w, graph_box.h].map(f64::from)
}

/// `true` for boxes that hold others.
pub(super) fn is_scope(graph_box: &GraphBox) -> bool {
    matches!(graph_box.kind, BoxKind::Scope | BoxKind::Fold)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_names_the_innermost_open_scopes_alone() {
        let list = |paths: &[&str]| {
            paths
                .iter()
                .map(|path| (*path).to_owned())
                .collect::<Vec<_>>()
        };
        let open = list(&["net", "net/body", "net/body/0", "net/body/1", "loss"]);
        let short = innermost(&open);
        assert_eq!(short, ["net/body/0", "net/body/1", "loss"]);
        let again = with_scopes_around(&short);
        assert_eq!(
            again,
            ["net", "net/body", "net/body/0", "net/body/1", "loss"]
        );
        // Addresses that name every scope, or none, keep their meaning.
        assert_eq!(with_scopes_around(&open), open);
        assert_eq!(with_scopes_around(&list(&["/"])), ["/"]);
    }

    #[test]
    fn names_are_cut_in_front() {
        assert_eq!(
            short("Default/body/0-Dense/MatMul-op0"),
            "0-Dense/MatMul-op0"
        );
        assert_eq!(
            (short("body/MatMul"), short("MatMul")),
            ("body/MatMul", "MatMul")
        );
    }

    #[test]
    fn what_is_known_is_said() {
        let of = |dtype: &str, shape: Option<Vec<Dimension>>| {
            super::shape(&TensorType {
                dtype: dtype.to_owned(),
                shape,
            })
        };
        let sizes = vec![Dimension::Symbol("N".to_owned()), Dimension::Size(3)];
        assert_eq!(of("f16", Some(sizes.clone())), "N×3 f16");
        assert_eq!(of("", Some(sizes)), "N×3");
        assert_eq!(of("f32", None), "f32");
        assert_eq!(of("f32", Some(Vec::new())), "f32");
    }
}
