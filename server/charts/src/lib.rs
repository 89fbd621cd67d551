//! Plots for any plotters backend: canvas in the browser, SVG in tests and reports, PNG in exports.
//!
//! Only the backends of plotters are used: its axes and series know neither a lane of NaN, nor envelopes of minimum and
//! maximum, nor coordinates below a pixel.
//!
//! A plot is plain data ([`line::Spec`]); [`geometry::Geometry`] computes positions in CSS pixels, and the drawing
//! functions draw them on a backend. The plots share `frame` (margins, axes, the way from pixels to data), `axes` (grids
//! and labels) and `pen` (strokes and texts on any backend); marks are in the file of each plot. Nothing here depends on
//! a browser or a framework, and no input causes a panic: NaN and infinities are findings with special marks, and empty
//! data yields axes without lines.
//!
//! Backends take integers, so coordinates are passed in [`SUBPIXELS`] of a device pixel; a transform of the canvas and
//! a `viewBox` of the SVG undo it.

mod axes;
mod bounds;
pub mod contour;
pub mod density;
pub mod distribution;
mod frame;
pub mod geometry;
pub mod graph;
pub mod label;
mod lane;
mod limits;
pub mod line;
pub mod overlay;
pub mod parallel;
mod path;
mod pen;
#[cfg(feature = "png")]
pub mod png;
pub mod profile;
pub mod scale;
#[cfg(feature = "svg")]
pub mod sheet;
pub mod smooth;
pub mod spark;
mod spec;
pub mod surface;
#[cfg(feature = "svg")]
pub mod svg;
pub mod theme;
pub mod ticks;
pub mod timeline;
#[cfg(feature = "svg")]
pub mod timeline_svg;

pub use pen::SUBPIXELS;
