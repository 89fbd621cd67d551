//! Arithmetic on weights: lists of parameters as one vector, in double precision.

/// Weights: the values of each parameter.
pub(super) type Weights = Vec<Vec<f32>>;

/// Scalar product of the differences of two vectors from a third.
pub(super) fn product_from(one: &Weights, other: &Weights, from: &Weights) -> f64 {
    let parameters = one.iter().zip(other).zip(from);
    let values = parameters.flat_map(|((one, other), from)| one.iter().zip(other).zip(from));
    values
        .map(|((one, other), from)| {
            let from = f64::from(*from);
            (f64::from(*one) - from) * (f64::from(*other) - from)
        })
        .sum()
}

/// Scalar product of a difference of two vectors and a third.
pub(super) fn product_along(one: &Weights, from: &Weights, direction: &Weights) -> f64 {
    let parameters = one.iter().zip(from).zip(direction);
    let values = parameters.flat_map(|((one, from), along)| one.iter().zip(from).zip(along));
    values
        .map(|((one, from), along)| (f64::from(*one) - f64::from(*from)) * f64::from(*along))
        .sum()
}

pub(super) fn product(one: &Weights, other: &Weights) -> f64 {
    let values = one.iter().flatten().zip(other.iter().flatten());
    values
        .map(|(one, other)| f64::from(*one) * f64::from(*other))
        .sum()
}

/// Adds a multiple of a vector.
#[expect(
    clippy::cast_possible_truncation,
    reason = "weights are of single precision"
)]
pub(super) fn add(to: &mut Weights, part: f64, of: &Weights) {
    let values = to.iter_mut().flatten().zip(of.iter().flatten());
    for (to, of) in values {
        *to = (f64::from(*to) + part * f64::from(*of)) as f32;
    }
}

/// Adds a multiple of the difference of two vectors.
#[expect(
    clippy::cast_possible_truncation,
    reason = "weights are of single precision"
)]
pub(super) fn add_difference(to: &mut Weights, part: f64, (of, from): (&Weights, &Weights)) {
    let values = to.iter_mut().flatten().zip(of.iter().flatten());
    for ((to, of), from) in values.zip(from.iter().flatten()) {
        *to = (f64::from(*to) + part * (f64::from(*of) - f64::from(*from))) as f32;
    }
}

/// Gives a vector the length 1; `false` if its length is 0 or not finite.
pub(super) fn unit(vector: &mut Weights) -> bool {
    let length = product(vector, vector).sqrt();
    scale(vector.iter_mut().flatten(), 1.0 / length);
    length > 0.0 && length.is_finite()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "weights are of single precision"
)]
pub(super) fn scale<'a>(values: impl Iterator<Item = &'a mut f32>, factor: f64) {
    for value in values {
        *value = (f64::from(*value) * factor) as f32;
    }
}

/// Gives each filter of a direction the length of that filter of the weights. Parameters of one axis or none (biases,
/// normalisation layers) get no direction. Li et al. 2018, "Visualizing the Loss Landscape of Neural Nets", section 4.
pub(super) fn by_filters(direction: &mut Weights, weights: &Weights, shapes: &[Vec<usize>]) {
    for ((direction, weights), shape) in direction.iter_mut().zip(weights).zip(shapes) {
        let filter: usize = shape.iter().skip(1).product();
        if shape.len() < 2 || filter == 0 {
            direction.fill(0.0);
            continue;
        }
        let filters = direction.chunks_mut(filter).zip(weights.chunks(filter));
        for (direction, weights) in filters {
            let length = |values: &[f32]| {
                let squares = values.iter().map(|value| f64::from(*value).powi(2));
                squares.sum::<f64>().sqrt()
            };
            let norm = length(direction);
            let factor = if norm > 0.0 {
                length(weights) / norm
            } else {
                0.0
            };
            scale(direction.iter_mut(), factor);
        }
    }
}
