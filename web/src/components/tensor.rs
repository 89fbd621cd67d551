//! Parts of pages that show elements of tensors.

mod bins;
mod class_bar;
mod grid;
mod peek;
mod plane;

pub(crate) use bins::{bins_picture, outline};
pub(crate) use class_bar::ClassBar;
pub(crate) use grid::{Tile, grid};
pub(crate) use peek::{Peek, before_key};
pub(crate) use plane::{Plane, Window, around, short};
