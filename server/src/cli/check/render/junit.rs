//! `JUnit` XML output for the test pages of CI systems: a suite per run, a case per watchpoint.
//!
//! Watchpoints without data are skipped cases and unreadable files are errors: neither counts as passed.

use std::io::{self, Write};

use quick_junit::{NonSuccessKind, Report as Document, TestCase, TestCaseStatus, TestSuite};
use trainscope_analysis::watchpoint::Hit;
use trainscope_analysis::watchpoint::catalogue::Target;

use super::super::report::Report;
use crate::cli::words;
use crate::judging::judge::Judgement;

/// Maximum number of hits listed per watchpoint.
const MAX_HITS: usize = 50;

pub(in crate::cli::check) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut document = Document::new("trainscope check");
    for run in &report.runs {
        let mut suite = TestSuite::new(&*run.name);
        suite.set_time(run.took);
        let judged = run.watchpoints.all().iter().enumerate();
        for (number, watchpoint) in judged.filter(|(_, watchpoint)| watchpoint.on) {
            let name = watchpoint
                .name
                .as_deref()
                .unwrap_or(watchpoint.condition.id);
            let mut case = TestCase::new(name, status(report, run, number));
            case.set_classname(&*run.name);
            suite.add_test_case(case);
        }
        for tensor in &run.findings.unread {
            let mut status = TestCaseStatus::skipped();
            status.set_message(format!(
                "the element type {} is not supported",
                tensor.dtype
            ));
            let mut case = TestCase::new(format!("read {}", tensor.tensor), status);
            case.set_classname(&*run.name);
            suite.add_test_case(case);
        }
        for fault in &run.damaged {
            let message = format!(
                "{}: damaged at byte {}: {}",
                fault.file, fault.offset, fault.reason
            );
            suite.add_test_case(unread(&run.name, &fault.file, &message));
        }
        document.add_test_suite(suite);
    }
    if !report.unreadable.is_empty() {
        let mut suite = TestSuite::new(&*report.title);
        for (folder, reason) in &report.unreadable {
            let message = format!("{folder} cannot be read: {reason}");
            suite.add_test_case(unread(&report.title, folder, &message));
        }
        document.add_test_suite(suite);
    }
    document.serialize(&mut *out).map_err(io::Error::other)?;
    writeln!(out)
}

/// A case that fails because a file or folder could not be read.
fn unread(suite: &str, what: &str, message: &str) -> TestCase {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_message(message);
    let mut case = TestCase::new(format!("read {what}"), status);
    case.set_classname(suite);
    case
}

fn status(report: &Report, run: &Judgement, number: usize) -> TestCaseStatus {
    let of_it = |hit: &&Hit| hit.watchpoint as usize == number;
    let hits: Vec<&Hit> = run.findings.hits.iter().filter(of_it).collect();
    if let Some(first) = hits.iter().find(|hit| report.counts(hit)) {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_type(trainscope_analysis::watchpoint::config::name_of(
            first.severity,
        ));
        status.set_message(&first.sentence.en);
        let mut lines: Vec<String> = hits
            .iter()
            .take(MAX_HITS)
            .map(|hit| format!("step {}, rank {}: {}", hit.step, hit.rank, hit.sentence.en))
            .collect();
        let more = hits.len().saturating_sub(MAX_HITS) as u64;
        if more > 0 {
            lines.push(words::plural(more, "more hit", "more hits"));
        }
        status.set_description(lines.join("\n"));
        return status;
    }
    let unjudged = run
        .findings
        .inconclusive
        .iter()
        .filter(|item| item.watchpoint as usize == number)
        .count();
    if unjudged > 0 && hits.is_empty() {
        let mut status = TestCaseStatus::skipped();
        let watchpoint = report.watchpoints.all().get(number);
        let is_of_profile =
            watchpoint.is_some_and(|watchpoint| watchpoint.condition.target == Target::Profile);
        let (one, many) = if is_of_profile {
            ("profile", "profiles")
        } else {
            ("tensor", "tensors")
        };
        let what = words::plural(unjudged as u64, one, many);
        status.set_message(format!("not judged for {what}"));
        return status;
    }
    let index = u32::try_from(number).unwrap_or(u32::MAX);
    if run.findings.without_data.binary_search(&index).is_ok() {
        let mut status = TestCaseStatus::skipped();
        status.set_message("nothing was recorded that it is about");
        return status;
    }
    TestCaseStatus::success()
}
