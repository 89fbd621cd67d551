//! States of runs.

use trainscope_api::findings::Health;

use super::super::test_runs::run;
use super::*;

#[test]
fn every_run_is_in_exactly_one_state() {
    let judged = |error, warning| {
        let mut run = run("a");
        run.health = Some(Health {
            counts: HitCounts {
                error,
                warning,
                ..HitCounts::default()
            },
            verdict: Verdict::NoProblem,
            ..Health::default()
        });
        run
    };
    let mut torn = judged(0, 0);
    torn.files[0].status = FileStatus::Truncated;
    let mut live = judged(1, 1);
    live.status = RunStatus::Live;
    let runs = [
        judged(1, 2),
        judged(0, 2),
        torn,
        judged(0, 0),
        run("b"),
        live,
    ];
    let counts = Counts::of(runs.iter());
    assert_eq!(counts.states, [2, 1, 1, 1, 1]);
    assert_eq!(counts.states.iter().sum::<u64>(), counts.all);
    assert_eq!(counts.live, 1);
    for run in &runs {
        let states = Only::STATES.into_iter().filter(|only| only.holds(run));
        assert_eq!(states.count(), 1);
    }
    for only in Only::STATES {
        assert_eq!(WORDS.iter().filter(|(known, _)| *known == only).count(), 1);
    }
}
