//! The forms a result is printed in: one file each.

pub(super) mod json;
