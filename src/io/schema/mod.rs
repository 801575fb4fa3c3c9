//! The columns of each kind of table, and how a row becomes a record.

pub(crate) mod answer_row;
pub(crate) mod columns;
pub(crate) mod convert;
pub(crate) mod kinds;
pub(crate) mod optional;
pub(crate) mod rounding;
pub(crate) mod table;
