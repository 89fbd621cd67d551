//! Types of Python objects, for messages.

use pyo3::prelude::*;

/// Name of an object's type.
pub(crate) fn type_name(object: &Bound<'_, PyAny>) -> String {
    let name = object.get_type().name();
    name.map_or_else(
        |_| "an object".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}
