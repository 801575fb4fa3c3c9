//! Prints one line per batch: its name and a hash of every bit of the answer. Two builds whose outputs are equal answer alike.
//!
//! Run `cargo run --release -p umbracast-bench --bin record_answers > before.tsv` before a change of structure, run it
//! again after the change, and compare the two files with `diff`. It records every instruction set of this processor, with and without
//! a BVH, and the adapter `gpu` if there is one. The batches cover all queries, policies, attributes, ray sources, shadows, pictures
//! and bullets.

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use umbracast_files::read_system;
use umbracast_testing::Numbers;

use umbracast::glam::{DQuat, DVec3, Quat, Vec3};
use umbracast::raygen::{Image, Lidar, Parallel, Pose, Toward};
use umbracast::shadow::{Ball, Camera, Lens, Lighting, Spheroid};
use umbracast::{
    Bullet, Bullets, Device, DeviceOptions, Ellipsoid, Ellipsoids, Ends, Inside, Motion, Points, Precision, Query, Ray,
    Rays, Report, Result, Scene, SceneOptions, Segments, Sphere, Spheres, Touch,
};

/// The 64-bit FNV-1a hash of the bytes that it is given.
struct Hash(u64);

impl Hash {
    fn add(mut self, bytes: &[u8]) -> Self {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
        self
    }

    fn records<T: bytemuck::NoUninit>(self, records: &[T]) -> Self {
        self.add(&records.len().to_le_bytes()).add(bytemuck::cast_slice(records))
    }

    /// The numbers of values that are not plain memory; Rust prints each so that it reads back to the same bits (NaN aside).
    fn numbers(self, value: &impl Debug) -> Self {
        let text = format!("{value:?}");
        let is_number = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit() || c == '-') || *word == "inf";
        let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || "-.+".contains(c))).filter(is_number);
        words.fold(self, |hash, word| hash.add(word.as_bytes()).add(b" "))
    }

    fn report(self, report: &Report) -> Self {
        self.records(&[report.rays, report.rays_hit, report.skipped])
    }
}

/// Records the batches of one device.
struct Recorder {
    /// The device and its settings: the start of each line.
    prefix: String,
}

impl Recorder {
    fn line(&self, name: &str, hash: Result<Hash>) {
        match hash {
            Ok(Hash(value)) => println!("{}\t{name}\t{value:016x}", self.prefix),
            Err(_) => println!("{}\t{name}\trefused", self.prefix),
        }
    }

    /// All queries of a batch of rays.
    fn queries(&self, name: &str, scene: &Scene, rays: Rays<'_>, query: &Query) {
        let start = || Hash(0xcbf2_9ce4_8422_2325);
        let line = |verb: &str, hash| self.line(&format!("{name}, {verb}"), hash);
        let hits = scene.closest(rays, query);
        if let Ok(hits) = &hits {
            let attributes = scene.attributes(rays, hits, query);
            line("attributes", attributes.map(|attributes| start().numbers(&attributes)));
        }
        line("closest", hits.map(|a| start().records(&a.records).report(&a.report)));
        line("interval", scene.interval(rays, query).map(|a| start().records(&a.records).report(&a.report)));
        line("occluded", scene.occluded(rays, query).map(|a| start().records(&a.words).report(&a.report)));
        line("count", scene.count(rays, query).map(|a| start().records(&a.records).report(&a.report)));
        let lists =
            |lists: umbracast::HitLists| start().records(&lists.offsets).records(&lists.records).report(&lists.report);
        line("all", scene.all(rays, query).map(lists));
        line("nearest 3", scene.nearest(rays, 3, query).map(lists));
        let few = rays.slice(0..rays.len().min(300));
        line("approach", scene.approach(few, query).map(|a| start().records(&a.records).report(&a.report)));
    }
}

/// Spheres of many sizes: some overlap, touch, contain each other, coincide or have a radius of 0.
fn spheres(count: usize) -> Vec<Sphere> {
    let mut numbers = Numbers(1);
    let mut spheres: Vec<Sphere> =
        (0..count).map(|_| Sphere::new(Vec3::from(numbers.vector()), 0.15 * numbers.unit() * numbers.unit())).collect();
    let first = spheres[0];
    spheres.extend([
        first,
        Sphere::new(first.center, 0.5 * first.radius),
        Sphere::new(first.center + Vec3::X * 2.0 * first.radius, first.radius),
        Sphere::new([0.25, 0.5, -0.5], 0.0),
        Sphere::new([0.5, 0.25, 0.125], 0.125),
        Sphere::new([3.0, 0.0, 0.0], 1.5),
    ]);
    spheres
}

/// Rays of many kinds: from outside, from inside, segments, whole lines, tangents, axis-parallel rays and rays of odd lengths.
fn rays(spheres: &[Sphere], count: usize) -> Vec<Ray> {
    let mut numbers = Numbers(2);
    let ray = |i: usize| {
        let sphere = spheres[i * 7919 % spheres.len()];
        let (a, b) = (Vec3::from(numbers.vector()), Vec3::from(numbers.vector()));
        match i % 8 {
            0 => Ray::new(3.0 * a, b - 3.0 * a),
            1 => Ray::new(sphere.center, b),
            2 => Ray::segment(a, b),
            3 => Ray::new(a, b).line(),
            4 => Ray::new(sphere.center + Vec3::Y * sphere.radius - Vec3::X * 2.0, [1.0, 0.0, 0.0]),
            5 => Ray::new([a.x, a.y, -4.0], [0.0, 0.0, 1.0]),
            6 => Ray::new(4.0 * a, 1e3 * (sphere.center - 4.0 * a)).between(1e-4, 1.0),
            _ => Ray::new(sphere.center + 1.001 * sphere.radius * b.normalize(), [0.4, 0.3, 0.866]),
        }
    };
    (0..count).map(ray).collect()
}

/// Policies one by one, and each precision.
fn policies() -> Vec<(String, Query)> {
    let mut all: Vec<(String, Query)> =
        Precision::ALL.iter().map(|&precision| (precision.word().to_owned(), Query::at(precision))).collect();
    let query = Query::at(Precision::Standard);
    for inside in [Inside::Exit, Inside::Ignore] {
        all.push((format!("{inside:?}").to_lowercase(), query.inside(inside)));
    }
    all.push(("touch = miss".into(), query.touch(Touch::Miss).precision(Precision::Exact)));
    all.push(("ends = half-open".into(), query.ends(Ends::HalfOpen)));
    all
}

/// Queries of spheres and ellipsoids, at rest and moving.
fn record_queries(recorder: &Recorder, device: &Device, tree_from: Option<usize>) -> Result<()> {
    let balls = spheres(1500);
    let rays = rays(&balls, 4000);
    let mut numbers = Numbers(3);
    let mut options = SceneOptions::default();
    options.tree_from = tree_from;
    let still = device.scene(&balls, &options)?;
    for (name, query) in policies() {
        recorder.queries(&format!("spheres, {name}"), &still, (&rays).into(), &query);
    }
    let exact = Query::at(Precision::Exact);
    let few = device.scene(&balls[..5], &options)?;
    recorder.queries("five spheres", &few, (&rays).into(), &exact);
    let one = device.scene(&balls, &options)?;
    recorder.queries("one ray", &one, rays[..1].into(), &exact);
    let pairs = device.pairwise(&balls[..1000], &Default::default())?;
    recorder.queries("pairwise", &pairs, rays[..1000].into(), &exact);
    recorder.queries("no rays", &still, rays[..0].into(), &exact);
    let tiny: Vec<Sphere> = balls.iter().map(|ball| Sphere::new(1e-38 * ball.center, 1e-38 * ball.radius)).collect();
    let tiny = device.scene(&tiny, &options)?;
    recorder.queries("subnormal spheres", &tiny, rays[..800].into(), &exact);

    let (mut masks, mut ray_masks, mut times, mut radii, mut skips) = (vec![], vec![], vec![], vec![], vec![]);
    masks.extend(balls.iter().map(|_| (8.0 * numbers.unit()) as u32));
    for _ in &rays {
        ray_masks.push((8.0 * numbers.unit()) as u32);
        times.push(numbers.unit());
        radii.push(0.01 * numbers.unit());
        skips.push((numbers.unit() * balls.len() as f32) as u32);
    }
    let velocities: Vec<Vec3> = balls.iter().map(|_| 0.2 * Vec3::from(numbers.vector())).collect();
    let masked = device.scene(Spheres::from(&balls).masks(&masks), &options)?;
    let plain = Rays::from(&rays);
    recorder.queries("masks", &masked, plain.masks(&ray_masks), &exact);
    recorder.queries("radii", &still, plain.radii(&radii), &exact);
    recorder.queries("skipped ids", &still, plain.skip_ids(&skips), &exact);
    let moving = Spheres::from(&balls).velocities(&velocities);
    let moving = device.scene(moving, &options.time_range([0.0, 1.0]))?;
    for precision in Precision::ALL {
        let query = exact.precision(precision);
        let name = format!("moving, {}", precision.word());
        recorder.queries(&format!("{name}, at times"), &moving, plain.times(&times), &query);
        recorder.queries(&format!("{name}, at times, radii"), &moving, plain.times(&times).radii(&radii), &query);
        let ended: Vec<Ray> = rays.iter().map(|ray| ray.between(0.0, 1.0)).collect();
        let query = query.motion(Motion::WithRay);
        recorder.queries(&format!("{name}, with the ray"), &moving, (&ended).into(), &query);
    }
    let ellipsoids = balls.iter().map(|ball| {
        let radii = ball.radius.max(0.01) * (0.6 + 0.4 * Vec3::from(numbers.vector()).abs());
        Ellipsoid::new(ball.center, radii).turned(Quat::from_rotation_z(6.0 * numbers.unit()))
    });
    let ellipsoids = Ellipsoids::new(ellipsoids);
    let stretched = device.scene(&ellipsoids, &options)?;
    let moving_ellipsoids =
        device.scene(Spheres::from(&ellipsoids).velocities(&velocities), &options.time_range([0.0, 1.0]))?;
    for precision in [Precision::Fast, Precision::Standard] {
        let query = Query::at(precision);
        recorder.queries(&format!("ellipsoids, {}", precision.word()), &stretched, plain, &query);
        recorder.queries(
            &format!("moving ellipsoids, {}", precision.word()),
            &moving_ellipsoids,
            plain.times(&times),
            &query,
        );
    }

    let points: Vec<[f32; 3]> = (0..3000).map(|_| numbers.vector()).collect();
    for (name, scene) in [("contains", &still), ("contains, ellipsoids", &stretched), ("contains, moving", &moving)] {
        let times = vec![0.5; points.len()];
        let points = Points::from(&points[..]).times(&times);
        let answer = scene.contains(points, &Query::at(Precision::Standard));
        recorder.line(name, answer.map(|a| Hash(7).records(&a.records).report(&a.report)));
    }
    let ends = rays.iter().map(|ray| [ray.origin.to_array(), ray.point_at(0.5).to_array()]);
    let segments = Segments::new(ends);
    recorder.queries("segments", &still, (&segments).into(), &exact);
    let with_ray = exact.motion(Motion::WithRay);
    recorder.queries("segments, moving spheres", &moving, (&segments).into(), &with_ray);
    record_sources(recorder, &still)?;

    let shots: Vec<Bullet> = (0..300)
        .map(|_| {
            Bullet::new(2.0 * Vec3::from(numbers.vector()), Vec3::from(numbers.vector()), 0.3 * numbers.unit() + 0.01)
        })
        .collect();
    let radii: Vec<f32> = shots.iter().map(|_| 0.01 * numbers.unit()).collect();
    let thick: Vec<Sphere> = balls.iter().copied().filter(|ball| ball.radius > 0.0).collect();
    let thick_velocities = &velocities[..thick.len().min(velocities.len())];
    let room = device.scene(&thick, &options)?;
    let moving_room = Spheres::from(&thick).velocities(thick_velocities);
    let moving_room = device.scene(moving_room, &options.time_range([0.0, 20.0]))?;
    for (name, scene) in [("bullets", &room), ("bullets, moving", &moving_room)] {
        for (name, bullets) in
            [(name.to_owned(), Bullets::from(&shots)), (format!("{name}, radii"), Bullets::from(&shots).radii(&radii))]
        {
            let flights = scene.bullets(bullets, 6, &exact);
            recorder.line(&name, flights.map(|f| Hash(7).records(&f.offsets).numbers(&f.records).report(&f.report)));
        }
    }
    let mut changed = still.clone();
    let shifted: Vec<Sphere> =
        balls.iter().map(|ball| Sphere::new(ball.center + 0.05 * Vec3::from(numbers.vector()), ball.radius)).collect();
    let update = changed.update(&shifted)?;
    recorder.line("update", Ok(Hash(7).numbers(&update.quality_loss)));
    recorder.queries("updated", &changed, plain, &exact);
    changed.rebuild()?;
    recorder.queries("rebuilt", &changed, plain, &exact);
    Ok(())
}

/// Rays that the device generates.
fn record_sources(recorder: &Recorder, scene: &Scene) -> Result<()> {
    let exact = Query::at(Precision::Exact);
    for (name, lens) in [
        ("perspective", Lens::Perspective { field_of_view_deg: 50.0 }),
        ("orthographic", Lens::Orthographic { width: 3.0 }),
    ] {
        let camera = Camera { position: DVec3::new(4.0, 3.0, 2.0), target: DVec3::ZERO, up: DVec3::Z, lens };
        let image = Image::new(&camera, [61, 37])?;
        recorder.queries(&format!("image, {name}"), scene, (&image).into(), &exact);
    }
    let poses = [0.0, 0.4].map(|x| Pose { position: DVec3::new(x, 0.2, 0.3), rotation: DQuat::from_rotation_z(x) });
    let elevations: Vec<f64> = (0..9).map(|i| -40.0 + 10.0 * f64::from(i)).collect();
    let azimuths: Vec<f64> = (0..90).map(|i| 4.0 * f64::from(i)).collect();
    let lidar = Lidar::new(&poses, &elevations, &azimuths)?.within(0.1, 5.0)?;
    recorder.queries("lidar", scene, (&lidar).into(), &exact);
    let mut numbers = Numbers(9);
    let points: Vec<[f32; 3]> = (0..700).map(|_| (2.0 * Vec3::from(numbers.vector())).to_array()).collect();
    let parallel = Parallel { points: &points, direction: [0.4, 0.3, 0.866] };
    recorder.queries("parallel rays", scene, (&parallel).into(), &exact);
    let toward = Toward { points: &points, target: [3.0, 2.0, 1.0], radius: 0.5 };
    recorder.queries("rays towards a point", scene, (&toward).into(), &exact);
    Ok(())
}

/// Observers' shadows and small pictures of every system in `systems/`.
fn record_shadows(recorder: &Recorder, device: &Device) -> Result<()> {
    let mut numbers = Numbers(5);
    let mut place = || Vec3::from(numbers.vector()).as_dvec3();
    let light = Ball::new([0.5, 0.5, 200.0], 3.0);
    let occluders: Vec<Ball> = std::iter::once(Ball::new([0.5, 0.5, 20.0], 0.3))
        .chain((0..6).map(|_| Ball::new(place() + 3.0 * DVec3::Z, 0.03)))
        .collect();
    let spheroid = Spheroid::new([0.2, 0.1, 8.0], 0.2, 0.15, [0.1, 0.9, 0.3]);
    let observers: Vec<DVec3> = (0..4000).map(|_| place()).collect();
    let round = Lighting::new(light, occluders)?;
    let flat = round.clone().with_spheroids([spheroid])?;
    for (name, lighting) in [("shadows", &round), ("shadows, spheroids", &flat)] {
        let shadows = device.shadows(lighting, &observers)?;
        let fractions: Vec<f64> = shadows.iter().map(|shadow| shadow.fraction).collect();
        let kinds: Vec<u8> = shadows.iter().map(|shadow| shadow.kind as u8).collect();
        recorder.line(name, Ok(Hash(7).records(&fractions).records(&kinds)));
    }
    let mut systems: Vec<PathBuf> =
        std::fs::read_dir("systems").into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    systems.sort();
    for path in systems.iter().filter(|path| path.extension().is_some_and(|extension| extension == "toml")) {
        let picture = picture(device, path).map(|picture| {
            Hash(7).records(&picture.rgb).records(&picture.t).records(&picture.id).records(&picture.fraction)
        });
        recorder.line(&path.display().to_string(), picture);
    }
    Ok(())
}

/// A small picture of a system's file.
fn picture(device: &Device, path: &Path) -> Result<umbracast::shadow::Picture> {
    let system = read_system(path).map_err(|error| umbracast::Error::InvalidArgument(error.to_string()))?;
    let options = umbracast::shadow::PictureOptions { size: [80, 60], samples: 2, ..system.picture().clone() };
    device.render(&system.with_picture(options)?, None)
}

/// Names of the searches, and the minimum numbers of spheres for a BVH.
const SEARCHES: [(&str, Option<usize>); 2] = [("bvh", None), ("no bvh", Some(usize::MAX))];

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    for level in Device::levels() {
        let cpu = Device::open(&DeviceOptions::new("cpu"))?.with_level(level);
        for (tree, from) in SEARCHES {
            record_queries(&Recorder { prefix: format!("cpu, {level}, {tree}") }, &cpu, from)?;
        }
        record_shadows(&Recorder { prefix: format!("cpu, {level}") }, &cpu)?;
    }
    let Ok(gpu) = Device::open(&DeviceOptions::new("gpu")) else {
        println!("gpu\tnone");
        return Ok(());
    };
    for (tree, from) in SEARCHES {
        record_queries(&Recorder { prefix: format!("gpu, {tree}") }, &gpu, from)?;
    }
    record_shadows(&Recorder { prefix: "gpu".to_owned() }, &gpu)?;
    Ok(())
}
