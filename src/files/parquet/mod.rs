//! `.parquet`: columns by name, row group after row group, by the `parquet` crate without Arrow: flat columns need none.
//!
//! What a file claims is held against the file before it is believed: the crate allocates what a page says it unpacks to.

mod bytes;
mod lists;
mod pages;
mod read;
mod write;

pub(super) use lists::ListGroups;
pub(super) use read::{Columns, open};
pub(super) use write::Groups;
