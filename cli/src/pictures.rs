//! Comparison of two pictures of the same system: by the CPU engine in f64, and by a GPU in f32.

use std::fmt;

use serde::Serialize;
use umbracast::shadow::Picture;

/// Differences between two pictures.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Difference {
    pixels: u64,
    /// Pixels with different spheres at their centres.
    ids: u64,
    /// Those of them that are not near an edge.
    ids_inside: u64,
    /// Largest difference of the visible fraction away from edges, those of shadows too, and its pixel.
    fraction: f64,
    fraction_at: Option<[u32; 2]>,
    /// Pixels away from edges whose visible fraction differs by more than is allowed.
    fractions_beyond: u64,
    /// Largest relative difference of `t` away from edges, and its pixel.
    t: f64,
    t_at: Option<[u32; 2]>,
    /// Pixels whose colour differs by more than one 8-bit step, and the largest difference of all pixels in steps.
    colors: u64,
    color_steps: u8,
}

/// Allowed difference of the visible fraction away from edges: ten times the largest observed one. That one is at the terminator close to
/// the limb, where rounding of the direction moves the point on the ground the most.
const FRACTION: f64 = 1e-3;
/// Additional allowance: the change of the visible fraction over this part of a pixel. Directions in f32 are accurate to that part, and on
/// a moonlet of few pixels the whole terminator is within one pixel.
const SHIFT_PX: f64 = 1e-3;
/// Change of the visible fraction per pixel from which the edge of a shadow may be narrower than a pixel, so that the fraction may change by
/// any amount over a thousandth of it. The limit of [`COLORS`] covers these pixels.
const SHADOW_EDGE: f64 = 0.5;
/// Allowed relative difference of `t` away from edges.
const T: f64 = 1e-5;
/// Fraction of the pixels whose colour may differ by more than one step: some edges fall on another sample.
const COLORS: f64 = 1e-3;

impl Difference {
    pub(crate) fn between(balls: usize, found: &Picture, expected: &Picture) -> Self {
        let [width, height] = expected.size;
        let mut d = Self { pixels: u64::from(width) * u64::from(height), ..Self::default() };
        let channels = expected.channel_count();
        let (ours, theirs) = (found.srgb8(), expected.srgb8());
        for (at, (a, b)) in ours.chunks(channels).zip(theirs.chunks(channels)).enumerate() {
            let steps = a.iter().zip(b).map(|(a, b)| a.abs_diff(*b)).max().unwrap_or(0);
            d.colors += u64::from(steps > 1);
            d.color_steps = d.color_steps.max(steps);
            let (x, y) = (at as u32 % width, at as u32 / width);
            let edge = near_edge(expected, x, y);
            if found.id[at] != expected.id[at] {
                d.ids += 1;
                d.ids_inside += u64::from(!edge);
                continue;
            }
            if edge || expected.id[at] > balls as u32 {
                continue;
            }
            let apart = (f64::from(found.fraction[at]) - f64::from(expected.fraction[at])).abs();
            let slope = slope(expected, x, y);
            if apart.is_nan() || slope < SHADOW_EDGE {
                if apart.is_nan() || apart > d.fraction {
                    (d.fraction, d.fraction_at) = (apart, Some([x, y]));
                }
                d.fractions_beyond += u64::from(apart.is_nan() || apart > FRACTION + SHIFT_PX * slope);
            }
            let apart = (f64::from(found.t[at]) / f64::from(expected.t[at]) - 1.0).abs();
            if apart.is_nan() || apart > d.t {
                (d.t, d.t_at) = (apart, Some([x, y]));
            }
        }
        d
    }

    /// Describes the differences that exceed the limits; `None` if there are none.
    pub(crate) fn broken(&self) -> Option<String> {
        let mut faults = Vec::new();
        if self.ids_inside > 0 {
            faults.push(format!("{} pixels away from edges show a different sphere", self.ids_inside));
        }
        if self.fractions_beyond > 0 {
            faults.push(format!(
                "{} visible fractions differ by more than {FRACTION:.0e} plus the change over {SHIFT_PX} pixels, by up to {:.1e}",
                self.fractions_beyond, self.fraction
            ));
        }
        if self.t.is_nan() || self.t > T {
            faults.push(format!("distances differ by up to {:.1e} (relative); at most {T:.0e} is allowed", self.t));
        }
        if self.colors as f64 > COLORS * self.pixels as f64 {
            let allowed = COLORS * self.pixels as f64;
            faults.push(format!(
                "{} colours differ by more than one 8-bit step; at most {allowed:.0} are allowed",
                self.colors
            ));
        }
        (!faults.is_empty()).then(|| faults.join("; "))
    }
}

/// Whether a pixel within 2 pixels in x and y shows a different sphere.
fn near_edge(picture: &Picture, x: u32, y: u32) -> bool {
    let [width, height] = picture.size;
    let own = picture.id[(y * width + x) as usize];
    (y.saturating_sub(2)..(y + 3).min(height))
        .any(|v| (x.saturating_sub(2)..(x + 3).min(width)).any(|u| picture.id[(v * width + u) as usize] != own))
}

/// Largest difference of the visible fraction between a pixel and its neighbours.
fn slope(picture: &Picture, x: u32, y: u32) -> f64 {
    let [width, height] = picture.size;
    let at = |x: u32, y: u32| f64::from(picture.fraction[(y * width + x) as usize]);
    let around = |c: u32, side: u32| c.saturating_sub(1)..(c + 2).min(side);
    let near = around(y, height).flat_map(|v| around(x, width).map(move |u| (u, v)));
    near.map(|(u, v)| (at(u, v) - at(x, y)).abs()).fold(0.0, f64::max)
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "compared with the CPU engine, {} of {} pixels differ by more than one 8-bit step (at most {}), {} ids differ, \
             fractions by at most {:.1e}, distances by at most {:.1e} (relative)",
            self.colors, self.pixels, self.color_steps, self.ids, self.fraction, self.t
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fraction_may_differ_at_the_edge_of_a_shadow_only() {
        let picture = |fraction: &[f32]| {
            let count = fraction.len();
            let (colors, t, ids) = (vec![[0.5; 3]; count], vec![1.0; count], vec![0; count]);
            Picture::from_arrays([count as u32, 1], colors, Vec::new(), t, ids, fraction.to_vec()).unwrap()
        };
        let judged = |found: &[f32], expected: &[f32]| Difference::between(1, &picture(found), &picture(expected));
        let (sharp, soft) = ([1.0, 1.0, 0.0, 0.0], [1.0, 0.75, 0.5, 0.25]);
        let edge = judged(&[1.0, 0.0, 0.0, 0.0], &sharp);
        assert_eq!((edge.broken(), edge.fraction), (None, 0.0));
        for (found, expected) in
            [([0.0, 1.0, 0.0, 0.0], sharp), ([1.0, 0.752, 0.5, 0.25], soft), ([f32::NAN; 4], sharp)]
        {
            assert!(judged(&found, &expected).broken().unwrap().contains("visible fractions differ"), "{found:?}");
        }
    }
}
