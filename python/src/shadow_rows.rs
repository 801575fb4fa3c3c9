//! Visible fractions for arrays that broadcast.

use numpy::{PyReadonlyArray1, PyReadwriteArray1};
use pyo3::prelude::*;
use umbracast::glam::DVec3;
use umbracast::shadow::{Ball, LimbDarkening, ShadowRow, Spheroid};

use crate::device::Device;
use crate::exceptions::exception;
use crate::gil::interruptible;
use crate::queries::output_slice;

/// An array as Python passes it: its numbers in C order, and the step in numbers along each axis of the broadcast shape, 0 where it repeats.
type PyColumn<'py> = (PyReadonlyArray1<'py, f64>, Vec<usize>);

/// A view of [`PyColumn`] that does not need the GIL.
struct Column<'a> {
    numbers: &'a [f64],
    steps: &'a [usize],
}

impl<'a> Column<'a> {
    fn new((numbers, steps): &'a PyColumn<'_>) -> PyResult<Self> {
        Ok(Self { numbers: numbers.as_slice()?, steps })
    }

    /// Position of a row, given by its index along each axis.
    fn start(&self, place: &[usize]) -> usize {
        place.iter().zip(self.steps).map(|(index, step)| index * step).sum()
    }

    /// Step from one body to the next.
    fn body_step(&self) -> usize {
        self.steps.last().copied().unwrap_or(0)
    }

    fn vector(&self, at: usize) -> DVec3 {
        DVec3::from_slice(&self.numbers[at..at + 3])
    }
}

/// Largest number of axes of an array of NumPy.
const MOST_AXES: usize = 64;

/// Computes visible fraction, kind of shadow and, with a law of limb darkening, flux. `shape` is the broadcast shape of the rows, and `bodies`
/// the number of bodies per row. The columns of bodies have one more axis. Without polar radii, all bodies are spheres; without poles, the poles
/// are the z axis. The column of limb darkening has the number of coefficients. Returns None, or the row, the body and the message of the first invalid value: the body is None if the value is of no body.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "a column per argument, and an array for each column of the answer")]
#[pyo3(signature = (device, shape, bodies, given, polar, limb_darkening, limb_law, fraction, kind, flux, progress))]
pub(crate) fn visible_fraction(
    py: Python<'_>,
    device: &Device,
    shape: Vec<usize>,
    bodies: usize,
    given: [PyColumn<'_>; 5],
    polar: (Option<PyColumn<'_>>, Option<PyColumn<'_>>),
    limb_darkening: Option<(PyColumn<'_>, usize)>,
    limb_law: &str,
    mut fraction: PyReadwriteArray1<'_, f64>,
    mut kind: PyReadwriteArray1<'_, u8>,
    mut flux: PyReadwriteArray1<'_, f64>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Option<BadRow>> {
    let count = shape.iter().product();
    let (fraction, kind) = (output_slice(&mut fraction, "fraction", count)?, output_slice(&mut kind, "kind", count)?);
    let flux = output_slice(&mut flux, "flux", count)?;
    let law = |given: &[f64]| match (limb_law, given) {
        ("power-2", &[c, alpha]) => LimbDarkening::power_2(c, alpha),
        ("four-parameter", &[a1, a2, a3, a4]) => LimbDarkening::four_parameter([a1, a2, a3, a4]),
        (_, &[u1, u2]) => LimbDarkening::new(u1, u2),
        (_, &[u1]) => LimbDarkening::new(u1, 0.0),
        _ => Err(umbracast::Error::InvalidArgument(format!("limb_darkening has {} numbers", given.len()))),
    };
    let limb = limb_darkening.as_ref().map(|(column, count)| {
        let column = Column::new(column)?;
        let laws: umbracast::Result<Vec<LimbDarkening>> = column.numbers.chunks(*count).map(law).collect();
        Ok::<_, PyErr>((column, *count, laws.map_err(|error| exception(py, error))?))
    });
    let limb = limb.transpose()?;
    let [observers, light, light_radius, centers, radii] = &given;
    let (observers, light, light_radius) = (Column::new(observers)?, Column::new(light)?, Column::new(light_radius)?);
    let (centers, radii) = (Column::new(centers)?, Column::new(radii)?);
    let polar_radii = polar.0.as_ref().map(Column::new).transpose()?;
    let poles = polar.1.as_ref().map(Column::new).transpose()?;
    let fill = |index: usize, row: &mut ShadowRow| {
        let mut place = [0; MOST_AXES];
        let mut rest = index;
        for (place, &size) in place.iter_mut().zip(&shape).skip(1).rev() {
            (rest, *place) = (rest / size, rest % size);
        }
        place[0] = rest;
        let place = &place[..shape.len()];
        row.observer = observers.vector(observers.start(place));
        row.light = Ball::new(light.vector(light.start(place)), light_radius.numbers[light_radius.start(place)]);
        row.limb_darkening = limb.as_ref().map(|(column, count, laws)| laws[column.start(place) / count]);
        let (center, radius) = (centers.start(place), radii.start(place));
        let [polar, pole] = [&polar_radii, &poles].map(|column| column.as_ref().map_or(0, |one| one.start(place)));
        row.bodies.clear();
        row.bodies.extend((0..bodies).map(|body| {
            let radius = radii.numbers[radius + body * radii.body_step()];
            Spheroid {
                center: centers.vector(center + body * centers.body_step()),
                radius,
                polar_radius: polar_radii.as_ref().map_or(radius, |one| one.numbers[polar + body * one.body_step()]),
                pole: poles.as_ref().map_or(DVec3::Z, |one| one.vector(pole + body * one.body_step())),
            }
        }));
    };
    interruptible(py, count, progress.as_ref(), |token| {
        match device.inner().with_cancel(token).shadows_by_row(count, &fill) {
            Ok(found) => {
                for (i, found) in found.into_iter().enumerate() {
                    (fraction[i], kind[i], flux[i]) = (found.shadow.fraction, found.shadow.kind as u8, found.flux);
                }
                Ok(None)
            }
            Err(umbracast::Error::BadRecord { what, index, field, value, why }) => {
                let mut row = ShadowRow::new([0.0; 3], Ball::new([0.0; 3], 1.0), []);
                fill(index as usize, &mut row);
                let is_bad = |body: &Spheroid| ShadowRow { bodies: vec![*body], ..row.clone() }.check(0).is_err();
                let body = (what == "row" || field == "position").then(|| row.bodies.iter().position(is_bad)).flatten();
                Ok(Some((what, index, body, field, value, why.into_owned())))
            }
            Err(other) => Err(other.into()),
        }
    })
}

/// What is invalid, the row, the body if it is one's, the field, its value and the rule.
type BadRow = (&'static str, u64, Option<usize>, &'static str, String, String);
