//! A graticule: meridians and parallels at a regular spacing.

/// Width of a line in pixels.
const WIDTH: f64 = 1.1;

/// Share of a pixel that lines cover, 0…1. `spacing` is in degrees, angles are in radians. `footprint` is the size of a pixel on the
/// surface, in radians. Meridians end at the last parallel, so that they do not crowd at the poles; those at multiples of 90° continue.
pub(crate) fn cover(longitude: f64, latitude: f64, spacing: f64, footprint: f64) -> f64 {
    let spacing_rad = spacing.to_radians();
    let apart = |angle: f64, step: f64| (angle - (angle / step).round() * step).abs();
    let near = |distance: f64| (0.5 * WIDTH + 0.5 - distance / footprint).clamp(0.0, 1.0);
    let parallel = near(apart(latitude, spacing_rad));
    let last = (90.0 / spacing).ceil() * spacing - spacing;
    let quarter = std::f64::consts::FRAC_PI_2;
    let step = if latitude.abs().to_degrees() > last { quarter.max(spacing_rad) } else { spacing_rad };
    let meridian = near(apart(longitude, step) * latitude.cos());
    parallel.max(meridian)
}
