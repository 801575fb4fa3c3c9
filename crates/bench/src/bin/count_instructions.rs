//! Small workloads of the CPU engine, for counting their instructions. `tests/cpu/instructions.rs` runs this program under callgrind and
//! compares the counts with `tests/data/instructions.tsv`.
//!
//! `cargo run --release -p umbracast-bench --bin count_instructions AVX2` prints the names of the workloads in the order
//! in which they run. Everything runs on one thread. Only [`measured`] is counted: it reads no clock and prints nothing. The workloads
//! include the builds of both BVHs that the CPU builds: its own, and the one for GPUs (`src/bvh/qbvh4/build_lbvh.rs`).

use std::path::Path;
use umbracast_files::parse_system;
use umbracast_testing::Numbers;

use umbracast::glam::{DVec3, Quat, Vec3};
use umbracast::shadow::{Ball, Lighting, PictureOptions, System};
use umbracast::{
    Bullet, Device, DeviceOptions, Ellipsoid, Ellipsoids, Inside, Precision, Query, Ray, Result, Scene, SceneOptions,
    Sphere, Spheres,
};
use umbracast_files::PLANET;

/// Uniform in the unit cube.
fn point(numbers: &mut Numbers) -> Vec3 {
    Vec3::new(numbers.unit(), numbers.unit(), numbers.unit())
}

/// Uniform in the cube from −1 to 1, but not shorter than 0.1.
fn direction(numbers: &mut Numbers) -> Vec3 {
    loop {
        let direction = Vec3::from(numbers.vector());
        if direction.length_squared() > 0.01 {
            return direction;
        }
    }
}

/// Runs a workload. Callgrind counts between the start and the end of this function, and writes one file per call.
#[inline(never)]
fn measured(work: &mut dyn FnMut() -> Result<()>) -> Result<()> {
    work()
}

/// Equal spheres in the unit cube. Their volumes add up to an eighth of it.
fn spheres(count: u32) -> Vec<Sphere> {
    let mut numbers = Numbers(1);
    let radius = 0.31 / (count as f32).cbrt();
    (0..count).map(|_| Sphere::new(point(&mut numbers), radius)).collect()
}

/// Incoherent rays that start outside the spheres.
fn random(count: u32) -> Vec<Ray> {
    let mut numbers = Numbers(2);
    let ray = |_| {
        let (from, to) = (0.5 + 2.0 * direction(&mut numbers).normalize(), point(&mut numbers));
        Ray::new(from, to - from)
    };
    (0..count).map(ray).collect()
}

/// Coherent rays: a camera's, row by row.
fn coherent(side: u32) -> Vec<Ray> {
    let ray = |i: u32| {
        let on_screen = |pixel: u32| (pixel as f32 + 0.5) / side as f32 - 0.5;
        Ray::new([0.5, -2.0, 0.5], [on_screen(i % side), 1.5, on_screen(i / side)])
    };
    (0..side * side).map(ray).collect()
}

/// Shadow rays, from a little above the surfaces of spheres towards one light.
fn shadow(spheres: &[Sphere], count: usize) -> Vec<Ray> {
    let mut numbers = Numbers(3);
    let ray = |sphere: &Sphere| {
        let normal = direction(&mut numbers).normalize();
        Ray::new(sphere.center + 1.001 * sphere.radius * normal.with_z(normal.z.abs()), [0.4, 0.3, 0.866])
    };
    spheres.iter().cycle().take(count).map(ray).collect()
}

/// Short rays, as between the atoms of a molecule.
fn short(count: u32) -> Vec<Ray> {
    let mut numbers = Numbers(4);
    let ray = |_| Ray { t_max: 0.05, ..Ray::new(point(&mut numbers), direction(&mut numbers)) };
    (0..count).map(ray).collect()
}

/// Rays that start at the centres of spheres.
fn inside(spheres: &[Sphere], count: usize) -> Vec<Ray> {
    let mut numbers = Numbers(5);
    spheres.iter().cycle().take(count).map(|sphere| Ray::new(sphere.center, direction(&mut numbers))).collect()
}

/// Receives the name of a workload, its number of rays or other items, and the workload.
type Run<'a> = dyn FnMut(&str, usize, &mut dyn FnMut() -> Result<()>) -> Result<()> + 'a;

/// Runs all workloads in a fixed order, each through `run`.
fn workloads(cpu: &Device, run: &mut Run<'_>) -> Result<()> {
    let balls = spheres(4000);
    let scene = |spheres: Spheres<'_>| cpu.scene(spheres, &SceneOptions::default());
    let query = Query::at(Precision::Standard);
    let still = scene((&balls).into())?;

    let kinds = [
        ("coherent", coherent(128)),
        ("random", random(8000)),
        ("shadow", shadow(&balls, 8000)),
        ("short", short(8000)),
        ("inside", inside(&balls, 8000)),
    ];
    for (kind, rays) in &kinds {
        run(&format!("closest, {kind} rays"), rays.len(), &mut || still.closest(rays, &query).map(drop))?;
    }
    for (kind, rays) in &kinds[..4] {
        run(&format!("occluded, {kind} rays"), rays.len(), &mut || still.occluded(rays, &query).map(drop))?;
    }
    let rays = &kinds[1].1;
    let mut with = |name: &str, query: Query| run(name, rays.len(), &mut || still.closest(rays, &query).map(drop));
    with("closest, fast", Query::at(Precision::Fast))?;
    with("closest, exact", Query::at(Precision::Exact))?;
    with("closest, from inside to the surface", query.inside(Inside::Exit))?;
    let exact = Query::default();
    let mut alone = |name: &str, scene: &Scene, rays: &[Ray]| {
        run(name, rays.len(), &mut || rays.iter().try_for_each(|ray| scene.hit(ray, &exact).map(drop)))
    };
    alone("one ray at a time, random rays", &still, rays)?;
    alone("one ray at a time, rays inside", &still, &kinds[4].1)?;
    let blocked = |ray: &Ray| still.occludes(ray, &exact).map(drop);
    run("one ray at a time, occludes", rays.len(), &mut || rays.iter().try_for_each(blocked))?;
    run("count", rays.len(), &mut || still.count(rays, &query).map(drop))?;
    run("all", rays.len(), &mut || still.all(rays, &query).map(drop))?;
    run("nearest 3", rays.len(), &mut || still.nearest(rays, 3, &query).map(drop))?;
    run("approach", 2000, &mut || still.approach(&rays[..2000], &query).map(drop))?;
    let mut numbers = Numbers(6);
    let points: Vec<[f32; 3]> = (0..8000).map(|_| point(&mut numbers).to_array()).collect();
    run("contains", points.len(), &mut || still.contains(&points, &query).map(drop))?;

    let velocities: Vec<Vec3> = balls.iter().map(|_| 0.05 * direction(&mut numbers)).collect();
    let times: Vec<f32> = rays.iter().map(|_| numbers.unit()).collect();
    let moving = scene(Spheres::from(&balls).velocities(&velocities))?;
    let timed = umbracast::Rays::from(rays).times(&times);
    run("closest, moving spheres", rays.len(), &mut || moving.closest(timed, &query).map(drop))?;
    let stretched = balls.iter().map(|ball| {
        let radii = ball.radius * (0.5 + 0.5 * point(&mut numbers));
        Ellipsoid::new(ball.center, radii).turned(Quat::from_rotation_z(numbers.unit()))
    });
    let stretched = Ellipsoids::new(stretched);
    let ellipsoids = scene((&stretched).into())?;
    let alone = |ray: &Ray| ellipsoids.hit(ray, &exact).map(drop);
    run("one ray at a time, ellipsoids", rays.len(), &mut || rays.iter().try_for_each(alone))?;
    run("closest, ellipsoids", rays.len(), &mut || ellipsoids.closest(rays, &query).map(drop))?;

    run("build a tree", balls.len(), &mut || scene((&balls).into()).map(drop))?;
    // Enough spheres that subtrees would be built in parallel if there were several threads.
    let many = spheres(50_000);
    run("build a tree for GPUs", many.len(), &mut || Device::gpu_bvh_nodes(&many).map(drop))?;
    let mut changed: Scene = still.clone();
    let shifted: Vec<Sphere> =
        balls.iter().map(|ball| Sphere::new(ball.center + 0.001 * direction(&mut numbers), ball.radius)).collect();
    run("update spheres", balls.len(), &mut || changed.update(&shifted).map(drop))?;

    let bullets: Vec<Bullet> = (0..500)
        .map(|_| {
            let from = point(&mut numbers);
            Bullet::new(from, from + direction(&mut numbers), 0.1)
        })
        .collect();
    run("bullets", bullets.len(), &mut || still.bullets(&bullets, 4, &query).map(drop))?;

    let place = |numbers: &mut Numbers| point(numbers).as_dvec3();
    let light = Ball::new([0.5, 0.5, 200.0], 3.0);
    // Almost every observer is in the penumbra of the first ball, and a few are also in that of another.
    let small = (0..4).map(|_| Ball::new(place(&mut numbers) + 2.0 * DVec3::Z, 0.02));
    let occluders: Vec<Ball> = std::iter::once(Ball::new([0.5, 0.5, 20.0], 0.3)).chain(small).collect();
    let lighting = Lighting::new(light, occluders)?;
    let observers: Vec<DVec3> = (0..8000).map(|_| place(&mut numbers)).collect();
    run("visible fractions", observers.len(), &mut || cpu.shadows(&lighting, &observers).map(drop))?;
    let planet = parse_system(PLANET, Path::new("planet.toml")).expect("the built-in system is valid");
    let small = PictureOptions { size: [64, 48], samples: 1, ..planet.picture().clone() };
    let planet = planet.with_picture(small)?;
    run("a picture", 64 * 48, &mut || cpu.render(&planet, None).map(drop))?;
    let floor = floor_below(&balls, &planet)?;
    run("a picture with a floor", 64 * 48, &mut || cpu.render(&floor, None).map(drop))
}

/// The spheres above a large sphere as a floor, with the light, colours and picture size of another system.
fn floor_below(spheres: &[Sphere], other: &System) -> Result<System> {
    let mut bodies = [other.bodies()[0].clone(), other.bodies()[0].clone()];
    bodies[0].balls = spheres.iter().map(|one| Ball::new(one.center.as_dvec3(), one.radius.into())).collect();
    bodies[1].balls = vec![Ball::new([0.5, 0.5, -10_000.5], 10_000.0)];
    let mut light = other.light().clone();
    light.ball = Ball::new([100.0, 50.0, 200.0], 1.0);
    let mut camera = *other.camera();
    (camera.position, camera.target, camera.up) = (DVec3::new(0.5, -3.0, 1.5), DVec3::new(0.5, 0.5, 0.0), DVec3::Z);
    System::new(light, bodies.into(), camera, other.picture().clone())
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let level = std::env::args().nth(1).ok_or("which instructions? AVX2, SSE2 …")?;
    if !Device::levels().contains(&level.as_str()) {
        return Err(format!("{level} is not among {:?}", Device::levels()).into());
    }
    rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global()?;
    let cpu = Device::open(&DeviceOptions::new("cpu"))?.with_level(&level);
    let mut names = Vec::new();
    workloads(&cpu, &mut |name, pieces, work| {
        names.push(format!("{name}\t{pieces}"));
        measured(work)
    })?;
    println!("{}", names.join("\n"));
    Ok(())
}
