//! A plane through the weights of a model: origin, two directions, and the saved weights in it.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};
use trainscope_format::tensor::ContentHasher;

use super::vectors::{
    Weights, add, add_difference, by_filters, product, product_along, product_from, unit,
};
use super::{MAX_SNAPSHOTS, PlaneError, Snapshot, eigen};

/// Part of the largest eigenvalue, and of the squared lengths of both directions, below which two directions are one.
const ONE_LINE: f64 = 1e-12;
/// Default reach of random directions, in units of the directions.
const REACH: f64 = 1.0;

/// Length of the directions of a plane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Normalisation {
    /// Each filter of a direction is as long as that of the weights, so that models of different scales can be compared
    /// (Li et al. 2018). Parameters with one axis or none are not varied. Directions are not at right angles.
    Filter,
    /// Both directions have length 1 and are at right angles: distances in the plane are those of the weights.
    #[default]
    Orthonormal,
}

impl Normalisation {
    /// Name in the record.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Filter => "filter",
            Self::Orthonormal => "orthonormal",
        }
    }
}

/// A plane through the weights of a model.
///
/// ```
/// use trainscope_collector::{LandscapeGrid, Plane, Snapshot};
///
/// let saved = |step: i16, weights: [f32; 3]| Snapshot::new(step.into()).parameter(&[3], weights.to_vec());
/// let snapshots = [
///     saved(0, [4.0, 1.0, 0.5]),
///     saved(10, [2.0, -0.5, 0.5]),
///     saved(20, [0.0, 0.0, 0.5]),
/// ];
/// let plane = Plane::pca(&snapshots)?;
/// let grid = LandscapeGrid { size: 5, samples: 1 };
/// let landscape = plane.evaluate(grid, |weights| {
///     weights.iter().flatten().map(|weight| f64::from(weight * weight)).sum()
/// })?;
/// assert_eq!(landscape.intervals, [0, 10, 20]);
/// let share: f64 = landscape.variance.iter().sum();
/// assert!((share - 1.0).abs() < 1e-6, "three points are on a plane");
/// # Ok::<(), trainscope_collector::PlaneError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Plane {
    origin: Weights,
    directions: [Weights; 2],
    shapes: Vec<Vec<usize>>,
    steps: Vec<i64>,
    path: Vec<(f64, f64)>,
    variance: Vec<f64>,
    normalisation: Normalisation,
    decomposition: &'static str,
    reach: Option<f64>,
}

impl Plane {
    /// The plane of the two principal directions of the snapshots, through the last one. At least three snapshots that
    /// are not on one line.
    ///
    /// The directions come from the `m × m` matrix of the scalar products of `m` snapshots: time `m²` times the number
    /// of weights, memory two more copies of the weights.
    ///
    /// # Errors
    /// All of [`PlaneError`] but [`PlaneError::Size`].
    pub fn pca(snapshots: &[Snapshot]) -> Result<Self, PlaneError> {
        Self::pca_with(snapshots, Normalisation::Orthonormal)
    }

    /// The same with another length of the directions. With [`Normalisation::Filter`] the share of the variance is not
    /// recorded: the directions are no longer the principal ones.
    ///
    /// # Errors
    /// As [`Self::pca`].
    pub fn pca_with(
        snapshots: &[Snapshot],
        normalisation: Normalisation,
    ) -> Result<Self, PlaneError> {
        let count = snapshots.len();
        let last = snapshots.last().filter(|_| count >= 3);
        let last = last.ok_or(PlaneError::TooFew(count))?;
        check(snapshots, last)?;
        let products = centred(&products(snapshots, last), count);
        let pairs = eigen::symmetric(products, count);
        let whole: f64 = pairs.iter().map(|pair| pair.0.max(0.0)).sum();
        let [first, second, ..] = &pairs[..] else {
            return Err(PlaneError::TooFew(count));
        };
        let has_second = second.0 > first.0 * ONE_LINE;
        if !has_second {
            return Err(PlaneError::NoPlane);
        }
        let direction = |parts: &[f64]| {
            let mut direction = zeros(&last.values);
            for (part, snapshot) in parts.iter().zip(snapshots) {
                add_difference(&mut direction, *part, (&snapshot.values, &last.values));
            }
            direction
        };
        let directions = [direction(&first.1), direction(&second.1)];
        let variance = match normalisation {
            Normalisation::Filter => Vec::new(),
            Normalisation::Orthonormal => vec![first.0 / whole, second.0 / whole],
        };
        let mut plane = Self::new(last, directions, normalisation, "PCA")?;
        plane.variance = variance;
        let mut plane = plane.with_path(snapshots)?;
        plane.face();
        plane.path = plane.projected(snapshots)?;
        Ok(plane)
    }

    /// A plane of two random directions through the weights, with the length of each filter. The same seed gives the
    /// same directions. It reaches from −1 to 1 along both; [`Self::reach`] changes that.
    ///
    /// # Errors
    /// [`PlaneError::Shape`], [`PlaneError::NotFinite`], and [`PlaneError::NoPlane`] if all parameters have one axis or
    /// none, or only zeros.
    pub fn random(weights: &Snapshot, seed: u64) -> Result<Self, PlaneError> {
        Self::random_with(weights, seed, Normalisation::Filter)
    }

    /// The same with another length of the directions.
    ///
    /// # Errors
    /// As [`Self::random`].
    pub fn random_with(
        weights: &Snapshot,
        seed: u64,
        normalisation: Normalisation,
    ) -> Result<Self, PlaneError> {
        check(std::slice::from_ref(weights), weights)?;
        let mut random = Pcg64::seed_from_u64(seed);
        let mut direction = || {
            let mut direction = zeros(&weights.values);
            for value in direction.iter_mut().flatten() {
                *value = normal(&mut random);
            }
            direction
        };
        let directions = [direction(), direction()];
        let mut plane = Self::new(weights, directions, normalisation, "Random")?;
        plane.reach = Some(REACH);
        plane.with_path(std::slice::from_ref(weights))
    }

    /// Distance from the origin to each side of the recorded square, in units of the directions. Values that are not
    /// positive and finite change nothing.
    #[must_use]
    pub fn reach(mut self, reach: f64) -> Self {
        if reach > 0.0 && reach.is_finite() {
            self.reach = Some(reach);
        }
        self
    }

    /// The same plane with the path of another training of the same model, projected on it by least squares: pages show
    /// both together.
    ///
    /// # Errors
    /// Snapshots of another model, or with weights that are not finite.
    pub fn with_path(mut self, snapshots: &[Snapshot]) -> Result<Self, PlaneError> {
        for snapshot in snapshots {
            if snapshot.shapes != self.shapes {
                return Err(PlaneError::OtherModel {
                    step: snapshot.step,
                });
            }
            check(std::slice::from_ref(snapshot), snapshot)?;
        }
        self.path = self.projected(snapshots)?;
        self.steps = snapshots.iter().map(|snapshot| snapshot.step).collect();
        Ok(self)
    }

    fn new(
        weights: &Snapshot,
        mut directions: [Weights; 2],
        normalisation: Normalisation,
        decomposition: &'static str,
    ) -> Result<Self, PlaneError> {
        let [first, second] = &mut directions;
        match normalisation {
            Normalisation::Filter => {
                by_filters(first, &weights.values, &weights.shapes);
                by_filters(second, &weights.values, &weights.shapes);
            }
            Normalisation::Orthonormal => {
                let is_first = unit(first);
                let along = product(first, second);
                add(second, -along, first);
                if !is_first || !unit(second) {
                    return Err(PlaneError::NoPlane);
                }
            }
        }
        Ok(Self {
            origin: weights.values.clone(),
            directions,
            shapes: weights.shapes.clone(),
            steps: vec![weights.step],
            path: Vec::new(),
            variance: Vec::new(),
            normalisation,
            decomposition,
            reach: None,
        })
    }

    /// Coordinates of snapshots in the plane, by least squares.
    fn projected(&self, snapshots: &[Snapshot]) -> Result<Vec<(f64, f64)>, PlaneError> {
        let [first, second] = &self.directions;
        let (a, b, c) = (
            product(first, first),
            product(first, second),
            product(second, second),
        );
        let determinant = a * c - b * b;
        let is_plane = determinant > a * c * ONE_LINE;
        if !is_plane {
            return Err(PlaneError::NoPlane);
        }
        let points = snapshots.iter().map(|snapshot| {
            let along = |direction| product_along(&snapshot.values, &self.origin, direction);
            let (first, second) = (along(first), along(second));
            (
                (c * first - b * second) / determinant,
                (a * second - b * first) / determinant,
            )
        });
        Ok(points.collect())
    }

    /// Turns both directions so that the training comes from the left, and first goes below the origin's height: signs
    /// of eigenvectors are arbitrary.
    fn face(&mut self) {
        let first = self.path.first().copied().unwrap_or_default();
        for (direction, at) in self.directions.iter_mut().zip([first.0, first.1]) {
            if at > 0.0 {
                for value in direction.iter_mut().flatten() {
                    *value = -*value;
                }
            }
        }
    }

    /// The weights at a point of the plane.
    pub(super) fn weights_at(&self, x: f64, y: f64, weights: &mut Weights) {
        let [first, second] = &self.directions;
        let origin = self.origin.iter().flatten();
        let directions = first.iter().flatten().zip(second.iter().flatten());
        let values = weights.iter_mut().flatten().zip(origin.zip(directions));
        for (value, (origin, (first, second))) in values {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "weights are of single precision"
            )]
            let at = (f64::from(*origin) + x * f64::from(*first) + y * f64::from(*second)) as f32;
            *value = at;
        }
    }

    /// Identity of the plane: a hash of its origin and directions.
    pub fn id(&self) -> String {
        let mut hasher = ContentHasher::new();
        for weights in [&self.origin, &self.directions[0], &self.directions[1]] {
            for value in weights.iter().flatten() {
                hasher.write(&value.to_le_bytes());
            }
        }
        format!("{:016x}", hasher.finish())
    }

    /// Coordinates of the snapshots in the plane.
    pub fn path(&self) -> &[(f64, f64)] {
        &self.path
    }

    /// Steps of the snapshots.
    pub fn steps(&self) -> &[i64] {
        &self.steps
    }

    /// Share of the variance of the snapshots in each direction, 0 to 1; empty if it is not known.
    pub fn variance(&self) -> &[f64] {
        &self.variance
    }

    pub(super) fn origin(&self) -> &Weights {
        &self.origin
    }

    pub(super) fn normalisation(&self) -> Normalisation {
        self.normalisation
    }

    pub(super) fn decomposition(&self) -> &'static str {
        self.decomposition
    }

    pub(super) fn own_reach(&self) -> Option<f64> {
        self.reach
    }
}

/// Checks that all snapshots are of one model and finite.
fn check(snapshots: &[Snapshot], last: &Snapshot) -> Result<(), PlaneError> {
    if snapshots.len() > MAX_SNAPSHOTS {
        return Err(PlaneError::TooMany(snapshots.len()));
    }
    for snapshot in snapshots {
        let step = snapshot.step;
        if snapshot.shapes != last.shapes {
            return Err(PlaneError::OtherModel { step });
        }
        let parameters = snapshot.shapes.iter().zip(&snapshot.values);
        for (parameter, (shape, values)) in parameters.enumerate() {
            let len = shape
                .iter()
                .try_fold(1_usize, |len, size| len.checked_mul(*size));
            if len != Some(values.len()) {
                return Err(PlaneError::Shape {
                    step,
                    parameter,
                    len: values.len(),
                });
            }
        }
        if !snapshot
            .values
            .iter()
            .flatten()
            .all(|value| value.is_finite())
        {
            return Err(PlaneError::NotFinite { step });
        }
    }
    if last.is_empty() {
        return Err(PlaneError::NoPlane);
    }
    Ok(())
}

/// Scalar products of the differences from the last snapshot, row by row.
fn products(snapshots: &[Snapshot], last: &Snapshot) -> Vec<f64> {
    let count = snapshots.len();
    let mut products = vec![0.0; count * count];
    for (row, one) in snapshots.iter().enumerate() {
        for (column, other) in snapshots.iter().enumerate().take(row + 1) {
            let product = product_from(&one.values, &other.values, &last.values);
            products[row * count + column] = product;
            products[column * count + row] = product;
        }
    }
    products
}

/// Scalar products of the differences from the mean instead: each row and each column has the sum 0.
fn centred(products: &[f64], count: usize) -> Vec<f64> {
    let many = count.max(1) as f64;
    let rows: Vec<f64> = products
        .chunks(count.max(1))
        .map(|row| row.iter().sum::<f64>() / many)
        .collect();
    let mean = rows.iter().sum::<f64>() / many;
    let places = rows
        .iter()
        .flat_map(|row| rows.iter().map(move |column| row + column));
    let values = products.iter().zip(places);
    values
        .map(|(product, means)| product - means + mean)
        .collect()
}

fn zeros(like: &Weights) -> Weights {
    like.iter().map(|values| vec![0.0; values.len()]).collect()
}

/// A number with the normal distribution, by the polar method of Marsaglia.
fn normal(random: &mut Pcg64) -> f32 {
    // 53 random bits, −1 to 1.
    let mut unit = || (random.next_u64() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
    loop {
        let (x, y) = (unit(), unit());
        let square = x * x + y * y;
        if square > 0.0 && square < 1.0 {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "weights are of single precision"
            )]
            let normal = (x * (-2.0 * square.ln() / square).sqrt()) as f32;
            return normal;
        }
    }
}
