//! Values that are left out of queries and answers.

pub(crate) fn is_zero<N: PartialEq + Default>(number: &N) -> bool {
    *number == N::default()
}
