//! Profiles in English.

use super::ProfileTexts;

pub(in crate::i18n) static EN: ProfileTexts = ProfileTexts {
    title: "Profile",
    views: [
        "Overview",
        "Steps",
        "Operators",
        "Memory",
        "Cluster",
        "Compare",
    ],
    pipeline: "Data pipeline",
    timeline: "Timeline",
    steps: "Steps",
    choose_steps: "Choose steps",
    session: "session",
    rank: "rank",
    open_timeline: "open in the timeline",
    key_rows: "next, previous row",
};
