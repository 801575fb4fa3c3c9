//! Trees: the same answers with and without, after updates, and on scenes that are hard to divide.

mod trees;
mod updates;
mod walks;
