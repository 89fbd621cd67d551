//! Growing, damaged and hostile files; crashes and clients.

mod hostile;
mod live;
mod recovery;
