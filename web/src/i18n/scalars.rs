//! The texts of the curves.

/// Curves.
pub struct ScalarsTexts {
    /// Title of the page.
    pub title: &'static str,
}
