//! Correlations of a parameter with a result: Pearson's r, Spearman's ρ, and ε² of Kruskal and Wallis for categories.

#![expect(clippy::float_cmp, reason = "ties are equal to the bit")]

use std::collections::BTreeMap;

/// Linear correlation of pairs of numbers, −1 to 1; `None` with fewer than two pairs, or if one side is constant.
pub fn pearson(xs: &[f64], ys: &[f64]) -> Option<f64> {
    let count = xs.len().min(ys.len()) as f64;
    if count < 2.0 {
        return None;
    }
    let mean_x = xs.iter().sum::<f64>() / count;
    let mean_y = ys.iter().sum::<f64>() / count;
    let (mut both, mut square_x, mut square_y) = (0.0, 0.0, 0.0);
    for (x, y) in xs.iter().zip(ys) {
        both += (x - mean_x) * (y - mean_y);
        square_x += (x - mean_x).powi(2);
        square_y += (y - mean_y).powi(2);
    }
    let r = both / (square_x.sqrt() * square_y.sqrt());
    r.is_finite().then(|| r.clamp(-1.0, 1.0))
}

/// Rank correlation of pairs of numbers, −1 to 1, with mean ranks for ties (Spearman 1904); `None` as [`pearson`].
pub fn spearman(xs: &[f64], ys: &[f64]) -> Option<f64> {
    pearson(&ranks(xs), &ranks(ys))
}

/// Share of the variance of the ranks of `ys` between categories: ε² = (H − k + 1) / (n − k), with the H of Kruskal and
/// Wallis (1952) corrected for ties (Tomczak and Tomczak 2014). Below 0 if categories differ less than by chance.
/// Categories of one run are left out; `None` if fewer than two are left, or all results are equal.
pub fn epsilon_squared(codes: &[u32], ys: &[f64]) -> Option<f64> {
    let mut sizes: BTreeMap<u32, usize> = BTreeMap::new();
    for code in codes {
        *sizes.entry(*code).or_default() += 1;
    }
    sizes.retain(|_, size| *size > 1);
    let pairs = codes.iter().zip(ys);
    let (codes, ys): (Vec<u32>, Vec<f64>) =
        pairs.filter(|(code, _)| sizes.contains_key(code)).unzip();
    let (count, groups) = (ys.len() as f64, sizes.len() as f64);
    if sizes.len() < 2 || ys.len() <= sizes.len() {
        return None;
    }
    let ranks = ranks(&ys);
    let mut sums: BTreeMap<u32, f64> = BTreeMap::new();
    for (code, rank) in codes.iter().zip(&ranks) {
        *sums.entry(*code).or_default() += rank;
    }
    let between: f64 = sums
        .iter()
        .filter_map(|(code, sum)| Some(sum * sum / *sizes.get(code)? as f64))
        .sum();
    let h = 12.0 / (count * (count + 1.0)) * between - 3.0 * (count + 1.0);
    let correction = 1.0 - ties(&ys) / (count.powi(3) - count);
    let epsilon = (h / correction - groups + 1.0) / (count - groups);
    epsilon.is_finite().then_some(epsilon)
}

/// Σ (t³ − t) over groups of t equal values.
fn ties(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let groups = sorted.chunk_by(|a, b| a == b);
    groups
        .map(|group| (group.len() as f64).powi(3) - group.len() as f64)
        .sum()
}

/// Ranks from 1; equal values share the mean of their ranks.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<(f64, usize)> = values.iter().copied().zip(0..).collect();
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for group in order.chunk_by(|a, b| a.0 == b.0) {
        let mean = before as f64 + f64::midpoint(group.len() as f64, 1.0);
        for (_, index) in group {
            if let Some(rank) = ranks.get_mut(*index) {
                *rank = mean;
            }
        }
        before += group.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_their_mean_rank() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [3.5, 1.0, 3.5, 2.0]);
    }

    #[test]
    fn a_constant_side_has_no_correlation() {
        assert_eq!(pearson(&[1.0, 1.0, 1.0], &[1.0, 2.0, 3.0]), None);
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[5.0, 5.0, 5.0]), None);
        assert_eq!(epsilon_squared(&[0, 0, 1, 1], &[5.0; 4]), None);
    }

    #[test]
    fn separate_categories_explain_nearly_everything() {
        let codes = [0, 0, 0, 0, 1, 1, 1, 1];
        let ys = [1.0, 2.0, 3.0, 4.0, 11.0, 12.0, 13.0, 14.0];
        let epsilon = epsilon_squared(&codes, &ys).unwrap();
        assert!(
            (epsilon - (16.0 / 3.0 - 1.0) / 6.0).abs() < 1e-12,
            "{epsilon}"
        );
    }
}
