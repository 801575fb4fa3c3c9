//! The warning about observers inside a body.

use std::path::Path;

use crate::error::Result;
use umbracast::glam::DVec3;
use umbracast::shadow::{InsideBody, Interiors, Shadow};

/// Observers inside a body so far.
#[derive(Default)]
pub(super) struct InsideCount {
    count: u64,
    /// The first of them: its index, its position and the body.
    first: Option<(usize, DVec3, InsideBody)>,
}

impl InsideCount {
    /// Counts the observers that are inside a body. `row` is the index in the file of each observer, and `found` has their shadows.
    pub(super) fn add(
        &mut self,
        interiors: &Interiors,
        row: impl Fn(usize) -> usize,
        observers: &[DVec3],
        found: &[Shadow],
    ) -> Result<()> {
        let (count, at) = interiors.count(observers, found)?;
        self.count += count;
        if self.first.is_none() {
            self.first = at.and_then(|at| Some((row(at), observers[at], interiors.around(observers[at])?)));
        }
        Ok(())
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The warning, if there are such observers.
    pub(super) fn warning(&self, file: &Path) -> Option<String> {
        let (index, DVec3 { x, y, z }, InsideBody { body, depth }) = self.first.as_ref()?;
        // Four digits.
        let depth = format!("{depth:.3e}").parse().unwrap_or(*depth);
        let are = if self.count == 1 { "observer is" } else { "observers are" };
        Some(format!(
            "warning: {}: {} {are} inside a body, where the whole light is hidden: the first is row {} (index {index}), {x},{y},{z}, \
             at a depth of {depth} below the surface of '{body}'",
            file.display(),
            self.count,
            index + 1,
        ))
    }
}
