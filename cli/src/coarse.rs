//! A warning if rounding to f32 changes the input too much, with advice about `--origin`.

use umbracast::io::Rounding;
use umbracast::{Scene, Sphere};

/// A change larger than this fraction of the smallest radius can change results.
const SHARE: f64 = 1e-3;

/// Returns a warning if rounding to f32 changes positions, radii, or ends, times and velocities by too much for these spheres. An origin
/// improves only positions. Directions are not checked: their accuracy is relative to their longest component.
pub(crate) fn warning(rounding: &Rounding, scene: &Scene, has_origin: bool) -> Option<String> {
    let spheres = scene.spheres();
    let smallest = spheres.iter().map(|sphere| sphere.radius).filter(|r| *r > 0.0).fold(f32::INFINITY, f32::min);
    let most = SHARE * f64::from(smallest);
    let said = |what: &str, by: f64, then: &str| {
        format!(
            "warning: rounding to f32 changed {what} by up to {by:.1e}; the smallest radius is {smallest:.1e}{then}"
        )
    };
    let coarse: Vec<usize> = (0..3).filter(|&axis| rounding.positions[axis].by > most).collect();
    if !coarse.is_empty() {
        let by = rounding.positions.iter().map(|moved| moved.by).fold(0.0, f64::max);
        return Some(said("positions", by, &advice(rounding, spheres, &coarse, has_origin)));
    }
    if rounding.radius > most {
        return Some(said("radii", rounding.radius, ""));
    }
    let (by, field) = rounding.travel;
    (by > most).then(|| said(&format!("values of {field}"), by, ""))
}

/// Advice for positions that are too coarse along some axes. `--origin` with the centre of the spheres helps along an axis if it halves the
/// magnitude of the coordinate with the largest change.
fn advice(rounding: &Rounding, spheres: &[Sphere], coarse: &[usize], has_origin: bool) -> String {
    let helps = |axis: &usize| {
        let value = rounding.positions[*axis].value;
        // A number half as large has one more bit after the binary point.
        (value - middle(spheres, *axis)).abs() < 0.5 * value.abs()
    };
    let helped: Vec<usize> = coarse.iter().copied().filter(helps).collect();
    if helped.is_empty() {
        return ": the coordinates are too far apart for f32, with any origin".into();
    }
    let origin = if has_origin { "an --origin nearer to the spheres" } else { "--origin auto" };
    if helped.len() == coarse.len() {
        return format!(": {origin} keeps more digits");
    }
    let names: Vec<&str> = helped.iter().map(|axis| ["x", "y", "z"][*axis]).collect();
    format!(": {origin} keeps more digits, but only of {}", names.join(" and "))
}

/// Centre of the bounds of all spheres along an axis, as for `--origin auto`.
fn middle(spheres: &[Sphere], axis: usize) -> f64 {
    let ends = spheres.iter().map(|sphere| {
        let (center, radius) = (f64::from(sphere.center[axis]), f64::from(sphere.radius));
        [center - radius, center + radius]
    });
    let widen = |[low, high]: [f64; 2], [from, to]: [f64; 2]| [low.min(from), high.max(to)];
    let [low, high] = ends.fold([f64::INFINITY, f64::NEG_INFINITY], widen);
    0.5 * (low + high)
}
