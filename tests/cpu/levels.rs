//! The CPU engine returns the same bytes with every instruction set, with and without a tree. The scalar loop that benchmarks compare it
//! with computes the same query.

use crate::support::{Numbers, cpu, scaled};
use umbracast::{Device, Hit, Precision, Query, Ray, SceneOptions, Sphere, bench};

fn scene(rays: usize) -> (Vec<Sphere>, Vec<Ray>) {
    let mut n = Numbers(5);
    let spheres = (0..1000).map(|_| Sphere::new(n.vector(), 0.01 + 0.05 * n.unit())).collect();
    let ray = |n: &mut Numbers| {
        let (from, to) = (n.vector().map(|x| 3.0 * x), n.vector());
        Ray::segment(from, to).between(0.0, f32::INFINITY)
    };
    (spheres, (0..rays).map(|_| ray(&mut n)).collect())
}

#[test]
fn every_instruction_set_gives_the_same_bytes() {
    let (spheres, rays) = scene(20_000);
    let levels = bench::levels();
    println!("{}", levels.join(", "));
    assert_eq!(levels.last(), Some(&"plain"));
    let list = Device::list();
    assert!(
        list.last().unwrap().driver.ends_with(levels[0]),
        "`devices` reports the instruction set: {:?}",
        list.last()
    );
    let answers = levels.iter().map(|level| {
        let instructions = bench::use_level(level);
        let scene = cpu().scene(&spheres, &SceneOptions::default()).unwrap();
        drop(instructions);
        Precision::ALL.map(|precision| {
            let query = Query::at(precision);
            let hits = scene.closest(&rays, &query).unwrap();
            let bits = scene.occluded(&rays, &query).unwrap();
            let passes = scene.approach(&rays[..2000], &query).unwrap();
            let bytes: (&[u8], &[u8]) = (bytemuck::cast_slice(&hits.records), bytemuck::cast_slice(&passes.records));
            (bytes.0.to_vec(), bytes.1.to_vec(), bits.words, hits.report.rays_hit, hits.report.resolved_exactly)
        })
    });
    let answers: Vec<_> = answers.collect();
    assert!((1000..19_000).contains(&answers[0][0].3), "{} hits", answers[0][0].3);
    for (level, answer) in levels.iter().zip(&answers) {
        assert!(*answer == answers[0], "{level}");
    }
}

#[test]
fn the_scalar_benchmark_loop_computes_the_same_query() {
    let (spheres, rays) = scene(20_000);
    let mut hits = vec![Hit::MISS; rays.len()];
    let count = bench::scalar_closest(&spheres, &rays, &mut hits);
    let scene = cpu().scene(&spheres, &SceneOptions::default()).unwrap();
    let answers = scene.closest(&rays, &Query::at(Precision::Fast)).unwrap();
    assert!(count.abs_diff(answers.report.rays_hit) <= 2, "{count} and {} hits", answers.report.rays_hit);
    let near = |(a, b): &(&Hit, &Hit)| a.id == b.id && (!a.is_hit() || (a.t - b.t).abs() < 1e-3);
    let equal = hits.iter().zip(answers.iter()).filter(near).count();
    assert!(equal + 4 >= rays.len(), "{equal} of {} alike", rays.len());
}

#[test]
fn trees_give_the_results_of_brute_force() {
    let (spheres, rays) = scene(scaled(20_000));
    let device = cpu();
    let grown = device.scene(&spheres, &SceneOptions::default()).unwrap();
    let every_sphere = bench::use_tree(false);
    let swept = device.scene(&spheres, &SceneOptions::default()).unwrap();
    drop(every_sphere);
    for precision in Precision::ALL {
        let query = Query::at(precision);
        let ask = |scene: &umbracast::Scene| {
            (
                scene.closest(&rays, &query).unwrap().records,
                scene.occluded(&rays, &query).unwrap().words,
                scene.interval(&rays, &query).unwrap().records,
                scene.approach(&rays, &query).unwrap().records,
            )
        };
        let (a, b) = (ask(&grown), ask(&swept));
        assert!(a.0.iter().filter(|hit| hit.is_hit()).count() > 1000);
        assert!(a == b, "{precision:?}");
    }
}
