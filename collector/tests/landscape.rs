//! Loss landscapes: planes with known directions, losses with known surfaces, and input of any kind.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use trainscope_collector::{
    Collector, Landscape, LandscapeGrid, Normalisation, Plane, PlaneError, Snapshot,
};
use trainscope_format::{Body, Format, RecordBatch};

/// Two directions at right angles in nine dimensions, and a third one at right angles to both.
const FIRST: [f32; 9] = [0.6, 0.0, 0.8, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
const SECOND: [f32; 9] = [0.0, 0.0, 0.0, 0.0, 0.0, 0.28, 0.0, 0.96, 0.0];
const THIRD: [f32; 9] = [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];

/// The weights at coordinates along the three directions: a matrix of two filters and a bias.
fn weights(step: i64, [x, y, z]: [f32; 3]) -> Snapshot {
    let at = |index: usize| 1.0 + x * FIRST[index] + y * SECOND[index] + z * THIRD[index];
    let matrix = (0..6).map(at).collect();
    let bias = (6..9).map(at).collect();
    Snapshot::new(step)
        .parameter(&[2, 3], matrix)
        .parameter(&[3], bias)
}

/// A path with most of its variance along the first direction.
fn path() -> Vec<Snapshot> {
    vec![
        weights(0, [-8.0, 1.0, 0.1]),
        weights(10, [-5.0, -1.5, -0.1]),
        weights(20, [-2.0, 1.0, 0.1]),
        weights(30, [0.0, 0.0, 0.0]),
    ]
}

fn grid(size: usize) -> LandscapeGrid {
    LandscapeGrid { size, samples: 512 }
}

/// Squared distance of weights from 1.
fn bowl(weights: &[Vec<f32>]) -> f64 {
    let all = weights.iter().flatten();
    all.map(|weight| f64::from(weight - 1.0).powi(2)).sum()
}

#[test]
fn principal_directions_are_those_of_the_path() {
    let plane = Plane::pca(&path()).unwrap();
    let variance = plane.variance();
    assert!(
        variance[0] > 0.8 && variance[0] + variance[1] > 0.999,
        "{variance:?}"
    );
    assert!(variance[0] + variance[1] < 1.0);
    // Distances in the plane are those of the weights, but for the third direction.
    let truth = [(-8.0, 1.0), (-5.0, -1.5), (-2.0, 1.0), (0.0_f64, 0.0_f64)];
    for (point, truth) in plane.path().iter().zip(truth) {
        assert!(
            (point.0.hypot(point.1) - truth.0.hypot(truth.1)).abs() < 0.02,
            "{point:?} {truth:?}"
        );
    }
    assert!(plane.path()[0].0 < -7.0, "the training comes from the left");
    assert_eq!(plane.path()[3], (0.0, 0.0));
}

#[test]
fn the_surface_is_that_of_the_loss() {
    let plane = Plane::pca(&path()).unwrap();
    let landscape = plane.evaluate(grid(9), bowl).unwrap();
    let surface = landscape.surface.unwrap();
    assert_eq!(surface.z.shape, [9, 9]);
    for (row, y) in surface.y.values.iter().enumerate() {
        for (column, x) in surface.x.values.iter().enumerate() {
            let loss = surface.z.values[row * 9 + column];
            assert!(
                (loss - (x * x + y * y)).abs() < 1e-4 * (1.0 + loss),
                "{x} {y} {loss}"
            );
        }
    }
    // A square with room around the path.
    let sides = [&surface.x, &surface.y].map(|axis| axis.values[8] - axis.values[0]);
    assert!((sides[0] - sides[1]).abs() < 1e-9);
    assert!(surface.x.values[0] < -9.0 && surface.x.values[8] > 1.0);
    assert_eq!(landscape.intervals, [0, 10, 20, 30]);
    assert_eq!((&*landscape.unit, landscape.samples), ("step", 512));
    assert_eq!(landscape.convergence_point.unwrap().z.values, [0.0]);
}

/// The weights at a point of a plane.
fn at(plane: &Plane, wanted: usize) -> Vec<Vec<f32>> {
    let mut seen = Vec::new();
    plane
        .evaluate(grid(3), |weights| {
            seen.push(weights.to_vec());
            0.0
        })
        .unwrap();
    seen.swap_remove(wanted)
}

#[test]
fn random_directions_have_the_length_of_each_filter() {
    let last = weights(30, [2.0, 1.0, -3.0]);
    let plane = Plane::random(&last, 7).unwrap();
    let landscape = plane.evaluate(grid(3), bowl).unwrap();
    assert_eq!(landscape.surface.unwrap().x.values, [-1.0, 0.0, 1.0]);
    assert_eq!((landscape.intervals.len(), landscape.path), (0, None));
    assert_eq!(landscape.normalisation, "filter");
    // Of a grid of 3 × 3, the points (0, 0) and (1, 0).
    let (origin, right) = (at(&plane, 4), at(&plane, 5));
    let length = |values: &[f32]| {
        values
            .iter()
            .map(|v| f64::from(*v).powi(2))
            .sum::<f64>()
            .sqrt()
    };
    for filter in [0..3, 3..6] {
        let difference: Vec<f32> = filter
            .clone()
            .map(|at| right[0][at] - origin[0][at])
            .collect();
        let wanted = length(&origin[0][filter]);
        assert!((length(&difference) - wanted).abs() < 1e-5 * wanted);
    }
    assert_eq!(origin[1], right[1], "a bias is not varied");
    let again = Plane::random(&last, 7).unwrap();
    assert_eq!(again.id(), plane.id());
    assert_ne!(Plane::random(&last, 8).unwrap().id(), plane.id());
}

#[test]
fn orthonormal_random_directions_are_at_right_angles() {
    let last = weights(30, [2.0, 1.0, -3.0]);
    let plane = Plane::random_with(&last, 7, Normalisation::Orthonormal)
        .unwrap()
        .reach(2.0);
    let origin = at(&plane, 4);
    let from_origin = |weights: Vec<Vec<f32>>| -> Vec<f32> {
        let pairs = weights.into_iter().flatten().zip(origin.iter().flatten());
        pairs.map(|(weight, origin)| weight - origin).collect()
    };
    let (right, up) = (from_origin(at(&plane, 5)), from_origin(at(&plane, 7)));
    let product = |one: &[f32], other: &[f32]| -> f64 {
        one.iter().zip(other).map(|(a, b)| f64::from(a * b)).sum()
    };
    assert!((product(&right, &right) - 4.0).abs() < 1e-4);
    assert!((product(&up, &up) - 4.0).abs() < 1e-4);
    assert!(product(&right, &up).abs() < 1e-4);
}

#[test]
fn filters_of_principal_directions_have_a_path_by_least_squares() {
    let plane = Plane::pca_with(&path(), Normalisation::Filter).unwrap();
    assert!(
        plane.variance().is_empty(),
        "these are not the principal directions"
    );
    assert_eq!(plane.path()[3], (0.0, 0.0));
}

#[test]
fn another_training_has_its_path_in_the_same_plane() {
    let plane = Plane::pca(&path()).unwrap();
    let other = [weights(0, [-4.0, 2.0, 0.0]), weights(5, [1.0, 1.0, 0.0])];
    let beside = plane.clone().with_path(&other).unwrap();
    assert_eq!(beside.id(), plane.id());
    assert_eq!(beside.steps(), [0, 5]);
    let (x, y) = beside.path()[1];
    assert!((x.hypot(y) - 2.0_f64.sqrt()).abs() < 0.02);
}

#[test]
fn weights_without_a_plane_are_refused() {
    let few = Plane::pca(&path()[..2]);
    assert_eq!(few.err(), Some(PlaneError::TooFew(2)));
    let line: Vec<Snapshot> = (0_i16..4)
        .map(|at| weights(at.into(), [f32::from(at), 0.0, 0.0]))
        .collect();
    assert_eq!(Plane::pca(&line).err(), Some(PlaneError::NoPlane));
    let equal = vec![weights(3, [0.0; 3]); 4];
    assert_eq!(Plane::pca(&equal).err(), Some(PlaneError::NoPlane));
    let mut broken = path();
    broken[1] = weights(10, [f32::NAN, 0.0, 0.0]);
    assert_eq!(
        Plane::pca(&broken).err(),
        Some(PlaneError::NotFinite { step: 10 })
    );
    broken[1] = Snapshot::new(10).parameter(&[9], vec![0.0; 9]);
    assert_eq!(
        Plane::pca(&broken).err(),
        Some(PlaneError::OtherModel { step: 10 })
    );
    let wrong = Snapshot::new(1).parameter(&[2, 4], vec![0.0; 6]);
    let wrong = Plane::random(&wrong, 1).err();
    assert_eq!(
        wrong,
        Some(PlaneError::Shape {
            step: 1,
            parameter: 0,
            len: 6
        })
    );
    let huge = Snapshot::new(1).parameter(&[usize::MAX, 4], vec![0.0; 6]);
    assert!(Plane::random(&huge, 1).is_err());
    assert_eq!(
        Plane::random(&Snapshot::new(1), 1).err(),
        Some(PlaneError::NoPlane)
    );
    let bias = Snapshot::new(1).parameter(&[3], vec![1.0; 3]);
    assert_eq!(Plane::random(&bias, 1).err(), Some(PlaneError::NoPlane));
    let many = vec![weights(0, [0.0; 3]); 1_025];
    assert_eq!(Plane::pca(&many).err(), Some(PlaneError::TooMany(1_025)));
    let plane = Plane::pca(&path()).unwrap();
    for size in [0, 1, 1_025, usize::MAX] {
        assert_eq!(
            plane.evaluate(grid(size), bowl).err(),
            Some(PlaneError::Size(size))
        );
    }
}

/// The landscape in a file of a run.
fn recorded(folder: &std::path::Path) -> (i64, Landscape) {
    let file = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap();
    let mut batch = RecordBatch::default();
    let bytes = std::fs::read(file.path()).unwrap();
    Format::Tfevents.decoder("").push(&bytes, &mut batch);
    assert_eq!(batch.damages, []);
    let record = batch.records.swap_remove(0);
    let Body::Landscape(landscape) = record.body else {
        panic!("{:?}", record.body);
    };
    (record.step, *landscape)
}

#[test]
fn a_landscape_is_recorded_with_losses_that_are_not_finite() {
    let folder = tempfile::tempdir().unwrap();
    let collector = Collector::builder(folder.path()).start().unwrap();
    let plane = Plane::pca(&path()).unwrap();
    let mut count = 0;
    let loss = |weights: &[Vec<f32>]| {
        count += 1;
        match count {
            3 => f64::NAN,
            4 => f64::INFINITY,
            _ => bowl(weights),
        }
    };
    plane
        .record(&collector, "landscape", grid(5), loss)
        .unwrap();
    assert!(collector.finish().is_complete());
    assert_eq!(count, 25 + 4);
    let (step, read) = recorded(folder.path());
    assert_eq!(step, 30);
    let surface = read.surface.as_ref().unwrap();
    assert!(surface.z.values[2].is_nan());
    assert!(surface.z.values[3].is_infinite());
    assert_eq!(
        (read.plane.clone(), &*read.decomposition),
        (plane.id(), "PCA")
    );
    assert_eq!((&*read.normalisation, read.samples), ("orthonormal", 512));
    assert_eq!(read.variance, plane.variance());
    let path = read.path.unwrap();
    assert_eq!(
        path.x.values,
        plane.path().iter().map(|at| at.0).collect::<Vec<_>>()
    );
}
