//! Masks and skipped ids select the spheres that a ray can hit, on every device, with and without a tree.

use umbracast::raygen::Parallel;
use umbracast::{
    Approach, Device, Error, Hit, Inside, Interval, NO_SPHERE, Precision, Query, Ray, Rays, Scene, SceneOptions,
    Sphere, Spheres,
};
use umbracast_testing::{Numbers, byte_precisions, cpu, devices, hard_scenes, reference, with_and_without_tree};

/// Spheres and rays with masks of a few bits, sometimes all or none, and a skipped id per ray.
struct Case {
    spheres: Vec<Sphere>,
    sphere_masks: Vec<u32>,
    rays: Vec<Ray>,
    ray_masks: Vec<u32>,
    skips: Vec<u32>,
}

impl Case {
    fn new(scene: usize, spheres: usize, rays: usize) -> Self {
        let scene = &hard_scenes::SCENES[scene];
        let spheres = hard_scenes::spheres(scene, spheres);
        let rays = hard_scenes::rays(&spheres, scene.2, rays);
        let n = &mut Numbers(12);
        let mut mask = |_| match (n.unit() * 10.0) as u32 {
            0 => 0,
            1 => u32::MAX,
            k => 1 << (k % 3) | 1 << 31 >> (k % 2),
        };
        let sphere_masks = (0..spheres.len()).map(&mut mask).collect();
        let ray_masks = (0..rays.len()).map(&mut mask).collect();
        let mut case = Self { spheres, sphere_masks, rays, ray_masks, skips: Vec::new() };
        // Every second ray skips the sphere that it would hit first.
        let scene = cpu().scene(case.spheres(), &SceneOptions::default()).unwrap();
        let first = scene.closest(Rays::from(&case.rays).masks(&case.ray_masks), &Query::default()).unwrap();
        case.skips = first.iter().enumerate().map(|(i, hit)| if i % 2 == 0 { hit.id } else { NO_SPHERE }).collect();
        case
    }

    fn spheres(&self) -> Spheres<'_> {
        Spheres::from(&self.spheres).masks(&self.sphere_masks)
    }

    fn rays(&self) -> Rays<'_> {
        Rays::from(&self.rays).masks(&self.ray_masks).skip_ids(&self.skips)
    }

    fn admits(&self, ray: usize, id: u32) -> bool {
        self.ray_masks[ray] & self.sphere_masks[id as usize] != 0 && self.skips[ray] != id
    }

    /// A scene with a tree, however few the spheres, and one without.
    fn scenes(&self, device: &Device) -> [Scene; 2] {
        with_and_without_tree(device, self.spheres())
    }
}

/// The expected hits of each ray: all hits without masks and skips, filtered.
fn expected(device: &Device, case: &Case, query: &Query) -> Vec<Vec<Interval>> {
    let scene = device.scene(&case.spheres, &SceneOptions::default()).unwrap();
    let all = scene.all(&case.rays, query).unwrap();
    all.iter()
        .enumerate()
        .map(|(i, list)| list.iter().copied().filter(|hit| case.admits(i, hit.id)).collect())
        .collect()
}

/// The expected closest approach of each ray: a scene of the admitted spheres only.
fn approaches(case: &Case, query: &Query) -> Vec<Approach> {
    let one = |(i, ray): (usize, &Ray)| {
        let mine = (0..case.spheres.len() as u32).filter(|id| case.admits(i, *id));
        let near: Vec<Sphere> = mine.clone().map(|id| case.spheres[id as usize]).collect();
        let scene = cpu().scene(&near, &SceneOptions::default()).unwrap();
        let found = scene.approach(&[*ray], query).unwrap()[0];
        let id = if found.id == NO_SPHERE { NO_SPHERE } else { mine.clone().nth(found.id as usize).unwrap() };
        Approach { id, ..found }
    };
    case.rays.iter().enumerate().map(one).collect()
}

#[test]
fn masks_select_the_spheres_a_ray_can_hit() {
    let mut hit_count = 0;
    for scene in [0, 2, 4, 6, 8] {
        let case = Case::new(scene, 500, 150);
        for inside in [Inside::Enter, Inside::Exit] {
            for precision in Precision::ALL {
                let query = Query::at(precision).inside(inside);
                let near = approaches(&case, &query);
                for device in devices().iter().filter(|device| byte_precisions(device).contains(&precision)) {
                    let lists = expected(&reference(device, precision), &case, &query);
                    for (search, built) in ["tree", "brute"].iter().zip(case.scenes(device)) {
                        let what = format!("scene {scene} on {} by {search}, {query:?}", device.name());
                        let all = built.all(case.rays(), &query).unwrap();
                        assert!(all.iter().eq(lists.iter().map(|list| &list[..])), "{what}");
                        let counts = built.count(case.rays(), &query).unwrap();
                        assert!(counts.iter().map(|count| *count as usize).eq(lists.iter().map(Vec::len)), "{what}");
                        let interval = built.interval(case.rays(), &query).unwrap();
                        let hits = built.closest(case.rays(), &query).unwrap();
                        let occluded = built.occluded(case.rays(), &query).unwrap();
                        for (i, list) in lists.iter().enumerate() {
                            let first = list.first().copied().unwrap_or(Interval::MISS);
                            assert_eq!(interval[i], first, "{what}, ray {i}");
                            let hit = if list.is_empty() {
                                Hit::MISS
                            } else {
                                Hit { t: first.hit_t(&case.rays[i], inside), id: first.id }
                            };
                            assert_eq!(hits[i], hit, "{what}, ray {i}");
                            assert_eq!(occluded.get(i), Some(!list.is_empty()), "{what}, ray {i}");
                        }
                        assert_eq!(hits.report.rays_hit, lists.iter().filter(|list| !list.is_empty()).count() as u64);
                        let found = built.approach(case.rays(), &query).unwrap();
                        for (i, (found, near)) in found.iter().zip(&near).enumerate() {
                            assert_eq!(found, near, "{what}, ray {i}");
                        }
                        hit_count += all.records.len();
                    }
                }
            }
        }
    }
    assert!(hit_count > 20_000, "{hit_count}");
}

#[test]
fn masks_and_skipped_ids_follow_their_rays() {
    let case = Case::new(0, 3000, 700);
    let query = Query::at(Precision::Exact);
    for device in devices() {
        let scene = device.scene(case.spheres(), &SceneOptions::default()).unwrap();
        let whole = scene.closest(case.rays(), &query).unwrap();
        assert_eq!(
            *pollster::block_on(scene.cast_async(umbracast::queries::Closest, case.rays(), &query)).unwrap(),
            *whole
        );
        let bits = pollster::block_on(scene.cast_async(umbracast::queries::Occluded, case.rays(), &query)).unwrap();
        assert!(bits.iter().eq(whole.iter().map(Hit::is_hit)));
        let lists = pollster::block_on(scene.cast_async(umbracast::queries::Nearest(1), case.rays(), &query)).unwrap();
        assert!(
            lists
                .iter()
                .map(|list| list.first().map(|hit| hit.id))
                .eq(whole.iter().map(|hit| hit.is_hit().then_some(hit.id)))
        );
        for range in [0..1, 1..65, 65..1000, 1000..case.rays.len()] {
            let part = scene.closest(case.rays().slice(range.clone()), &query).unwrap();
            assert_eq!(*part, whole[range]);
        }
    }
}

#[test]
fn ray_masks_and_sphere_masks_are_optional() {
    let spheres = [Sphere::new([5.0, 0.0, 0.0], 1.0), Sphere::new([9.0, 0.0, 0.0], 1.0)];
    let ray = [Ray::new([0.0; 3], [1.0, 0.0, 0.0])];
    let query = Query::default();
    for device in devices() {
        let plain = device.scene(&spheres, &SceneOptions::default()).unwrap();
        let masked = device.scene(Spheres::from(&spheres).masks(&[0, 4]), &SceneOptions::default()).unwrap();
        let id = |scene: &Scene, rays: Rays<'_>| scene.closest(rays, &query).unwrap()[0].id;
        assert_eq!(id(&plain, Rays::from(&ray).masks(&[0])), NO_SPHERE);
        assert_eq!(id(&plain, Rays::from(&ray).masks(&[1 << 31])), 0);
        assert_eq!(id(&plain, Rays::from(&ray).skip_ids(&[0])), 1);
        assert_eq!(id(&plain, Rays::from(&ray).skip_ids(&[7])), 0, "sphere 7 does not exist");
        assert_eq!(id(&masked, (&ray).into()), 1);
        assert_eq!(id(&masked, Rays::from(&ray).masks(&[4])), 1);
        assert_eq!(id(&masked, Rays::from(&ray).masks(&[3])), NO_SPHERE);
        assert_eq!(id(&masked, Rays::from(&ray).masks(&[4]).skip_ids(&[1])), NO_SPHERE);
        // Rays that the device generates, and points.
        let points = [[0.0; 3], [9.0, 0.0, 0.5]];
        let made = Parallel { points: &points, direction: [1.0, 0.0, 0.0] };
        let found = plain.closest(Rays::from(&made).skip_ids(&[0, 1]), &query).unwrap();
        assert_eq!((found[0].id, found[1].id), (1, NO_SPHERE));
        let at = umbracast::Points::from(&points).masks(&[u32::MAX, 3]);
        assert_eq!(masked.contains(at, &query).unwrap()[1].count, 0);
        assert_eq!(masked.contains(&points, &query).unwrap()[1].id, 1);
        // An update keeps the masks unless it has new ones.
        let mut moved = masked.clone();
        moved.update(&[spheres[1], spheres[0]]).unwrap();
        let hit = moved.closest(&ray, &query).unwrap()[0];
        assert_eq!(hit, Hit { t: 4.0, id: 1 });
        moved.update(Spheres::from(&spheres).masks(&[1, 0])).unwrap();
        assert_eq!(id(&moved, (&ray).into()), 0);
        moved.rebuild().unwrap();
        assert_eq!(id(&moved, (&ray).into()), 0);
        let mut plain = plain.clone();
        plain.update(Spheres::from(&spheres).masks(&[0, 0])).unwrap();
        assert_eq!(id(&plain, (&ray).into()), NO_SPHERE);
    }
}

#[test]
fn masks_apply_to_pairwise_queries() {
    let case = Case::new(0, 700, 700);
    let spheres = Spheres::from(&case.spheres[..700]).masks(&case.sphere_masks[..700]);
    let n = &mut Numbers(3);
    let mut aimed = |sphere: &Sphere| {
        let origin = umbracast::glam::Vec3::from(n.vector()) * 3.0;
        Ray::new(origin, sphere.center - origin + umbracast::glam::Vec3::from(n.vector()) * sphere.radius)
    };
    let rays = &case.spheres[..700].iter().map(&mut aimed).collect::<Vec<_>>()[..];
    let skips: Vec<u32> = (0..700).map(|i| if i % 5 == 0 { i } else { 0 }).collect();
    let query = Query::default();
    for device in devices() {
        let all = device.pairwise(&case.spheres[..700], &Default::default()).unwrap();
        let some = device.pairwise(spheres, &Default::default()).unwrap();
        let expected = all.closest(rays, &query).unwrap();
        let given = Rays::from(rays).masks(&case.ray_masks[..700]).skip_ids(&skips);
        let found = some.closest(given, &query).unwrap();
        let part = some.closest(given.slice(100..400), &query).unwrap();
        assert_eq!(*part, found[100..400]);
        let mut hit_count = [0; 2];
        for (i, (found, expected)) in found.iter().zip(expected.iter()).enumerate() {
            let admitted = case.ray_masks[i] & case.sphere_masks[i] != 0 && skips[i] != i as u32;
            assert_eq!(*found, if admitted { *expected } else { Hit::MISS }, "pair {i} on {}", device.name());
            hit_count[usize::from(found.is_hit())] += usize::from(expected.is_hit());
        }
        assert!(hit_count[0] > 20 && hit_count[1] > 20, "{hit_count:?}");
    }
}

#[test]
fn mask_columns_of_another_length_are_refused() {
    let case = Case::new(0, 100, 20);
    let differ = |error: Error, words: [&str; 2]| match error {
        Error::LengthsDiffer { left_name, right_name, .. } => assert_eq!([left_name, right_name], words),
        other => panic!("{other}"),
    };
    for device in devices() {
        let few = Spheres::from(&case.spheres).masks(&case.sphere_masks[1..]);
        let refused = |spheres| device.scene(spheres, &SceneOptions::default()).err().unwrap();
        differ(refused(few), ["spheres", "masks"]);
        let mut scene = device.scene(case.spheres(), &SceneOptions::default()).unwrap();
        differ(scene.update(few).unwrap_err(), ["spheres", "masks"]);
        let query = Query::default();
        let few = Rays::from(&case.rays).masks(&case.ray_masks[1..]);
        differ(scene.closest(few, &query).unwrap_err(), ["rays", "masks"]);
        let many = Rays::from(&case.rays[1..]).skip_ids(&case.skips);
        differ(scene.occluded(many, &query).unwrap_err(), ["rays", "skip_ids"]);
        differ(scene.all(many, &query).unwrap_err(), ["rays", "skip_ids"]);
    }
}

#[test]
fn shaders_that_ignore_masks_are_detected() {
    let case = Case::new(0, 3000, 100);
    let query = Query::default();
    let scene = cpu().scene(case.spheres(), &SceneOptions::default()).unwrap();
    let expected = scene.closest(case.rays(), &query).unwrap();
    for info in Device::list().into_iter().filter(|info| info.probe.is_some()) {
        for edit in [
            ("& attributes.mask) != 0u", "| attributes.mask) != 0u"),
            ("params.first_id + at != attributes.skip_id", "at <= NO_SPHERE"),
            ("is_for(attributes, order[place])", "is_for(attributes, place)"),
        ] {
            let broken = pollster::block_on(Device::open_edited(info.index, edit)).unwrap();
            let [scene, _] = case.scenes(&broken);
            let found = scene.closest(case.rays(), &query).unwrap();
            assert!(*found != *expected, "{}: {edit:?}", info.name);
        }
    }
}
