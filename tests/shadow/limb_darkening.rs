//! Visible flux of lights with limb darkening. tests/data/README.md has the source of the expected values.

use umbracast::blocking;
use umbracast::glam::DVec3;
use umbracast::shadow::{Ball, Lighting, LimbDarkening, ShadowKind, Spheroid, System, visible_fraction};

use crate::support::{cpu, devices, root};

/// The Sun in the V band.
fn solar() -> LimbDarkening {
    LimbDarkening::new(0.44, 0.23).unwrap()
}

fn flux(lighting: &Lighting, device: &umbracast::Device) -> f64 {
    let observers = [DVec3::ZERO];
    let shadows = blocking::shadows(device, lighting, &observers).unwrap();
    blocking::fluxes(device, lighting, &observers, &shadows).unwrap()[0]
}

#[test]
fn the_flux_agrees_with_the_reference_for_one_occluder() {
    let text = std::fs::read_to_string(root().join("tests/data/limb_darkening.csv")).unwrap();
    let cpu = cpu();
    let mut worst = 0.0_f64;
    for line in text.lines().skip(1) {
        let [u1, u2, radius, separation, expected] =
            std::array::from_fn(|i| line.split(',').nth(i + 1).unwrap().parse::<f64>().unwrap());
        // The discs of the reference are flat, so these are small: the light's angular radius is 10⁻⁶.
        let light = Ball::new([0.0, 0.0, 2e6], 2.0);
        // Half as far away. A sphere of radius b at the distance d appears as large as a disc of radius b / √(1 − b² / d²).
        let occluder = Ball::new([separation, 0.0, 1e6], radius);
        let lighting =
            Lighting::new(light, [occluder]).unwrap().with_limb_darkening(LimbDarkening::new(u1, u2).unwrap());
        let found = flux(&lighting, &cpu);
        worst = worst.max((found - expected).abs());
        assert!((found - expected).abs() < 1e-9, "{line}: {found}");
    }
    println!("largest error: {worst:e}");
}

#[test]
fn gpus_report_the_same_flux_to_three_digits() {
    let sun = Ball::new([0.0, 0.0, 149_597_870.7], 695_700.0);
    let moon = Ball::new([1_000.0, 300.0, 370_000.0], 1_737.4);
    let lighting = Lighting::new(sun, [moon]).unwrap().with_limb_darkening(solar());
    let expected = flux(&lighting, &cpu());
    for device in devices() {
        assert!((flux(&lighting, device) - expected).abs() < 1e-3, "{}", device.name());
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
        let fraction = |light| blocking::shadows(&device, &bare(light), &[DVec3::ZERO]).unwrap()[0].fraction;
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
    let shadows = blocking::shadows(&cpu(), &lighting, &observers).unwrap();
    assert_eq!(shadows[0].kind, ShadowKind::Total);
    assert_eq!(blocking::fluxes(&cpu(), &lighting, &observers, &shadows).unwrap(), [0.0, 1.0, 0.0]);
}

/// A light behind a ball, seen from the ground below; the camera looks at the light or at the ground.
fn picture(law: &str, camera: &str) -> umbracast::shadow::Picture {
    let text = format!(
        "unit = \"km\"\n[light]\ncenter = [0, 0, 100]\nradius = 1\n{law}\n[[body]]\ncenter = [0, 0, -10]\nradius = 10\n\
         color = \"#ffffff\"\n[[body]]\ncenter = [0, 0, 50]\nradius = 0.4\n\
         [camera]\nkind = \"orthographic\"\n{camera}\n[picture]\nsize = [41, 41]\nsamples = 1\nexposure = 0.5\n"
    );
    let system = System::parse(&text, "s.toml".as_ref()).unwrap();
    let pictures: Vec<_> = devices().iter().map(|device| blocking::render(device, &system, None).unwrap()).collect();
    pictures.iter().for_each(|picture| assert!(picture.id == pictures[0].id, "devices disagree"));
    pictures.into_iter().next_back().unwrap()
}

#[test]
fn pictures_show_a_darkened_disc_and_a_shadow_by_flux() {
    let law = "limb_darkening = [0.6, 0.0]";
    let at_light = "position = [0, 0, 60]\ntarget = [0, 0, 100]\nup = [0, 1, 0]\nwidth = 2.0";
    let (dark, uniform) = (picture(law, at_light), picture("", at_light));
    // The picture is 2 radii wide: pixel k of the middle row is at (k − 20) · 2 / 41.
    for k in 0..41_usize {
        let at = 20 * 41 + k;
        let x = (k as f64 - 20.0) * 2.0 / 41.0;
        let expected = 1.0 - 0.6 * (1.0 - (1.0 - x * x).sqrt());
        assert!((f64::from(dark.rgb[at][0]) - expected).abs() < 1e-5, "{k}: {} {expected}", dark.rgb[at][0]);
        assert_eq!(uniform.rgb[at][0], 1.0);
    }
    let at_ground = "position = [0, 0, 20]\ntarget = [0, 0, 0]\nup = [0, 1, 0]\nwidth = 2.0";
    let (dark, uniform) = (picture(law, at_ground), picture("", at_ground));
    assert_eq!(dark.fraction, uniform.fraction);
    let law = LimbDarkening::new(0.6, 0.0).unwrap();
    let lighting = Lighting::new(Ball::new([0.0, 0.0, 100.0], 1.0), [Ball::new([0.0, 0.0, 50.0], 0.4)]).unwrap();
    let lighting = lighting.with_limb_darkening(law);
    for k in [20_usize, 24, 30, 36] {
        let at = 20 * 41 + k;
        let x = (k as f64 - 20.0) * 2.0 / 41.0;
        let point = DVec3::new(x, 0.0, -10.0 + (100.0 - x * x).sqrt());
        let observers = [point + 1e-9 * DVec3::Z];
        let shadows = blocking::shadows(&cpu(), &lighting, &observers).unwrap();
        let flux = blocking::fluxes(&cpu(), &lighting, &observers, &shadows).unwrap()[0];
        let ratio = f64::from(dark.rgb[at][0]) / f64::from(uniform.rgb[at][0]);
        assert!((ratio - flux / shadows[0].fraction).abs() < 1e-5, "{k}: {ratio} {flux} {}", shadows[0].fraction);
    }
}
