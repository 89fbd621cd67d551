//! Types of tensors and names of nodes in few characters.

use trainscope_format::graph::{Dimension, TensorType};

/// `64×8×128 f16`; what is not known is left out.
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

#[cfg(test)]
mod tests {
    use super::*;

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
