//! Visible fractions for batches of observers, compared with 50-digit values, with single calls, and with ephemerides.

use umbracast::glam::DVec3;
use umbracast::shadow::ShadowKind::{Antumbra, Lit, Penumbra, Umbra};
use umbracast::shadow::{Ball, Lighting, Shadow, visible_fraction};
use umbracast_testing::{devices, rows};

/// The Sun and the Moon on 2024-04-08 at 18:17:20 UTC, in km, in the frame that rotates with the Earth, from its centre.
const SUN: [f64; 3] = [-10_166_499.187541846, -148_161_748.2976715, 19_793_051.468534708];
const MOON: [f64; 3] = [-25_416.495482834707, -355_482.07845826703, 49_445.03724081092];

pub(super) fn sun() -> Ball {
    Ball::new(SUN, 695_700.0)
}

pub(super) fn earth() -> Ball {
    Ball::new([0.0; 3], 6_371.0)
}

pub(super) fn moon() -> Ball {
    Ball::new(MOON, 1_737.4)
}

pub(super) fn lighting<const N: usize>(light: Ball, occluders: [Ball; N]) -> Lighting {
    Lighting::new(light, occluders).unwrap()
}

/// One observer on one device.
pub(super) fn shadow(device: &umbracast::Device, lighting: &Lighting, observer: DVec3) -> Shadow {
    device.shadows(lighting, &[observer]).unwrap()[0]
}

#[test]
fn the_table_of_sphere_overlaps_is_reproduced() {
    let rows = super::sphere_overlaps();
    for device in devices() {
        let (allowed, few, share) = if device.is_cpu() { (1e-9, 1e-13, 1e-9) } else { (1e-4, 3e-7, 1e-4) };
        let (mut worst, mut kinds, mut misses) = (0.0_f64, 0, Vec::new());
        for (i, expected) in rows.iter().enumerate() {
            let body = expected.row.bodies[0];
            let lighting = lighting(expected.row.light, [Ball::new(body.center, body.radius)]);
            let found = shadow(device, &lighting, expected.row.observer);
            let apart = (found.fraction - expected.fraction).abs();
            worst = worst.max(apart);
            let other_kind = found.kind.word() != expected.kind;
            kinds += usize::from(other_kind);
            if apart.is_nan() || apart > allowed || (other_kind && !expected.touches(few, share)) {
                misses.push(format!("row {i}: {found:?} for {expected:?}"));
            }
        }
        println!("{}: worst fraction {worst:.1e}, {kinds} kinds differ at a touch", device.name());
        assert!(misses.is_empty(), "{}: {} misses: {misses:#?}", device.name(), misses.len());
    }
}

/// A case for which a widely used toolkit returned 1,935,582 %: on the edge of the Earth's umbra, where the two discs touch
/// internally, it took the Earth for a transiting planet and returned the square of the ratio of the radii.
#[test]
fn fractions_at_the_edge_of_the_umbra_stay_within_0_and_1() {
    let lighting = lighting(sun(), [earth()]);
    let away = -sun().center.normalize();
    let (x, y) = away.any_orthonormal_pair();
    let mut observers = Vec::new();
    for turn in 0..2000 {
        let across = x * f64::from(turn).cos() + y * f64::from(turn).sin();
        // The edge of the umbra by bisection to the last digit, and the reported offset.
        let at = |offset: f64| away * 8_480.0 + across * offset;
        let (mut dark, mut seen) = (6_300.0, 6_371.0);
        while (dark + seen) * 0.5 != dark && (dark + seen) * 0.5 != seen {
            let middle = (dark + seen) * 0.5;
            let left = visible_fraction(at(middle), sun(), &[earth()]).unwrap();
            *(if left > 0.0 { &mut seen } else { &mut dark }) = middle;
        }
        assert!((dark - 6_332.05).abs() < 1.0, "{dark}");
        observers.extend([at(dark), at(seen), at(6_332.050_999_097_188)]);
    }
    for device in devices() {
        let found = device.shadows(&lighting, &observers).unwrap();
        for (i, [dark, seen, reported]) in found.as_chunks::<3>().0.iter().enumerate() {
            for shadow in [dark, seen, reported] {
                assert!((0.0..=1.0).contains(&shadow.fraction), "{} {i}: {shadow:?}", device.name());
                assert!([Umbra, Penumbra].contains(&shadow.kind), "{} {i}: {shadow:?}", device.name());
            }
            assert!(dark.fraction.max(seen.fraction) < 1e-5, "{} {i}: {dark:?} {seen:?}", device.name());
            let expected = visible_fraction(observers[3 * i + 2], sun(), &[earth()]).unwrap();
            assert!((reported.fraction - expected).abs() < 1e-4, "{} {i}: {reported:?}", device.name());
        }
    }
}

/// A case for which a widely used library returned −11.33: an orbit 100 km above the Moon, 2026-03-03 09:50 UTC, an hour
/// before the middle of a lunar eclipse, with the Sun behind the limbs of both Moon and Earth. Positions are JPL's DE421 in km from the
/// Moon's centre. Fractions were computed from the disc cut into 4 · 10⁶ slices, which agrees with 10⁶ slices to 2 · 10⁻⁹.
#[test]
fn earth_and_moon_together_never_give_negative_fractions() {
    let sun = Ball::new([141_764_825.0050473, -41_114_064.97116132, -17_821_121.375813235], 695_700.0);
    let earth = Ball::new([362_632.2331536079, -111_820.20476761891, -46_514.555948489615], 6_378.137);
    let lighting = lighting(sun, [Ball::new([0.0; 3], 1_737.4), earth]);
    let cases = [
        ([-370.085, 107.331, 1796.54], 0.396_169_299_7, Penumbra),
        ([-373.698, 108.378, 1795.729], 0.204_418_889_3, Penumbra),
        ([-453.606, -182.801, 1771.12], 0.471_249_800_0, Penumbra),
        ([-638.848, -719.219, 1565.451], 0.165_818_594_2, Penumbra),
        ([-642.266, -717.574, 1564.807], 0.066_182_836_7, Penumbra),
        // The Moon alone leaves half of the Sun visible and the Earth alone a fortieth; together they cover all of it.
        ([-1011.944, -1488.028, 371.187], 0.0, Umbra),
        ([-1093.25, -1382.835, -518.276], 0.0, Umbra),
        ([-1011.505, -744.242, -1341.268], 0.047_827_907_1, Penumbra),
        ([-1014.655, -742.578, -1339.811], 0.004_695_567_5, Penumbra),
        ([-814.814, 78.759, -1644.966], 0.129_418_103_4, Penumbra),
        ([-634.616, 652.586, -1596.068], 0.582_501_886_9, Penumbra),
        ([-497.821, 1049.521, -1423.628], 0.688_712_055_6, Penumbra),
        ([-105.812, 1193.484, 1392.996], 0.498_554_642_5, Penumbra),
    ];
    let observers = cases.map(|(observer, ..)| DVec3::from(observer));
    for device in devices() {
        let allowed = if device.is_cpu() { 5e-9 } else { 1e-4 };
        for (found, (observer, fraction, kind)) in device.shadows(&lighting, &observers).unwrap().iter().zip(cases) {
            let apart = (found.fraction - fraction).abs();
            assert!(apart < allowed, "{} {observer:?}: {found:?} for {fraction}", device.name());
            assert_eq!(found.kind, kind, "{} {observer:?}: {found:?}", device.name());
        }
    }
}

/// Compares the obscuration at 271 places of the oblate Earth on 2024-04-08 at 18:17:00 UTC with Skyfield's (JPL's DE421).
#[test]
fn the_eclipse_of_2024_has_the_obscuration_of_the_ephemerides() {
    let sun = Ball::new([-9_950_956.769529846, -148_176_400.78641182, 19_792_826.904298924], 695_700.0);
    let moon = Ball::new([-24_917.4531705742, -355_518.3706825553, 49_434.95114399382], 1_737.4);
    let rows: Vec<[f64; 3]> = rows::<4>("sky/obscuration.csv", "lat,lon,obscuration,utc")
        .iter()
        .filter(|row| row[3] == "2024-04-08T18:17:00Z")
        .map(|row| std::array::from_fn(|i| row[i].parse().unwrap()))
        .filter(|row: &[f64; 3]| row[2] > 0.0)
        .collect();
    let (a, b) = (6_378.137_f64, 6_356.752_314_245_f64);
    let flat = 1.0 - (b / a).powi(2);
    let place = |row: &[f64; 3]| {
        let (latitude, longitude) = (row[0].to_radians(), row[1].to_radians());
        let n = a / (1.0 - flat * latitude.sin().powi(2)).sqrt();
        let (x, y) = (latitude.cos() * longitude.cos(), latitude.cos() * longitude.sin());
        DVec3::new(n * x, n * y, n * (1.0 - flat) * latitude.sin())
    };
    let observers: Vec<DVec3> = rows.iter().map(place).collect();
    assert_eq!(rows.len(), 271);
    for device in devices() {
        let found = device.shadows(&lighting(sun, [moon]), &observers).unwrap();
        let off = found.iter().zip(&rows).map(|(shadow, row)| (1.0 - shadow.fraction - row[2]).abs());
        let worst = off.fold(0.0, f64::max);
        println!("{}: {worst:.1e}", device.name());
        // The table has six digits.
        assert!(worst < if device.is_cpu() { 6e-7 } else { 1e-4 }, "{}: {worst}", device.name());
    }
}

/// Along the axis of 2024-04-08: the Moon's umbra, the antumbra behind its tip, and full light outside the penumbra.
#[test]
fn umbra_antumbra_and_penumbra_have_their_analytic_bounds() {
    let lighting = lighting(sun(), [moon()]);
    let axis = moon().center - sun().center;
    let distance = axis.length();
    let axis = axis / distance;
    let across = axis.any_orthonormal_vector();
    let tip = moon().radius * distance / (sun().radius - moon().radius)
        * (1.0 - ((695_700.0 - 1_737.4) / distance).powi(2)).sqrt();
    let sine = (sun().radius + moon().radius) / distance;
    let tangent = sine / (1.0 - sine * sine).sqrt();
    let apex = distance * moon().radius / (sun().radius + moon().radius);
    let mut observers = Vec::new();
    let mut expected = Vec::new();
    for i in 1..=100 {
        let (umbra, antumbra) = (tip * (f64::from(i) / 101.0), tip * (1.0 + f64::from(i) / 20.0));
        let edge = (umbra + apex) * tangent;
        let at = |along: f64, aside: f64| moon().center + axis * along + across * aside;
        observers.extend([
            at(umbra.max(1_800.0), 0.0),
            at(antumbra, 0.0),
            at(umbra, edge * 1.0001),
            at(umbra, edge * 0.9999),
        ]);
        expected.extend([Umbra, Antumbra, Lit, Penumbra]);
        observers.push(at(umbra, edge + moon().radius));
        expected.push(Lit);
    }
    for device in devices() {
        let found = device.shadows(&lighting, &observers).unwrap();
        for ((found, kind), observer) in found.iter().zip(&expected).zip(&observers) {
            assert_eq!(found.kind, *kind, "{} {observer}: {found:?}", device.name());
            match kind {
                Umbra => assert_eq!(found.fraction, 0.0),
                Lit => assert_eq!(found.fraction, 1.0),
                Antumbra => {
                    let one_less_cosine = |ball: Ball| {
                        let sine = ball.radius / (ball.center - *observer).length();
                        sine * sine / (1.0 + (1.0 - sine * sine).sqrt())
                    };
                    let left = 1.0 - one_less_cosine(moon()) / one_less_cosine(sun());
                    assert!((found.fraction - left).abs() < 1e-4, "{}: {found:?} for {left}", device.name());
                }
                Penumbra => assert!(found.fraction > 0.99 && found.fraction < 1.0, "{}: {found:?}", device.name()),
            }
        }
    }
}
