//! Conditions about facts of the program, one for each rule over them, with the name of the rule.

pub(crate) mod data;
pub(crate) mod gradients;
pub(crate) mod loss;
pub(crate) mod modes;
pub(crate) mod numbers;
pub(crate) mod optimizer;
