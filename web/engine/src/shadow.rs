//! Pictures and visible fractions.
