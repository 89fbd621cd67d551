//! Drawing schedule of charts: in frames of the browser, within a time limit, each chart at most once per frame.
//!
//! A hundred charts that change together are drawn over several frames, so that scrolling and pointing never wait for
//! them.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use leptos::prelude::request_animation_frame;

use crate::format;

/// Time per frame for drawing, in milliseconds; at least one chart is drawn, and a started one is finished.
const EACH_FRAME_MILLIS: f64 = 6.0;

type Job = Box<dyn FnOnce()>;

thread_local! {
    static WAITING: RefCell<VecDeque<(Ticket, Job)>> = const { RefCell::new(VecDeque::new()) };
    static LAST_TICKET: Cell<u64> = const { Cell::new(0) };
    static IS_RUNNING: Cell<bool> = const { Cell::new(false) };
}

/// One chart's entry in the schedule.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Ticket(u64);

impl Ticket {
    /// Creates a unique entry.
    pub fn unique() -> Self {
        let number = LAST_TICKET.get() + 1;
        LAST_TICKET.set(number);
        Self(number)
    }

    /// Schedules a drawing in one of the next frames; replaces a pending one of this chart.
    pub fn ask(self, job: impl FnOnce() + 'static) {
        self.wait(Box::new(job), false);
    }

    /// Schedules a drawing before all others, in the next frame.
    pub fn ask_first(self, job: impl FnOnce() + 'static) {
        self.wait(Box::new(job), true);
    }

    fn wait(self, job: Job, is_first: bool) {
        WAITING.with_borrow_mut(|waiting| {
            let at = waiting.iter().position(|(ticket, _)| *ticket == self);
            match at {
                Some(at) if !is_first => waiting[at].1 = job,
                Some(at) => {
                    waiting.remove(at);
                    waiting.push_front((self, job));
                }
                None if is_first => waiting.push_front((self, job)),
                None => waiting.push_back((self, job)),
            }
        });
        if !IS_RUNNING.replace(true) {
            request_animation_frame(frame);
        }
    }

    /// Removes the entry of a chart that is gone.
    pub fn give_up(self) {
        WAITING.with_borrow_mut(|waiting| waiting.retain(|(ticket, _)| *ticket != self));
    }
}

fn frame() {
    let begun = format::now_millis();
    while format::now_millis() - begun < EACH_FRAME_MILLIS {
        // Removed before it runs: a job may schedule another one.
        let next = WAITING.with_borrow_mut(VecDeque::pop_front);
        match next {
            Some((_, job)) => job(),
            None => break,
        }
    }
    if WAITING.with_borrow(VecDeque::is_empty) {
        IS_RUNNING.set(false);
    } else {
        request_animation_frame(frame);
    }
}
