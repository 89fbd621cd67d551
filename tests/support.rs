//! Shared parts of the tests: a folder for runs, the server, a browser, and waiting for conditions.

pub(crate) mod browser;
pub(crate) mod driver;
pub(crate) mod event_file;
pub(crate) mod lab;
pub(crate) mod live;
pub(crate) mod modules;
pub(crate) mod parts;
pub(crate) mod program;
pub(crate) mod server;
pub(crate) mod terminal;
pub(crate) mod wait;

pub(crate) use browser::Browser;
pub(crate) use event_file::EventFile;
pub(crate) use lab::{Lab, Recording};
pub(crate) use server::Server;
pub(crate) use wait::wait_for;
