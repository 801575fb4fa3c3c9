//! `umbracast bench moving`: a scene with moving spheres, compared with the same scene at rest.

use clap::Args;
use serde::Serialize;
use umbracast::glam::Vec3;
use umbracast::{Device, DeviceOptions, Motion, Query, Ray, Rays, Result, Scene, SceneOptions, Sphere, Spheres};

use super::numbers::Numbers;
use super::timing::{share, timed};
use super::{ReportArgs, choices, sets};
use crate::{print, print_json};

/// End of the time range: long enough for a ray of speed 1 to cross the unit cube from outside its corners.
const TIME: f32 = 2.0;
/// Distance that a sphere moves in the time range, in radii, per scene; 0 is the scene at rest.
const WAYS: [f32; 3] = [0.0, 0.2, 1.0];

#[derive(Debug, Args)]
pub(crate) struct MovingArgs {
    /// Number of equal spheres, which fill about half of a cube
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=16_777_216))]
    spheres: u32,
    /// Number of random rays
    #[arg(long, value_name = "N", default_value_t = 1 << 15, value_parser = clap::value_parser!(u32).range(1..=268_435_456))]
    rays: u32,
    /// Number of measured rounds, after one warm-up round; medians are reported
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    #[command(flatten)]
    report: ReportArgs,
}

#[derive(Debug, Serialize)]
struct Row {
    device: String,
    query: &'static str,
    /// `None` for spheres at rest.
    motion: Option<&'static str>,
    /// Distance that a sphere moves, in radii.
    way: f32,
    spheres: u32,
    rays: usize,
    hits: u64,
    cpu_seconds: f64,
    wall_seconds: f64,
    /// CPU time divided by the CPU time at rest.
    over_rest: f64,
}

/// A case: the index of the scene in `WAYS`, and the motion with its keyword of `cast --motion`.
type Case = (usize, Option<(&'static str, Motion)>);

const AT_TIME: (&str, Motion) = ("at-time", Motion::AtTime);
const WITH_RAY: (&str, Motion) = ("with-ray", Motion::WithRay);
const CASES: [Case; 5] = [(0, None), (1, Some(AT_TIME)), (2, Some(AT_TIME)), (1, Some(WITH_RAY)), (2, Some(WITH_RAY))];

pub(super) fn run(args: &MovingArgs) -> Result<()> {
    let spheres = sets::uniform(args.spheres);
    let rays: Vec<Ray> = sets::random(&spheres, args.rays).into_iter().map(|ray| ray.between(0.0, TIME)).collect();
    let mut all = Vec::new();
    for choice in choices(&args.report.device) {
        let device = Device::open(&DeviceOptions::new(choice))?;
        let scenes = WAYS.into_iter().map(|way| scene(&device, &spheres, way)).collect::<Result<Vec<_>>>()?;
        for query in ["closest", "occluded"] {
            let rows = measure(args, &device, &scenes, &rays, query)?;
            if !args.report.json {
                for row in &rows {
                    let what = row.motion.map_or("at rest".into(), |motion| format!("{motion}, {} r", row.way));
                    let each = 1e6 * row.cpu_seconds / row.rays as f64;
                    print(&format!(
                        "{:<34} {query:<8} {what:<15} {each:>8.3} us of CPU time per ray, {:.2} times at rest, {} hits\n",
                        row.device, row.over_rest, row.hits
                    ))?;
                }
            }
            all.extend(rows);
        }
    }
    if args.report.json { print_json(&all) } else { Ok(()) }
}

/// Builds a scene in which each sphere moves by `way` radii in a random direction. At the middle of the time range it is at its position in
/// `spheres`.
fn scene(device: &Device, spheres: &[Sphere], way: f32) -> Result<Scene> {
    let options = SceneOptions::default().time_range([0.0, TIME]);
    if way == 0.0 {
        return device.scene(spheres, &options);
    }
    let mut numbers = Numbers(6);
    let velocity = |sphere: &Sphere| numbers.direction().as_vec3() * (way * sphere.radius / TIME);
    let velocities: Vec<Vec3> = spheres.iter().map(velocity).collect();
    let start =
        |(sphere, velocity): (&Sphere, &Vec3)| Sphere::new(sphere.center - *velocity * (0.5 * TIME), sphere.radius);
    let starts: Vec<Sphere> = spheres.iter().zip(&velocities).map(start).collect();
    device.scene(Spheres::from(&starts).velocities(&velocities), &options)
}

/// Measures all cases in turn, round by round, so other load on the machine affects all cases equally.
fn measure(
    args: &MovingArgs,
    device: &Device,
    scenes: &[Scene],
    rays: &[Ray],
    query: &'static str,
) -> Result<Vec<Row>> {
    let mut numbers = Numbers(7);
    let times: Vec<f32> = rays.iter().map(|_| TIME * numbers.unit()).collect();
    let (mut cpu, mut wall) = (CASES.map(|_| Vec::new()), CASES.map(|_| Vec::new()));
    let mut hits = [0; CASES.len()];
    for round in 0..=args.repeat {
        for (case, (number, motion)) in CASES.into_iter().enumerate() {
            let given = match motion {
                Some(AT_TIME) => Rays::from(rays).times(&times),
                _ => Rays::from(rays),
            };
            let asked = Query::default().motion(motion.unwrap_or_default().1);
            let once = timed(|| match query {
                "closest" => Ok(scenes[number].closest(given, &asked)?.report.rays_hit),
                _ => Ok(scenes[number].occluded(given, &asked)?.report.rays_hit),
            })?;
            hits[case] = once.last;
            if round > 0 {
                cpu[case].push(once.cpu);
                wall[case].push(once.wall);
            }
        }
    }
    let median = |mut times: Vec<f64>| share(&mut times, 0.5);
    let (cpu, wall) = (cpu.map(median), wall.map(median));
    let row = |(case, (number, motion)): (usize, Case)| Row {
        device: device.name().into(),
        query,
        motion: motion.map(|(word, _)| word),
        way: WAYS[number],
        spheres: args.spheres,
        rays: rays.len(),
        hits: hits[case],
        cpu_seconds: cpu[case],
        wall_seconds: wall[case],
        over_rest: cpu[case] / cpu[0],
    };
    Ok(CASES.into_iter().enumerate().map(row).collect())
}
