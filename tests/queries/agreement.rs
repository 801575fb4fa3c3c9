//! A million rays and a thousand spheres: every device returns the results of the CPU engine, and the comparison detects a shader with
//! an error of 10⁻⁴.

use crate::shadow::fallbacks::needs_bvh;
use umbracast::shadow::CpuFallback;
use umbracast::{Answer, Device, Error, Hit, Precision, Query, Ray, SceneOptions, Sphere};
use umbracast_testing::{Numbers, cpu, devices, scaled};

const U: f64 = 1.0 / 16_777_216.0;

fn spheres(count: usize) -> Vec<Sphere> {
    let mut n = Numbers(7);
    (0..count).map(|_| Sphere::new(n.vector(), 0.005 + 0.06 * n.unit() * n.unit())).collect()
}

fn rays(count: usize) -> Vec<Ray> {
    let mut n = Numbers(11);
    (0..count)
        .map(|_| {
            let (from, to) = (n.vector(), n.vector());
            let far = 1.0 + 3.0 * n.unit();
            Ray::new(from.map(|x| x * far), std::array::from_fn::<_, 3, _>(|i| 0.7 * to[i] - from[i] * far))
        })
        .collect()
}

/// The documented error bound of `t` for this pair at a precision.
fn bound(ray: &Ray, sphere: &Sphere, t: f32, precision: Precision) -> f64 {
    let (d, e) = (ray.direction.as_dvec3(), (sphere.center - ray.origin).as_dvec3());
    let (length, r) = (d.length(), f64::from(sphere.radius));
    let p = e - e.dot(d) / (length * length) * d;
    let half = ((r - p.length()) * (r + p.length())).max(0.0).sqrt().max(1e-9 * r);
    match precision {
        Precision::Fast => 32.0 * U * (e.length() + r + e.length() * r / half) / length,
        _ => 8.0 * U * (f64::from(t).abs() * length + r * r / half) / length,
    }
}

/// Compares two results. Returns the number of rays with different ids, whose `t` are equal within the bounds.
fn compare(rays: &[Ray], spheres: &[Sphere], a: &[Hit], b: &[Hit], precision: Precision) -> Result<usize, String> {
    let mut ties = 0;
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        if a.is_hit() != b.is_hit() {
            return Err(format!("ray {i}: flags differ, {a:?} and {b:?}"));
        }
        if !a.is_hit() {
            continue;
        }
        let allowed: f64 = [a, b].iter().map(|hit| bound(&rays[i], &spheres[hit.id as usize], hit.t, precision)).sum();
        if (f64::from(a.t) - f64::from(b.t)).abs() > allowed {
            return Err(format!("ray {i}: t differs, {a:?} and {b:?}, {allowed:e} allowed"));
        }
        ties += usize::from(a.id != b.id);
    }
    Ok(ties)
}

fn closest(device: &Device, spheres: &[Sphere], rays: &[Ray], precision: Precision) -> Answer<Hit> {
    let scene = device.scene(spheres, &SceneOptions::default()).unwrap();
    scene.closest(rays, &Query::at(precision)).unwrap()
}

#[test]
fn devices_agree_on_a_million_rays_and_a_thousand_spheres() {
    let (spheres, rays) = (spheres(1000), rays(1_000_000));
    for precision in Precision::ALL {
        let truth = closest(&cpu(), &spheres, &rays, precision);
        assert!(
            (200_000..900_000).contains(&truth.report.rays_hit),
            "expected 200,000 to 900,000 hits, not {}",
            truth.report.rays_hit
        );
        for device in devices().iter().filter(|device| !device.is_cpu()) {
            let found = closest(device, &spheres, &rays, precision);
            let ties = compare(&rays, &spheres, &truth, &found, precision)
                .unwrap_or_else(|e| panic!("{} {precision:?}: {e}", device.name()));
            let equal = truth
                .iter()
                .zip(found.iter())
                .filter(|(a, b)| bytemuck::bytes_of(*a) == bytemuck::bytes_of(*b))
                .count();
            println!(
                "{} {precision:?}: {} hits, {ties} ids differ within the bounds, {equal} of {} identical, \
                 {} resolved exactly; {:.1} s, cpu {:.1} s",
                device.name(),
                found.report.rays_hit,
                rays.len(),
                found.report.resolved_exactly,
                found.report.seconds,
                truth.report.seconds,
            );
            assert_eq!(found.report.rays_hit, truth.report.rays_hit);
            if precision == Precision::Exact {
                assert_eq!(equal, rays.len(), "{}: exact results differ between devices", device.name());
            }
        }
    }
}

#[test]
fn a_half_chord_with_an_error_of_1e_4_is_detected() {
    let (spheres, rays) = (spheres(1000), rays(20_000));
    let truth = closest(&cpu(), &spheres, &rays, Precision::Fast);
    for info in Device::list().into_iter().filter(|info| info.probe.is_some()) {
        // An edit of a program that the probe does not run: only the comparison can detect it.
        let edit = ("var t = solved.t_enter;", "var t = solved.foot - 1.0001 * (solved.foot - solved.t_enter);");
        let broken = pollster::block_on(Device::open_edited(info.index, edit)).unwrap();
        assert_eq!(broken.probe().unwrap().failure, None);
        let found = closest(&broken, &spheres, &rays, Precision::Fast);
        let error = compare(&rays, &spheres, &truth, &found, Precision::Fast).unwrap_err();
        assert!(error.contains("t differs"), "{error}");
        // An edit of the intersection function itself: the probe fails, and every precision is refused, even `fast`.
        let edit = (
            "let w = square_root(max(a * foot.disc, 0.0), corrects);",
            "let w = 1.0001 * sqrt(max(a * foot.disc, 0.0));",
        );
        let broken = pollster::block_on(Device::open_edited(info.index, edit)).unwrap();
        let failure = &broken.probe().unwrap().failure;
        assert!(failure.as_ref().is_some_and(|why| why.contains("errors of roots reach")), "{failure:?}");
        let scene = broken.scene(&spheres, &SceneOptions::default()).unwrap();
        let refusals = Precision::ALL.map(|precision| scene.closest(&rays, &Query::at(precision)).unwrap_err());
        assert!(refusals.iter().all(|refused| matches!(refused, Error::NoPrecision { .. })), "{refusals:?}");
        let refused = &refusals[0];
        println!("{}: {error}; {refused}", info.name);
    }
}

#[test]
fn exact_works_on_devices_that_lose_error_terms() {
    let (spheres, rays) = (spheres(300), rays(scaled(20_000)));
    let truth = closest(&cpu(), &spheres, &rays, Precision::Exact);
    let lists_on = |device: &Device| {
        let scene = device.scene(&spheres, &SceneOptions::default()).unwrap();
        let lists = scene.all(&rays, &Query::default()).unwrap();
        let counts = scene.count(&rays, &Query::default()).unwrap();
        (lists.offsets, lists.records, counts.records)
    };
    for info in Device::list().into_iter().filter(|info| info.probe.is_some()) {
        for (edit, why) in [
            // A TwoSum as naga and Mesa compile it without the optimisation barrier.
            (("return vec2<f32>(s, opaque(a - aa) + opaque(b - bb));", "return vec2<f32>(s, 0.0);"), "error terms"),
            // Quotients of pairs that have only the digits of f32.
            (
                ("return add2(quick_two_sum(q1, q2), vec2<f32>(r2.x / b.x, 0.0));", "return vec2<f32>(q1, 0.0);"),
                "roots as pairs",
            ),
        ] {
            let broken = pollster::block_on(Device::open_edited(info.index, edit)).unwrap();
            let failure = &broken.probe().unwrap().failure;
            assert!(failure.as_ref().is_some_and(|found| found.contains(why)), "{failure:?}");
            let found = closest(&broken, &spheres, &rays, Precision::Exact);
            assert_eq!(found.records, truth.records, "{} without {why}", info.name);
            assert_eq!(lists_on(&broken), lists_on(&cpu()), "{} without {why}", info.name);
            // The CPU engine renders pictures that need a BVH.
            let picture = broken.render(&needs_bvh([100.0, 1.0]), None).unwrap();
            assert_eq!(picture.cpu_fallback, Some(CpuFallback::Probe), "{}", info.name);
        }
    }
}
