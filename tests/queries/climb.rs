//! A directed search for the pairs of a ray and a sphere whose roots have the largest errors at `standard`. Random pairs stay far below the
//! bounds that these reach.

use umbracast::glam::DVec3;
use umbracast::{Precision, Query, Ray, Sphere};
use umbracast_testing::{Numbers, devices, scaled};

const U: f64 = 1.0 / 16_777_216.0;

/// Pairs at distances of up to a hundred radii, from inside, and almost tangent.
fn pair(n: &mut Numbers, i: usize) -> (Ray, Sphere) {
    let reach = [0.9, 2.0, 10.0, 100.0][i % 4];
    let sphere = Sphere::new(n.vector().map(|x| reach * x), 0.5 + 0.5 * n.unit());
    let aside = [0.5, 1.0][i / 4 % 2] * sphere.radius;
    let aim: [f32; 3] = std::array::from_fn(|k| sphere.center[k] + aside * n.signed());
    (Ray::new([0.0; 3], aim).line(), sphere)
}

/// Changes one number of a pair, by a few units in the last place or by a fraction.
fn changed((mut ray, mut sphere): (Ray, Sphere), n: &mut Numbers) -> (Ray, Sphere) {
    let scale = 2f32.powf(-24.0 * n.unit()) * n.signed();
    let own = |x: f32| x + x.abs().max(1e-3) * scale;
    match (n.unit() * 7.0) as usize {
        k @ 0..3 => ray.direction[k] = own(ray.direction[k]),
        k @ 3..6 => sphere.center[k - 3] = own(sphere.center[k - 3]),
        _ => sphere.radius = own(sphere.radius).abs(),
    }
    (ray, sphere)
}

/// Both roots, and the largest errors that `standard` allows, in f64. The sphere is at most 200 radii away: f64 is exact enough.
fn truth((ray, sphere): &(Ray, Sphere)) -> Option<[(f64, f64); 2]> {
    let (e, d, r) =
        (sphere.center.as_dvec3() - ray.origin.as_dvec3(), ray.direction.as_dvec3(), f64::from(sphere.radius));
    let a = d.length_squared();
    let p: DVec3 = e - e.dot(d) / a * d;
    let h = (r * r - p.length_squared()).max(0.0).sqrt();
    let q = e.dot(d) + (h * a.sqrt()).copysign(e.dot(d));
    let mut t = [(e.length_squared() - r * r) / q, q / a];
    t.sort_by(f64::total_cmp);
    // Closer to tangency, f64 is not exact enough.
    (h > 1e-3 * r).then(|| t.map(|t| (t, 8.0 * U * (t.abs() + r * r / (h * a.sqrt())))))
}

#[test]
fn the_worst_roots_of_a_directed_search_are_within_their_bounds() {
    const PAIRS: usize = 4096;
    for device in devices() {
        let n = &mut Numbers(11);
        let mut pairs: Vec<_> = (0..PAIRS).map(|i| pair(n, i)).collect();
        let mut shares = vec![0.0; PAIRS];
        let mut first = 0.0;
        for round in 0..scaled(60).max(20) {
            let next: Vec<_> = pairs.iter().map(|pair| if round == 0 { *pair } else { changed(*pair, n) }).collect();
            let (rays, spheres): (Vec<_>, Vec<_>) = next.iter().copied().unzip();
            let scene = device.pairwise(&spheres, &Default::default()).unwrap();
            let found = scene.interval(&rays, &Query::at(Precision::Standard)).unwrap();
            for (i, (pair, found)) in next.iter().zip(found.iter()).enumerate() {
                let Some(roots) = truth(pair).filter(|_| found.is_hit()) else { continue };
                let errors = roots.iter().zip([found.t_enter, found.t_exit]);
                let share = errors.map(|((t, most), found)| (f64::from(found) - t).abs() / most).fold(0.0, f64::max);
                assert!(share <= 1.0, "{}: {share} of the bound, {found:?} for {roots:?}; {pair:?}", device.name());
                if share > shares[i] {
                    (pairs[i], shares[i]) = (*pair, share);
                }
            }
            let worst = shares.iter().copied().fold(0.0, f64::max);
            first = if round == 0 { worst } else { first };
            if (round + 1) % 20 == 0 {
                println!(
                    "{} after {} rounds: {worst:.3} of the bound, {first:.3} in the first",
                    device.name(),
                    round + 1
                );
            }
        }
        assert!(shares.iter().copied().fold(0.0, f64::max) > first, "{}: the search found nothing", device.name());
    }
}
