//! Eigenvalues and eigenvectors of a small symmetric matrix, by Jacobi rotations (Golub and Van Loan, "Matrix
//! Computations", 8.5).

/// Maximum number of sweeps: convergence is quadratic, matrices of a thousand rows take about ten.
const MAX_SWEEPS: usize = 40;
/// Maximum sum of the squares off the diagonal of a matrix that counts as diagonal, as a share of all squares.
const SMALL: f64 = 1e-30;

/// Eigenvalues in descending order, each with its vector of length 1. `matrix` has its rows one after the other.
pub(super) fn symmetric(mut matrix: Vec<f64>, rows: usize) -> Vec<(f64, Vec<f64>)> {
    // Columns are the vectors.
    let mut vectors = vec![0.0; rows * rows];
    for row in 0..rows {
        vectors[row * rows + row] = 1.0;
    }
    let all: f64 = matrix.iter().map(|value| value * value).sum();
    for _ in 0..MAX_SWEEPS {
        let beside = (0..rows).flat_map(|row| (0..row).map(move |column| row * rows + column));
        let rest: f64 = beside.map(|at| matrix[at] * matrix[at]).sum();
        let has_more = rest > all * SMALL;
        if !has_more {
            break;
        }
        for first in 0..rows {
            for second in first + 1..rows {
                rotate(&mut matrix, &mut vectors, rows, (first, second));
            }
        }
    }
    let mut pairs: Vec<(f64, Vec<f64>)> = (0..rows)
        .map(|at| {
            let vector = (0..rows).map(|row| vectors[row * rows + at]);
            (matrix[at * rows + at], vector.collect())
        })
        .collect();
    pairs.sort_by(|one, other| other.0.total_cmp(&one.0));
    pairs
}

/// Makes one pair of elements 0.
fn rotate(matrix: &mut [f64], vectors: &mut [f64], rows: usize, (p, q): (usize, usize)) {
    let off = matrix[p * rows + q];
    if off == 0.0 {
        return;
    }
    let half = (matrix[q * rows + q] - matrix[p * rows + p]) / (2.0 * off);
    let tangent = 1.0_f64.copysign(half) / (half.abs() + (1.0 + half * half).sqrt());
    let cos = 1.0 / (1.0 + tangent * tangent).sqrt();
    let sin = tangent * cos;
    let turn = |values: &mut [f64], one: usize, other: usize| {
        let (a, b) = (values[one], values[other]);
        values[one] = cos * a - sin * b;
        values[other] = sin * a + cos * b;
    };
    for at in 0..rows {
        turn(matrix, at * rows + p, at * rows + q);
    }
    for at in 0..rows {
        turn(matrix, p * rows + at, q * rows + at);
        turn(vectors, at * rows + p, at * rows + q);
    }
}

#[cfg(test)]
mod tests {
    use super::symmetric;

    #[test]
    fn a_matrix_is_the_sum_of_its_vectors() {
        let rows = 7;
        let value = |row: usize, column: usize| {
            let (low, high) = (row.min(column) as f64, row.max(column) as f64);
            (low * 3.0 + high).sin() + if row == column { low } else { 0.0 }
        };
        let places = (0..rows).flat_map(|row| (0..rows).map(move |column| (row, column)));
        let matrix: Vec<f64> = places
            .clone()
            .map(|(row, column)| value(row, column))
            .collect();
        let pairs = symmetric(matrix.clone(), rows);
        assert!(pairs.windows(2).all(|pair| pair[0].0 >= pair[1].0));
        for (row, column) in places {
            let sum: f64 = pairs
                .iter()
                .map(|(value, vector)| value * vector[row] * vector[column])
                .sum();
            assert!(
                (sum - matrix[row * rows + column]).abs() < 1e-12,
                "{row} {column}"
            );
            let product: f64 = (0..rows)
                .map(|at| pairs[row].1[at] * pairs[column].1[at])
                .sum();
            let wanted = f64::from(u8::from(row == column));
            assert!((product - wanted).abs() < 1e-12);
        }
    }

    #[test]
    fn any_matrix_ends() {
        assert!(symmetric(Vec::new(), 0).is_empty());
        assert_eq!(symmetric(vec![2.0], 1), [(2.0, vec![1.0])]);
        assert_eq!(symmetric(vec![f64::NAN; 9], 3).len(), 3);
        assert!(symmetric(vec![0.0; 9], 3)[0].0.abs() < 1e-300);
    }
}
