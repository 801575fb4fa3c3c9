//! The spheres and ellipsoids of a plot: one `closest` query with the rays of an orthographic camera, 2 × 2 per pixel.

use rayon::prelude::*;
use umbracast::glam::{DMat3, DVec2, DVec3};
use umbracast::raygen::Image;
use umbracast::shadow::{Camera, Lens};
use umbracast::{Device, DeviceOptions, Ellipsoid, Ellipsoids, Inside, Precision, Query, SceneOptions, memory};

use super::scenery::Form;
use super::view::{HEIGHT, View, WIDTH};
use crate::error::Result;

/// Rays per pixel, along each axis.
const FINE: usize = 2;
/// Smallest semi-axis in pixels, so that points and thin bodies are visible.
pub(super) const LEAST: f64 = 0.6;
/// Largest distance of the camera from the middle of the scene in widths of the picture, which keeps the error of `t` below a pixel.
const FAR: f64 = 1000.0;
/// A scene that is this many widths of the picture away from the origin is moved there, because rays start at f32 positions.
const AWAY: f64 = 64.0;

/// A sphere or an ellipsoid, with its colour.
pub(super) struct Body {
    pub(super) center: DVec3,
    pub(super) form: Form,
    pub(super) tint: DVec3,
}

/// The image of the bodies, and the depth of each of its rays.
pub(super) struct Balls {
    pub(super) rgba: Vec<u8>,
    /// Depth in pixels, positive towards the eye; −∞ where there is no body.
    near: Vec<f32>,
}

impl Balls {
    pub(super) fn cast(view: &View, bodies: &[Body]) -> Result<Self> {
        let [columns, rows] = [WIDTH, HEIGHT].map(|side| side as usize * FINE);
        let rays = columns * rows;
        memory::check("the plot", (rays * 24) as u64)?;
        // The scene is about as large as 1: a power of two changes no significand.
        let width = f64::from(WIDTH) / view.scale;
        let unit = 2.0_f64.powi((-width.log2()).round().clamp(-300.0, 300.0) as i32);
        let middle = view.point(view.center);
        let shift = if middle.length() > AWAY * width { middle } else { DVec3::ZERO };
        let least = LEAST / view.scale;
        let reach = |form: &Form| form.radii.max_element().max(least);
        let is_seen = |body: &&Body| ((body.center - shift).abs().max_element() + reach(&body.form)) * unit < 1e18;
        let bodies: Vec<&Body> = bodies.iter().filter(is_seen).collect();
        let front = bodies.iter().map(|body| body.center.dot(view.back) + reach(&body.form));
        let front = front.fold(view.center.z, f64::max);
        let depth = (front + width).min(view.center.z + FAR * width);
        let position = (view.point(view.center.truncate().extend(depth)) - shift) * unit;
        let lens = Lens::Orthographic { width: width * unit };
        let camera = Camera { position, target: position - view.back, up: DVec3::Z, lens };
        let image = Image::new(&camera, [columns as u32, rows as u32])?;
        // Precision decides single pixels only. A sphere around the camera would hide the others.
        let query = Query::at(Precision::Standard).inside(Inside::Ignore);
        let device = Device::open(&DeviceOptions::new("cpu"))?;
        let shapes: Vec<(DVec3, DMat3)> = bodies.iter().map(|body| (body.center, body.form.unit_map(least))).collect();
        let one = |body: &&Body| {
            let radii = body.form.radii.max(DVec3::splat(least.max(body.form.radii.max_element() * 2e-6)));
            let center = (body.center - shift) * unit;
            Ellipsoid::new(center.as_vec3(), (radii * unit).as_vec3()).turned(body.form.turn.as_quat())
        };
        let scene = device.scene(&Ellipsoids::new(bodies.iter().map(one)), &SceneOptions::default())?;
        let hits = scene.closest(&image, &query)?;

        let light = DVec3::new(-0.45, 0.65, 0.62).normalize();
        let shaded = |index: usize| {
            let hit = hits.records.get(index).filter(|hit| hit.is_hit())?;
            let at = DVec2::new((index % columns) as f64, (index / columns) as f64) + 0.5;
            let back = depth - f64::from(hit.t) / unit;
            let point = view.point_at(at / FINE as f64, back);
            let (center, map) = shapes.get(hit.id as usize)?;
            let normal = view.turned(map.transpose() * (*map * (point - *center))).normalize_or(DVec3::Z);
            let shade = 0.45 + 0.55 * (0.5 + 0.5 * normal.dot(light)).powi(2);
            // A darker rim separates balls of the same colour.
            let rim = 1.0 - 0.55 * (1.0 - normal.z.clamp(0.0, 1.0)).powi(4);
            Some(((back * view.scale) as f32, bodies.get(hit.id as usize)?.tint * (shade * rim).powf(0.45)))
        };
        let mut near = vec![f32::NEG_INFINITY; rays];
        let mut rgba = vec![0; WIDTH as usize * HEIGHT as usize * 4];
        let strips = near.par_chunks_mut(columns * FINE).zip(rgba.par_chunks_mut(WIDTH as usize * 4)).enumerate();
        strips.for_each(|(row, (near, rgba))| {
            for (column, pixel) in rgba.chunks_exact_mut(4).enumerate() {
                let (mut sum, mut count) = (DVec3::ZERO, 0.0);
                for fine in (0..FINE * FINE).map(|i| (i / FINE) * columns + FINE * column + i % FINE) {
                    if let Some((depth, color)) = shaded(row * FINE * columns + fine) {
                        near[fine] = depth;
                        (sum, count) = (sum + color, count + 1.0);
                    }
                }
                let color = (sum / f64::max(count, 1.0)).extend(count / (FINE * FINE) as f64);
                pixel.copy_from_slice(&color.to_array().map(|part| (255.0 * part.clamp(0.0, 1.0)).round() as u8));
            }
        });
        Ok(Self { rgba, near })
    }

    /// Whether a body hides a point of the picture, which is nearer to the eye than the point by more than `margin` pixels.
    pub(super) fn hides(&self, at: DVec3, margin: f64) -> bool {
        let [x, y] = (at.truncate() * FINE as f64).floor().to_array();
        let [columns, rows] = [WIDTH, HEIGHT].map(|side| f64::from(side) * FINE as f64);
        let is_inside = (0.0..columns).contains(&x) && (0.0..rows).contains(&y);
        is_inside && self.near.get((y * columns + x) as usize).is_some_and(|near| f64::from(*near) > at.z + margin)
    }
}
