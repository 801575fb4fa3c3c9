//! Visible flux of lights with limb darkening. tests/data/README.md has the source of the expected values.

use umbracast::glam::DVec3;
use umbracast::shadow::{Ball, Lighting, LimbDarkening, Picture, ShadowKind, Spheroid, System, visible_fraction};
use umbracast_files::parse_system;

use umbracast_testing::{cpu, devices};

/// The Sun in the V band.
fn solar() -> LimbDarkening {
    LimbDarkening::new(0.44, 0.23).unwrap()
}

fn flux(lighting: &Lighting, device: &umbracast::Device) -> f64 {
    let observers = [DVec3::ZERO];
    let shadows = device.shadows(lighting, &observers).unwrap();
    device.fluxes(lighting, &observers, &shadows).unwrap()[0]
}

#[test]
fn the_flux_agrees_with_the_reference_for_one_occluder() {
    let mut worst = vec![0.0_f64; devices().len()];
    for (v, cells) in super::table(include_str!("../data/limb_darkening.csv")) {
        let [u1, u2, radius, separation, expected] = std::array::from_fn(|i| v[i + 1]);
        // The discs of the reference are flat, so these are small: the light's angular radius is 10⁻⁶.
        let light = Ball::new([0.0, 0.0, 2e6], 2.0);
        // Half as far away. A sphere of radius b at the distance d appears as large as a disc of radius b / √(1 − b² / d²).
        let occluder = Ball::new([separation, 0.0, 1e6], radius);
        let lighting =
            Lighting::new(light, [occluder]).unwrap().with_limb_darkening(LimbDarkening::new(u1, u2).unwrap());
        for (device, worst) in devices().iter().zip(&mut worst) {
            let found = flux(&lighting, device);
            *worst = worst.max((found - expected).abs());
            let most = if device.is_cpu() { 1e-9 } else { 1e-3 };
            assert!((found - expected).abs() < most, "{}: {cells:?}: {found}", device.name());
        }
    }
    println!("largest errors: {worst:?}");
    assert!(devices().len() < 2 || worst.iter().any(|worst| *worst > 1e-9), "no device computed in f32");
}

/// Observers in the plane z = 0, in the penumbra of most bodies near the axis z.
fn observers(count: usize, side: f64) -> Vec<DVec3> {
    let at = |i: usize, step: f64| side * ((i as f64 * step).fract() - 0.5);
    (0..count).map(|i| DVec3::new(at(i, 0.754_877_666), at(i, 0.569_840_291), 0.0)).collect()
}

#[test]
fn gpus_compute_the_same_flux_as_the_cpu() {
    let sun = Ball::new([0.0, 0.0, 149_597_870.7], 695_700.0);
    let moon = Ball::new([0.0, 0.0, 370_000.0], 1_737.4);
    let light = Ball::new([0.0, 0.0, 10.0], 2.0);
    let balls = [
        Ball::new([0.4, 0.1, 5.0], 0.5),
        Ball::new([0.1, 0.5, 5.5], 0.45),
        Ball::new([-0.5, -0.3, 6.0], 0.2),
        Ball::new([0.0, -40.2, 8.0], 40.0),
        Ball::new([0.2, -0.1, 4.0], 0.1),
        Ball::new([-0.2, 0.2, 4.0], 0.1),
    ];
    let spheroid = |z: f64, radius: f64| Spheroid::new([0.1, 0.0, z], radius, 0.4 * radius, [0.3, 0.9, 0.1]);
    let of = |light, balls: &[Ball], spheroids: Vec<Spheroid>| {
        Lighting::new(light, balls).unwrap().with_spheroids(spheroids).unwrap()
    };
    let near = Ball::new([0.0, 0.0, 10.0], 8.0);
    let cases = [
        ("an eclipse", of(sun, &[moon], vec![]), 9_000.0),
        ("a wide light", of(near, &[Ball::new([0.0, 0.0, 1.0], 0.6)], vec![]), 4.0),
        ("one ball", of(light, &balls[..1], vec![]), 4.0),
        ("two balls", of(light, &balls[..2], vec![]), 4.0),
        ("a ball near an edge", of(light, &balls[2..4], vec![]), 4.0),
        ("four balls", of(light, &balls[..4], vec![]), 4.0),
        ("six balls", of(light, &balls, vec![]), 4.0),
        ("a spheroid", of(light, &[], vec![spheroid(5.0, 0.7)]), 4.0),
        ("a spheroid and a ball", of(light, &balls[..1], vec![spheroid(5.0, 0.7)]), 4.0),
        ("two spheroids and a ball", of(light, &balls[1..2], vec![spheroid(5.0, 0.5), spheroid(6.0, 0.8)]), 4.0),
    ];
    for law in [solar(), LimbDarkening::new(1.0, 0.0).unwrap(), LimbDarkening::new(-0.5, 1.2).unwrap()] {
        for (name, lighting, side) in &cases {
            let lighting = lighting.clone().with_limb_darkening(law);
            let observers = observers(120, *side);
            let shadows = cpu().shadows(&lighting, &observers).unwrap();
            let expected = cpu().fluxes(&lighting, &observers, &shadows).unwrap();
            for device in devices().iter().filter(|device| !device.is_cpu()) {
                let found = device.fluxes(&lighting, &observers, &shadows).unwrap();
                let error = |i: usize| (found[i] - expected[i]).abs();
                let worst = (0..found.len()).max_by(|&i, &j| error(i).total_cmp(&error(j))).unwrap();
                println!("{name}, {law:?}: {:e} at {}", error(worst), observers[worst]);
                assert!(error(worst) < 1e-3, "{}: {name}: {} {}", device.name(), found[worst], expected[worst]);
                let is_partial = |i: &usize| found[*i] > 0.0 && found[*i] < 1.0;
                let partial: Vec<usize> = (0..found.len()).filter(is_partial).collect();
                assert!(partial.len() > 40, "{name}: {} observers in a penumbra", partial.len());
                // A result of the device is an f32.
                let on_device = partial.iter().filter(|&&i| f64::from(found[i] as f32) == found[i]).count();
                assert!(2 * on_device > partial.len(), "{name}: the device computed {on_device} of {}", partial.len());
            }
        }
    }
}

/// Flux by another method: the brightness is a sum of uniform discs, and each disc is a smaller light with the same centre.
fn layered(lighting: &Lighting, fraction: &dyn Fn(Ball) -> f64) -> f64 {
    let law = lighting.limb_darkening().unwrap();
    let light = lighting.light();
    let edge = law.intensity(0.0);
    let (mut sum, mut whole) = (edge * fraction(light), edge);
    let steps = 4000;
    for i in 0..steps {
        let mu = (f64::from(i) + 0.5) / f64::from(steps);
        let rise = law.intensity(mu + 0.5 / f64::from(steps)) - law.intensity(mu - 0.5 / f64::from(steps));
        let square = 1.0 - mu * mu;
        // The solid angle of a disc is 2π (1 − cos a), with the angle from sin a = radius / distance.
        let angle = |radius: f64| 1.0 - (1.0 - (radius / light.center.length()).powi(2)).sqrt();
        let share = angle(light.radius * square.sqrt()) / angle(light.radius);
        sum += rise * share * fraction(Ball { radius: light.radius * square.sqrt(), ..light });
        whole += rise * share;
    }
    sum / whole
}

#[test]
fn several_occluders_agree_with_layers_of_uniform_discs() {
    let light = Ball::new([0.0, 0.0, 10.0], 2.0);
    let occluders = [
        Ball::new([0.4, 0.1, 5.0], 0.5),
        Ball::new([0.1, 0.5, 5.5], 0.45),
        Ball::new([-0.5, -0.3, 6.0], 0.2),
        Ball::new([0.0, -40.2, 8.0], 40.0),
    ];
    for count in 1..=4 {
        let own = &occluders[4 - count..];
        let lighting = Lighting::new(light, own).unwrap().with_limb_darkening(solar());
        let (found, expected) =
            (flux(&lighting, &cpu()), layered(&lighting, &|light| visible_fraction(DVec3::ZERO, light, own).unwrap()));
        assert!((found - expected).abs() < 1e-6, "{count}: {found} {expected}");
        let fraction = visible_fraction(DVec3::ZERO, light, own).unwrap();
        assert!((found - fraction).abs() > 1e-4, "{count}: limb darkening changes nothing: {found} {fraction}");
    }
}

#[test]
fn spheroids_agree_with_layers_of_uniform_discs() {
    let light = Ball::new([0.0, 0.0, 10.0], 2.0);
    let device = cpu();
    for (center, radius, polar, extra) in [
        ([0.3, 0.2, 5.0], 0.5, 0.3, false),
        ([0.1, 0.05, 5.0], 0.4, 0.1, false),
        ([0.9, 0.0, 5.0], 0.6, 0.2, true),
        ([0.0, 0.6, 5.0], 0.05, 0.04, false),
        ([0.0, 0.0, 5.0], 1.3, 0.6, true),
    ] {
        let spheroid = Spheroid::new(center, radius, polar, [0.3, 0.9, 0.1]);
        let balls = if extra { vec![Ball::new([-0.4, 0.2, 6.0], 0.3)] } else { Vec::new() };
        let bare = |light| Lighting::new(light, balls.clone()).unwrap().with_spheroids([spheroid]).unwrap();
        let fraction = |light| device.shadows(&bare(light), &[DVec3::ZERO]).unwrap()[0].fraction;
        let lighting = bare(light).with_limb_darkening(solar());
        let (found, expected) = (flux(&lighting, &device), layered(&lighting, &fraction));
        assert!((found - expected).abs() < 1e-6, "{center:?}: {found} {expected}");
    }
}

#[test]
fn a_law_without_darkening_gives_the_fraction() {
    let light = Ball::new([0.0, 0.0, 10.0], 2.0);
    let occluders = [Ball::new([0.4, 0.1, 5.0], 0.5), Ball::new([0.1, 0.5, 5.5], 0.45)];
    let lighting = Lighting::new(light, occluders).unwrap().with_limb_darkening(LimbDarkening::new(0.0, 0.0).unwrap());
    let expected = visible_fraction(DVec3::ZERO, light, &occluders).unwrap();
    assert!((flux(&lighting, &cpu()) - expected).abs() < 1e-10);
}

#[test]
fn observers_outside_the_penumbra_see_all_or_nothing() {
    let light = Ball::new([0.0, 0.0, 100.0], 1.0);
    let lighting = Lighting::new(light, [Ball::new([0.0, 0.0, 50.0], 2.0)]).unwrap().with_limb_darkening(solar());
    let observers = [DVec3::ZERO, DVec3::X * 50.0, DVec3::Z * 50.0];
    let shadows = cpu().shadows(&lighting, &observers).unwrap();
    assert_eq!(shadows[0].kind, ShadowKind::Umbra);
    assert_eq!(cpu().fluxes(&lighting, &observers, &shadows).unwrap(), [0.0, 1.0, 0.0]);
}

/// A light behind a ball, seen from the ground below; the camera looks at the light or at the ground.
fn ball_system(law: &str, camera: &str) -> System {
    let text = format!(
        "unit = \"km\"\n[light]\ncenter = [0, 0, 100]\nradius = 1\n{law}\n[[body]]\ncenter = [0, 0, -10]\nradius = 10\n\
         color = \"#ffffff\"\n[[body]]\ncenter = [0, 0, 50]\nradius = 0.4\n\
         [camera]\nkind = \"orthographic\"\n{camera}\n[picture]\nsize = [41, 41]\nsamples = 1\nexposure = 0.5\n"
    );
    parse_system(&text, "s.toml".as_ref()).unwrap()
}

/// One picture per device.
fn pictures(law: &str, camera: &str) -> Vec<Picture> {
    let system = ball_system(law, camera);
    let pictures: Vec<_> = devices().iter().map(|device| device.render(&system, None).unwrap()).collect();
    pictures.iter().for_each(|picture| assert!(picture.id == pictures[0].id, "devices disagree"));
    pictures
}

#[test]
fn pictures_show_a_darkened_disc_and_a_shadow_by_flux() {
    let law = "limb_darkening = [0.6, 0.0]";
    let at_light = "position = [0, 0, 60]\ntarget = [0, 0, 100]\nup = [0, 1, 0]\nwidth = 2.0";
    for (dark, uniform) in pictures(law, at_light).iter().zip(pictures("", at_light)) {
        // The picture is 2 radii wide: pixel k of the middle row is at (k − 20) · 2 / 41.
        for k in 0..41_usize {
            let at = 20 * 41 + k;
            let x = (k as f64 - 20.0) * 2.0 / 41.0;
            let expected = 1.0 - 0.6 * (1.0 - (1.0 - x * x).sqrt());
            assert!((f64::from(dark.rgb[at][0]) - expected).abs() < 1e-5, "{k}: {} {expected}", dark.rgb[at][0]);
            assert_eq!(uniform.rgb[at][0], 1.0);
        }
    }
    let at_ground = "position = [0, 0, 20]\ntarget = [0, 0, 0]\nup = [0, 1, 0]\nwidth = 2.0";
    let law = LimbDarkening::new(0.6, 0.0).unwrap();
    let lighting = Lighting::new(Ball::new([0.0, 0.0, 100.0], 1.0), [Ball::new([0.0, 0.0, 50.0], 0.4)]).unwrap();
    let lighting = lighting.with_limb_darkening(law);
    let of_darkened = pictures("limb_darkening = [0.6, 0.0]", at_ground);
    for ((dark, uniform), device) in of_darkened.iter().zip(pictures("", at_ground)).zip(devices()) {
        assert_eq!(dark.fraction, uniform.fraction);
        let fluxes = dark.fluxes(&ball_system("limb_darkening = [0.6, 0.0]", at_ground)).unwrap();
        assert_eq!(uniform.fluxes(&ball_system("", at_ground)).unwrap(), uniform.fraction);
        let most = if device.is_cpu() { 1e-5 } else { 1e-3 };
        for k in [20_usize, 24, 30, 36] {
            let at = 20 * 41 + k;
            let x = (k as f64 - 20.0) * 2.0 / 41.0;
            let point = DVec3::new(x, 0.0, -10.0 + (100.0 - x * x).sqrt());
            let observers = [point + 1e-9 * DVec3::Z];
            let shadows = cpu().shadows(&lighting, &observers).unwrap();
            let flux = cpu().fluxes(&lighting, &observers, &shadows).unwrap()[0];
            assert!(
                (f64::from(fluxes[at]) - flux).abs() < 1e-5 && fluxes[at] != dark.fraction[at],
                "{k}: {} {flux}",
                fluxes[at]
            );
            let ratio = f64::from(dark.rgb[at][0]) / f64::from(uniform.rgb[at][0]);
            assert!((ratio - flux / shadows[0].fraction).abs() < most, "{k}: {ratio} {flux} {}", shadows[0].fraction);
        }
    }
}

#[test]
fn a_gpu_draws_the_same_darkened_shadows_as_the_cpu() {
    // An oblate planet, its moon and a light near the horizon of some of the ground.
    let text = "unit = \"km\"\n[light]\ncenter = [60, 0, 80]\nradius = 9\nlimb_darkening = [0.5, 0.3]\n\
         [[body]]\ncenter = [0, 0, 0]\nradius = 10\npolar_radius = 9\ncolor = \"#ffffff\"\n\
         [[body]]\ncenter = [9, 1, 15]\nradius = 2\n[[body]]\ncenter = [12, -4, 12]\nradius = 1.5\npolar_radius = 1\n\
         [camera]\nkind = \"perspective\"\nposition = [0, 40, 60]\ntarget = [0, 0, 0]\nup = [0, 1, 0]\nfield_of_view_deg = 30\n\
         [picture]\nsize = [160, 120]\nsamples = 1\nexposure = 0.8\n";
    let system = parse_system(text, "s.toml".as_ref()).unwrap();
    let pictures: Vec<_> = devices().iter().map(|device| device.render(&system, None).unwrap()).collect();
    let expected = cpu().render(&system, None).unwrap();
    for (picture, device) in pictures.iter().zip(devices()) {
        let differs = |at: &usize| (picture.rgb[*at][0] - expected.rgb[*at][0]).abs() > 1e-3;
        let count = (0..expected.rgb.len()).filter(differs).count();
        // Pixels at edges may show another body.
        assert!(count <= 12, "{}: {count} pixels differ", device.name());
    }
    let shaded = expected.fraction.iter().filter(|fraction| **fraction > 0.0 && **fraction < 1.0).count();
    assert!(shaded > 500, "{shaded} pixels are in a penumbra");
}
