//! The texts of profiles: steps, operators, memory, ranks, comparison.

mod en;
mod zh;

pub(super) use en::EN;
pub(super) use zh::ZH;

/// Texts of everything about profiles but the timeline itself.
pub struct ProfileTexts {
    pub title: &'static str,
    /// Titles of the views: overview, steps, operators, memory, cluster, compare.
    pub views: [&'static str; 6],
    pub pipeline: &'static str,
    pub timeline: &'static str,
    pub steps: &'static str,
    pub choose_steps: &'static str,
    pub session: &'static str,
    pub rank: &'static str,
    pub open_timeline: &'static str,
    pub key_rows: &'static str,
}
