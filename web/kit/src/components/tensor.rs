//! Parts of pages that show elements of tensors.

mod bins;
mod class_bar;
mod grid;
mod plane;

pub use bins::{bins_picture, outline};
pub use class_bar::ClassBar;
pub use grid::{Tile, grid};
pub use plane::{Plane, Window, around, short};
