//! Schemas of tables and results, and the conversion of rows to records.

pub(crate) mod answer_row;
pub(crate) mod columns;
pub(crate) mod convert;
pub(crate) mod headings;
pub(crate) mod heights;
pub(crate) mod kept;
pub(crate) mod kinds;
pub(crate) mod left_out;
pub(crate) mod optional;
pub(crate) mod rounding;
pub(crate) mod table;
