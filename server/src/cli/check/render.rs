//! Output formats, one file each.

pub(super) mod github;
pub(super) mod hits;
pub(super) mod json;
pub(super) mod junit;
mod overview;
mod phrases;
pub(super) mod sarif;
pub(super) mod screen;
mod source;
pub(super) mod text;
mod unjudged;
