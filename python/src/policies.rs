//! The policies of a query, with the same names as on the command line.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use umbracast::{Ends, Inside, Motion, Near, OnBad, Precision, Query, Touch};

/// `umbracast._options.Policies`.
#[derive(FromPyObject)]
pub(crate) struct Policies {
    inside: String,
    touch: String,
    ends: String,
    precision: String,
    on_bad: String,
    motion: String,
    near: String,
}

impl Policies {
    /// Parses the policies. Raises `ValueError` for an unknown name.
    pub(crate) fn query(&self) -> PyResult<Query> {
        Ok(Query::default()
            .inside(lookup(
                "inside",
                &self.inside,
                &[("enter", Inside::Enter), ("exit", Inside::Exit), ("ignore", Inside::Ignore)],
            )?)
            .touch(lookup("touch", &self.touch, &[("hit", Touch::Hit), ("miss", Touch::Miss)])?)
            .ends(lookup("ends", &self.ends, &[("closed", Ends::Closed), ("half-open", Ends::HalfOpen)])?)
            .precision(precision(&self.precision)?)
            .on_bad(on_bad(&self.on_bad)?)
            .motion(lookup("motion", &self.motion, &[("at-time", Motion::AtTime), ("with-ray", Motion::WithRay)])?)
            .near(lookup("near", &self.near, &[("auto", Near::Auto), ("pass", Near::Pass), ("block", Near::Block)])?))
    }
}

/// Parses a precision.
pub(crate) fn precision(given: &str) -> PyResult<Precision> {
    let [fast, standard, exact] = Precision::ALL;
    let table = [Precision::Auto, fast, standard, exact].map(|precision| (precision.word(), precision));
    lookup("precision", given, &table)
}

/// Parses what to do with bad records.
pub(crate) fn on_bad(given: &str) -> PyResult<OnBad> {
    lookup("on_bad", given, &[("refuse", OnBad::Refuse), ("skip", OnBad::Skip)])
}

/// Looks up `given` in a table of allowed names. Raises a `ValueError` that lists them.
fn lookup<T: Copy>(name: &str, given: &str, table: &[(&str, T)]) -> PyResult<T> {
    let found = table.iter().find(|(word, _)| *word == given);
    found.map(|(_, meaning)| *meaning).ok_or_else(|| {
        let allowed = table.iter().map(|(word, _)| format!("'{word}'")).collect::<Vec<_>>().join(", ");
        PyValueError::new_err(format!("{name} is '{given}': allowed are {allowed}"))
    })
}
