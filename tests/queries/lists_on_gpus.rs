//! Hit lists on GPUs with small buffers, without error terms, with unfinished traversals and with broken shaders.

use umbracast::{Device, DeviceOptions, HitLists, Interval, Limits, Precision, Query, Ray, SceneOptions, Sphere};
use umbracast_testing::{cpu, devices, hard_scenes, scaled, scenes};

fn lists_on(device: &Device, spheres: &[Sphere], rays: &[Ray], query: &Query) -> HitLists {
    let scene = device.scene(spheres, &SceneOptions::default()).unwrap();
    let lists = scene.all(rays, query).unwrap();
    let counts = scene.count(rays, query).unwrap();
    assert!(lists.iter().map(|list| list.len() as u32).eq(counts.records), "{}", device.name());
    lists
}

#[test]
fn small_buffers_give_the_same_hit_lists() {
    let mut spheres = scenes::spheres("uniform", 150_000);
    // One ray has more hits than fit in the small buffers; it is cast on the CPU.
    spheres.extend((0..50_000).map(|_| Sphere::new([9.0, 9.0, 9.0], 0.25)));
    let mut rays = scenes::rays("random", &spheres[..150_000], 300);
    rays[100] = Ray::new([9.0, 9.0, 0.0], [0.0, 0.0, 1.0]);
    let expected = lists_on(&cpu(), &spheres, &rays, &Query::at(Precision::Exact));
    assert_eq!(expected.get(100).unwrap().len(), 50_000);
    assert!(expected.records.len() > 51_000, "{}", expected.records.len());
    for (i, _) in devices().iter().enumerate() {
        let mut limits = Limits::default();
        (limits.binding, limits.rays) = (1 << 20, 77);
        let device = Device::open(&DeviceOptions::new(i.to_string()).limits(limits)).unwrap();
        let found = lists_on(&device, &spheres, &rays, &Query::at(Precision::Exact));
        assert!((&found.offsets, &found.records) == (&expected.offsets, &expected.records), "{}", device.name());
        let scene = device.scene(&spheres, &SceneOptions::default()).unwrap();
        let nearest = scene.nearest(&rays, 3, &Query::at(Precision::Exact)).unwrap();
        for (i, (list, all)) in nearest.iter().zip(expected.iter()).enumerate() {
            assert_eq!(list, &all[..all.len().min(3)], "ray {i} on {}", device.name());
        }
    }
}

#[test]
fn unfinished_list_traversals_are_cast_again() {
    let spheres = hard_scenes::spheres(&hard_scenes::SCENES[0], 3000);
    let rays = hard_scenes::rays(&spheres, 2.0, scaled(200));
    let expected = lists_on(&cpu(), &spheres, &rays, &Query::at(Precision::Exact));
    for info in Device::list().into_iter().filter(|info| info.probe.is_some()) {
        // Marks every third counting traversal as unfinished; ends every third listing traversal early.
        for edit in [
            (
                "select(0u, COUNT_UNFINISHED, !is_settled(sum) && over_step_limit())",
                "select(0u, COUNT_UNFINISHED, i % 3u == 0u)",
            ),
            (
                "      while (place != NONE) {\n        steps",
                "      while (place != NONE && i % 3u != 1u) {\n        steps",
            ),
        ] {
            let broken = pollster::block_on(Device::open_edited(info.index, edit)).unwrap();
            let found = lists_on(&broken, &spheres, &rays, &Query::at(Precision::Exact));
            assert!((&found.offsets, &found.records) == (&expected.offsets, &expected.records), "{}", info.name);
        }
    }
}

/// A driver compiles each program separately. So one program may find a hit where another finds a miss. A list must not overwrite another.
#[test]
fn lists_are_right_if_the_program_that_counts_and_the_one_that_lists_disagree() {
    let spheres = hard_scenes::spheres(&hard_scenes::SCENES[0], 3000);
    let rays = hard_scenes::rays(&spheres, 2.0, scaled(200));
    let query = Query::at(Precision::Exact);
    let expected = lists_on(&cpu(), &spheres, &rays, &query);
    for info in Device::list().into_iter().filter(|info| info.probe.is_some()) {
        let hits = "classify(solved, ray, policies(), exact).hit_class != HIT) {\n    return list;";
        // Fewer hits, and more.
        for other in [
            "classify(solved, ray, policies(), exact).hit_class != HIT || id % 5u == 3u) {\n    return list;",
            "false) {\n    return list;",
        ] {
            let edited = pollster::block_on(Device::open_edited(info.index, (hits, other))).unwrap();
            let scene = edited.scene(&spheres, &SceneOptions::default()).unwrap();
            let lists = scene.all(&rays, &query).unwrap();
            assert!((&lists.offsets, &lists.records) == (&expected.offsets, &expected.records), "{}", info.name);
        }
    }
}

#[test]
fn broken_list_shaders_are_detected() {
    let spheres = hard_scenes::spheres(&hard_scenes::SCENES[0], 3000);
    let rays = hard_scenes::rays(&spheres, 2.0, 100);
    let expected = lists_on(&cpu(), &spheres, &rays, &Query::at(Precision::Standard));
    for info in Device::list().into_iter().filter(|info| info.probe.is_some()) {
        for edit in [
            // The edits: certain hits are counted twice; certain hits are not counted; roots are exchanged; a wrong id.
            // (Lists with too few or too many hits are noticed, and cast again.)
            (
                "sum = add_hit(sum, HIT, order[place]);",
                "sum = add_hit(sum, HIT, order[place]); sum = add_hit(sum, HIT, order[place]);",
            ),
            ("sum = add_hit(sum, HIT, order[place]);", ""),
            (
                "Interval(reported(solved.t_enter), reported(solved.t_exit), id)",
                "Interval(reported(solved.t_exit), reported(solved.t_enter), id)",
            ),
            (
                "scale_for(attributes, number, ray, spheres[place]), params.first_id + number)",
                "scale_for(attributes, number, ray, spheres[place]), place)",
            ),
        ] {
            let broken = pollster::block_on(Device::open_edited(info.index, edit)).unwrap();
            let scene = broken.scene(&spheres, &SceneOptions::default()).unwrap();
            let counts = scene.count(&rays, &Query::at(Precision::Standard)).unwrap();
            let counted = counts.iter().map(|count| *count as usize).eq(expected.iter().map(<[Interval]>::len));
            // An error counts as detected, too.
            let lists = scene.all(&rays, &Query::at(Precision::Standard));
            let listed = lists.is_ok_and(|found| {
                (found.offsets, found.records) == (expected.offsets.clone(), expected.records.clone())
            });
            assert!(!counted || !listed, "{}: {edit:?}", info.name);
        }
    }
}
