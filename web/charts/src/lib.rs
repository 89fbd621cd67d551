//! Every plot, drawn to any plotters backend: canvas in the browser, SVG in tests and reports, PNG in exports.
//!
//! A plot is plain data ([`line::Spec`]); [`geometry::Geometry`] says where everything lies, in CSS pixels, and the
//! drawing functions put it on a backend. Nothing here knows a browser or a framework, and no input makes it panic:
//! NaN and infinities are findings that get a place of their own, empty data gets axes without lines.
//!
//! Backends take whole numbers, so coordinates are handed over in [`SUBPIXELS`] of a device pixel; the canvas is given
//! a transform and the SVG a `viewBox` that undo it.

mod bounds;
pub mod distribution;
pub mod geometry;
pub mod graph;
pub mod label;
mod lane;
mod limits;
pub mod line;
pub mod overlay;
mod paint;
mod path;
#[cfg(feature = "png")]
pub mod png;
pub mod scale;
#[cfg(feature = "svg")]
pub mod sheet;
pub mod smooth;
pub mod spark;
#[cfg(feature = "svg")]
pub mod svg;
pub mod theme;
pub mod ticks;

pub use paint::SUBPIXELS;
