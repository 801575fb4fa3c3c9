//! Scenes and their queries.

use std::cell::RefCell;

use js_sys::{Float32Array, Uint8Array, Uint32Array};
use umbracast::glam::{Quat, Vec3};
use umbracast::queries::{All, Approach, Closest, Contains, Count, Interval, Nearest, Occluded, Transmittance};
use umbracast::{
    Bullet, Bullets, Device, Ellipsoid, Ellipsoids, Error, HitLists, Points, Ray, Rays, Report, SceneOptions, Sphere,
    Spheres,
};
use wasm_bindgen::prelude::*;

use crate::arrays::{Arguments, collect};
use crate::errors::{JsError, Result, record, set, wrong_count};

/// Spheres on a device.
#[wasm_bindgen]
pub struct Scene(RefCell<umbracast::Scene>);

/// Spheres or ellipsoids from JavaScript, with their columns.
struct Input {
    spheres: Vec<Sphere>,
    ellipsoids: Option<Ellipsoids>,
    masks: Option<Vec<u32>>,
    velocities: Option<Vec<Vec3>>,
    transmittances: Option<Vec<f32>>,
}

impl Input {
    fn new(arguments: &Arguments<'_>) -> Result<Self> {
        let (mut spheres, mut ellipsoids) = (Vec::new(), None);
        if let Some(radii) = arguments.vectors("semi_axes")? {
            let centers = arguments.vectors("spheres")?.unwrap_or_default();
            same_length("centres", centers.len(), "semi_axes", radii.len())?;
            let rotations = arguments.rows::<f32, 4>("rotations")?;
            same_length("ellipsoids", radii.len(), "rotations", rotations.as_ref().map_or(radii.len(), Vec::len))?;
            let turn = |i: usize| {
                let [w, x, y, z] = rotations.as_ref().map_or([1.0, 0.0, 0.0, 0.0], |all| all[i]);
                Quat::from_xyzw(x, y, z, w)
            };
            let pairs = centers.into_iter().zip(radii).enumerate();
            ellipsoids = Some(Ellipsoids::new(pairs.map(|(i, (c, r))| Ellipsoid::new(c, r).turned(turn(i)))));
        } else if arguments.rows::<f32, 4>("rotations")?.is_some() {
            return Err(
                Error::InvalidArgument("rotations are those of ellipsoids: give their semi_axes, too".into()).into()
            );
        } else {
            spheres = arguments.rows::<f32, 4>("spheres")?.unwrap_or_default();
        }
        Ok(Self {
            spheres: spheres.into_iter().map(|[x, y, z, r]| Sphere::new([x, y, z], r)).collect(),
            ellipsoids,
            masks: arguments.column("masks")?,
            velocities: arguments.vectors("velocities")?,
            transmittances: arguments.column("transmittances")?,
        })
    }

    fn view(&self) -> Spheres<'_> {
        let mut spheres = self.ellipsoids.as_ref().map_or_else(|| Spheres::from(&self.spheres), Spheres::from);
        spheres.masks = self.masks.as_deref();
        spheres.velocities = self.velocities.as_deref();
        spheres.transmittances = self.transmittances.as_deref();
        spheres
    }
}

impl Scene {
    pub(crate) async fn new(device: &Device, arguments: Arguments<'_>) -> Result<Self> {
        let input = Input::new(&arguments)?;
        let mut options = SceneOptions::default();
        match arguments.column("time_range")?.as_deref() {
            None => {}
            Some(&[first, last]) => options = options.time_range([first, last]),
            Some(other) => return Err(wrong_count("time_range", other.len(), 2)),
        }
        let scene = match arguments.flag("pairwise") {
            true => device.pairwise_async(input.view(), &options).await?,
            false => device.scene_async(input.view(), &options).await?,
        };
        Ok(Self(RefCell::new(scene)))
    }

    /// The scene as it is now. An update does not change a query that runs.
    fn current(&self) -> umbracast::Scene {
        self.0.borrow().clone()
    }
}

#[wasm_bindgen]
impl Scene {
    /// Replaces the spheres by as many others.
    pub async fn update(&self, arguments: JsValue) -> Result<JsValue> {
        let input = Input::new(&Arguments(&arguments))?;
        let mut scene = self.current();
        let update = scene.update_async(input.view()).await?;
        if update.rebuild_suggested && !scene.device().is_cpu() {
            scene.rebuild_async().await?;
        }
        self.0.replace(scene);
        Ok(record([
            ("quality_loss", update.quality_loss.into()),
            ("rebuild_suggested", update.rebuild_suggested.into()),
        ]))
    }

    /// Casts the rays among the arguments. `verb` is the name of the query.
    pub async fn cast(&self, verb: String, arguments: JsValue) -> Result<JsValue> {
        let (scene, arguments) = (self.current(), Arguments(&arguments));
        let query = arguments.query()?;
        let owned = RayColumns::new(&arguments)?;
        let rays = owned.view();
        Ok(match verb.as_str() {
            "closest" => {
                let found = scene.cast_async(Closest, rays, &query).await?;
                let object = record([("t", floats(found.len(), &|i| found[i].t)?)]);
                with_report(object, &found.report, [("id", integers(found.len(), &|i| found[i].id)?)])
            }
            "interval" => {
                let found = scene.cast_async(Interval, rays, &query).await?;
                let object = record([
                    ("t_enter", floats(found.len(), &|i| found[i].t_enter)?),
                    ("t_exit", floats(found.len(), &|i| found[i].t_exit)?),
                ]);
                with_report(object, &found.report, [("id", integers(found.len(), &|i| found[i].id)?)])
            }
            "approach" => {
                let found = scene.cast_async(Approach, rays, &query).await?;
                let object = record([
                    ("t", floats(found.len(), &|i| found[i].t)?),
                    ("clearance", floats(found.len(), &|i| found[i].clearance)?),
                ]);
                with_report(object, &found.report, [("id", integers(found.len(), &|i| found[i].id)?)])
            }
            "occluded" => {
                let found = scene.cast_async(Occluded, rays, &query).await?;
                let bits = collect("results", found.iter().map(u8::from))?;
                with_report(record([]), &found.report, [("occluded", Uint8Array::from(&bits[..]).into())])
            }
            "count" => {
                let found = scene.cast_async(Count, rays, &query).await?;
                with_report(record([]), &found.report, [("count", Uint32Array::from(&found[..]).into())])
            }
            "transmittance" => {
                let found = scene.cast_async(Transmittance, rays, &query).await?;
                with_report(record([]), &found.report, [("transmittance", Float32Array::from(&found[..]).into())])
            }
            "all" => lists(&scene.cast_async(All, rays, &query).await?)?,
            "nearest" => {
                let k = arguments.number("k").unwrap_or_default() as u32;
                lists(&scene.cast_async(Nearest(k), rays, &query).await?)?
            }
            _ => return Err(JsError::new("InvalidArgument", &format!("'{verb}' is not a query"))),
        })
    }

    /// Counts the spheres that contain each of the points among the arguments.
    pub async fn contains(&self, arguments: JsValue) -> Result<JsValue> {
        let (scene, arguments) = (self.current(), Arguments(&arguments));
        let query = arguments.query()?;
        let points = arguments.rows::<f32, 3>("points")?.unwrap_or_default();
        let (masks, times) = (arguments.column("masks")?, arguments.column("times")?);
        let skip_ids = arguments.column("skip_ids")?;
        let mut input = Points::from(&points);
        if let Some(first) = arguments.number("first") {
            input = input.numbered_from(first as u64);
        }
        if let Some(masks) = &masks {
            input = input.masks(masks);
        }
        if let Some(times) = &times {
            input = input.times(times);
        }
        if let Some(skip_ids) = &skip_ids {
            input = input.skip_ids(skip_ids);
        }
        let found = scene.cast_async(Contains, input, &query).await?;
        let object = record([("count", integers(found.len(), &|i| found[i].count)?)]);
        Ok(with_report(object, &found.report, [("id", integers(found.len(), &|i| found[i].id)?)]))
    }

    /// Traces the bullets among the arguments through up to `bounces` ricochets.
    pub async fn bullets(&self, arguments: JsValue) -> Result<JsValue> {
        let (scene, arguments) = (self.current(), Arguments(&arguments));
        let (starts, targets) =
            (arguments.vectors("starts")?.unwrap_or_default(), arguments.vectors("targets")?.unwrap_or_default());
        let speeds = arguments.column("speeds")?;
        same_length("starts", starts.len(), "targets", targets.len())?;
        same_length("starts", starts.len(), "speeds", speeds.as_ref().map_or(starts.len(), Vec::len))?;
        let speed = |i: usize| speeds.as_ref().map_or(1.0, |all| all[i]);
        let pairs = starts.into_iter().zip(targets).enumerate();
        let records = collect("bullets", pairs.map(|(i, (from, to))| Bullet::new(from, to, speed(i))))?;
        let (radii, from_ids) = (arguments.column("radii")?, arguments.column("from_ids")?);
        let mut bullets = Bullets::from(&records);
        if let Some(radii) = &radii {
            bullets = bullets.radii(radii);
        }
        if let Some(from_ids) = &from_ids {
            bullets = bullets.from_ids(from_ids);
        }
        let query = arguments.query()?;
        let bounces = arguments.number("bounces").unwrap_or(1.0) as u32;
        let found = scene.bullets_async(bullets, bounces, &query).await?;
        let legs = &found.records;
        let status = collect("results", legs.iter().map(|leg| leg.status as u8))?;
        let object = record([
            ("offsets", integers(found.offsets.len(), &|i| found.offsets[i] as u32)?),
            ("status", Uint8Array::from(&status[..]).into()),
            ("id", integers(legs.len(), &|i| legs[i].id)?),
            ("distance", floats(legs.len(), &|i| legs[i].distance)?),
            ("frames", floats(legs.len(), &|i| legs[i].frames)?),
            ("point", floats(3 * legs.len(), &|i| legs[i / 3].point[i % 3])?),
            ("grazing_rad", floats(legs.len(), &|i| legs[i].grazing_rad)?),
        ]);
        Ok(with_report(
            object,
            &found.report,
            [("velocity", floats(3 * legs.len(), &|i| legs[i / 3].velocity[i % 3])?)],
        ))
    }
}

/// Rays from JavaScript, with their columns.
struct RayColumns {
    rays: Vec<Ray>,
    first: Option<u64>,
    masks: Option<Vec<u32>>,
    skip_ids: Option<Vec<u32>>,
    from_ids: Option<Vec<u32>>,
    times: Option<Vec<f32>>,
    radii: Option<Vec<f32>>,
}

impl RayColumns {
    fn new(arguments: &Arguments<'_>) -> Result<Self> {
        let [origins, directions] = ["origins", "directions"].map(|name| arguments.rows::<f32, 3>(name));
        let (origins, directions) = (origins?.unwrap_or_default(), directions?.unwrap_or_default());
        // One origin or one direction is that of all rays.
        let count = if origins.len() == 1 { directions.len() } else { origins.len() };
        if directions.len() != 1 {
            same_length("origins", count, "directions", directions.len())?;
        }
        let end = |name: &'static str, default: f32| -> Result<Vec<f32>> {
            let ends = arguments.column(name)?.unwrap_or_else(|| vec![default]);
            if ends.len() != 1 {
                same_length("rays", count, name, ends.len())?;
            }
            Ok(ends)
        };
        let (t_min, t_max) = (end("t_min", 0.0)?, end("t_max", f32::INFINITY)?);
        let ray = |i: usize| {
            let ray = Ray::new(origins[i % origins.len()], directions[i % directions.len()]);
            ray.between(t_min[i % t_min.len()], t_max[i % t_max.len()])
        };
        let first = arguments.number("first").map(|first| first as u64);
        Ok(Self {
            rays: collect("rays", (0..count).map(ray))?,
            first,
            masks: arguments.column("masks")?,
            skip_ids: arguments.column("skip_ids")?,
            from_ids: arguments.column("from_ids")?,
            times: arguments.column("times")?,
            radii: arguments.column("ray_radius")?,
        })
    }

    fn view(&self) -> Rays<'_> {
        let mut rays = Rays::from(&self.rays);
        if let Some(first) = self.first {
            rays = rays.numbered_from(first);
        }
        if let Some(masks) = &self.masks {
            rays = rays.masks(masks);
        }
        if let Some(skip_ids) = &self.skip_ids {
            rays = rays.skip_ids(skip_ids);
        }
        if let Some(from_ids) = &self.from_ids {
            rays = rays.from_ids(from_ids);
        }
        if let Some(times) = &self.times {
            rays = rays.times(times);
        }
        if let Some(radii) = &self.radii {
            rays = rays.radii(radii);
        }
        rays
    }
}

fn same_length(left_name: &'static str, left: usize, right_name: &'static str, right: usize) -> Result<()> {
    if left == right {
        return Ok(());
    }
    Err(Error::LengthsDiffer { left_name, left: left as u64, right_name, right: right as u64 }.into())
}

fn floats(count: usize, number: &dyn Fn(usize) -> f32) -> Result<JsValue> {
    Ok(Float32Array::from(&collect("results", (0..count).map(number))?[..]).into())
}

fn integers(count: usize, number: &dyn Fn(usize) -> u32) -> Result<JsValue> {
    Ok(Uint32Array::from(&collect("results", (0..count).map(number))?[..]).into())
}

/// Adds the last columns and the report to a result.
fn with_report<const N: usize>(object: JsValue, report: &Report, columns: [(&str, JsValue); N]) -> JsValue {
    set(&object, columns);
    let count = |value: u64| JsValue::from(value as f64);
    let report = record([
        ("rays", count(report.rays)),
        ("rays_hit", count(report.rays_hit)),
        ("skipped", count(report.skipped)),
        ("overflowed", count(report.overflowed)),
        ("resolved_exactly", count(report.resolved_exactly)),
        ("off_surface", count(report.off_surface)),
        ("precision", report.precision.word().into()),
        ("seconds", report.seconds.into()),
    ]);
    set(&object, [("report", report)]);
    object
}

fn lists(found: &HitLists) -> Result<JsValue> {
    let object = record([
        ("offsets", integers(found.offsets.len(), &|i| found.offsets[i] as u32)?),
        ("t_enter", floats(found.records.len(), &|i| found.records[i].t_enter)?),
        ("t_exit", floats(found.records.len(), &|i| found.records[i].t_exit)?),
    ]);
    Ok(with_report(object, &found.report, [("id", integers(found.records.len(), &|i| found.records[i].id)?)]))
}
