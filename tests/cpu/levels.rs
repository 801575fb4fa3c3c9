//! The CPU engine returns the same bytes with every instruction set, with and without a tree.

use umbracast::{Device, Precision, Query, Ray, SceneOptions, Sphere};
use umbracast_testing::{Numbers, cpu, scaled};

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
    let levels = Device::levels();
    println!("{}", levels.join(", "));
    assert!(levels.len() > 1 || cfg!(not(target_arch = "x86_64")), "{levels:?}");
    let list = Device::list();
    assert!(
        list.last().unwrap().driver.ends_with(levels[0]),
        "`devices` reports the instruction set: {:?}",
        list.last()
    );
    let answers = levels.iter().map(|level| {
        let scene = cpu().with_level(level).scene(&spheres, &SceneOptions::default()).unwrap();
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
fn trees_give_the_results_of_brute_force() {
    let (spheres, rays) = scene(scaled(20_000));
    let device = cpu();
    let grown = device.scene(&spheres, &SceneOptions::default()).unwrap();
    let swept = device.scene(&spheres, &SceneOptions::default().tree_from(usize::MAX)).unwrap();
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
