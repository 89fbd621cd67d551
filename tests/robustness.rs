//! Growing, damaged and hostile files; crashes and clients.

mod hostile;
mod limits;
mod live;
mod recovery;
