//! The table of corner cases in `docs/queries.md`: reads each row, casts its ray on every device, and compares every cell.

use umbracast::{Ends, Inside, NO_SPHERE, Near, Precision, Query, Ray, Rays, Sphere, Touch};
use umbracast_testing::{devices, root, with_and_without_tree};

const COLUMNS: &str =
    "| case | spheres | ray | options | `closest` | `interval` | `all` | `count` | `occluded` | `approach` |";

fn numbers(cell: &str) -> Vec<f32> {
    cell.trim_matches('`').split(',').map(|number| number.parse().unwrap()).collect()
}

fn ray(cell: &str) -> Ray {
    let [x, y, z, dx, dy, dz, ref ends @ ..] = numbers(cell)[..] else { panic!("{cell}") };
    let ray = Ray::new([x, y, z], [dx, dy, dz]);
    ends.first().map_or(ray, |t_min| ray.between(*t_min, ends[1]))
}

/// The query of the cell `options`, and the id of `from_id`.
fn options(cell: &str) -> (Query, u32) {
    let mut query = Query::at(Precision::Exact);
    let mut from = NO_SPHERE;
    for option in cell.trim_matches('`').split(", ").filter(|option| !option.is_empty()) {
        query = match option {
            "inside exit" => query.inside(Inside::Exit),
            "inside ignore" => query.inside(Inside::Ignore),
            "touch miss" => query.touch(Touch::Miss),
            "ends half-open" => query.ends(Ends::HalfOpen),
            "near block" => query.near(Near::Block),
            _ => {
                from = option.strip_prefix("from_id ").unwrap().parse().unwrap();
                query
            }
        };
    }
    (query, from)
}

/// The cells of the results.
fn answers(scene: &umbracast::Scene, ray: Ray, query: &Query, from: u32) -> [String; 6] {
    let (rays, from) = ([ray], [from]);
    let rays = Rays::from(&rays).from_ids(&from);
    // Only the hits with a position obey `near`.
    let other = query.near(Near::Pass);
    let miss = |found: bool, text: String| if found { text } else { "miss".into() };
    let hit = scene.closest(rays, query).unwrap()[0];
    let interval = scene.interval(rays, query).unwrap()[0];
    let all = scene.all(rays, query).unwrap().records;
    let near = scene.approach(rays, &other).unwrap()[0];
    let occluded = scene.occluded(rays, &other).unwrap().get(0).unwrap();
    let list: Vec<String> =
        all.iter().map(|hit| format!("{:?} to {:?} ({})", hit.t_enter, hit.t_exit, hit.id)).collect();
    [
        miss(hit.is_hit(), format!("{:?} ({})", hit.t, hit.id)),
        miss(interval.is_hit(), format!("{:?} to {:?} ({})", interval.t_enter, interval.t_exit, interval.id)),
        miss(!list.is_empty(), list.join("; ")),
        scene.count(rays, &other).unwrap()[0].to_string(),
        if occluded { "yes" } else { "no" }.into(),
        miss(near.id != NO_SPHERE, format!("{:?}, {:?} ({})", near.t, near.clearance, near.id)),
    ]
}

#[test]
fn the_table_of_corner_cases_is_what_every_device_returns() {
    let text = std::fs::read_to_string(root().join("docs/queries.md")).unwrap();
    let (_, table) = text.split_once(COLUMNS).expect("docs/queries.md has the table of corner cases");
    let rows: Vec<&str> = table.lines().skip(2).take_while(|line| line.starts_with('|')).collect();
    assert!(rows.len() > 25, "{} rows", rows.len());
    for device in devices() {
        for row in &rows {
            let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
            let [_, spheres, line, given, expected @ ..] = &cells[..] else { panic!("{row}") };
            let sphere = |cell: &str| {
                let [x, y, z, r] = numbers(cell)[..] else { panic!("{cell}") };
                Sphere::new([x, y, z], r)
            };
            let spheres: Vec<Sphere> = spheres.split("; ").map(sphere).collect();
            let (query, from) = options(given);
            if let ([sphere], NO_SPHERE) = (&spheres[..], from) {
                let hit = ray(line).hit(sphere, &query);
                assert_eq!(hit.map_or("miss".into(), |hit| format!("{:?} (0)", hit.t)), expected[0], "{row}");
            }
            for scene in with_and_without_tree(device, &spheres) {
                assert_eq!(answers(&scene, ray(line), &query, from), expected, "{row}\non {}", device.name());
            }
        }
    }
}
