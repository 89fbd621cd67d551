//! Rows in a program that was built without Parquet: there are none.

use std::convert::Infallible;
use std::io;
use std::marker::PhantomData;

use super::{ColumnType, Output};

/// Rows that cannot be created.
pub(in crate::cli) struct Rows<'a>(Infallible, PhantomData<&'a ()>);

impl<'a> Rows<'a> {
    pub(in crate::cli) fn new(_: Output<'a>, _: &str) -> io::Result<Self> {
        let reason = "this program was built without the feature `parquet`";
        Err(io::Error::new(io::ErrorKind::Unsupported, reason))
    }

    pub(in crate::cli) fn head<'c>(
        &mut self,
        _: impl Iterator<Item = (&'c str, ColumnType)>,
    ) -> io::Result<()> {
        match self.0 {}
    }

    pub(in crate::cli) fn row<'c>(&mut self, _: impl Iterator<Item = &'c str>) -> io::Result<()> {
        match self.0 {}
    }

    pub(in crate::cli) fn finish(self) -> io::Result<()> {
        match self.0 {}
    }
}
