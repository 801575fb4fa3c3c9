//! Besselian elements against published ones and against `tests/data/sky/elements.csv`; Saros numbers of all eclipses from 1900 to 2050.

use std::collections::HashMap;

use umbracast_sky::{DeltaT, Eclipse, EclipseBody, Radii, Sky, SkyOptions, SolarEclipse, Time};

use super::{number, rows, sky, solar};

const NAMES: [&str; 22] = [
    "x0", "x1", "x2", "x3", "y0", "y1", "y2", "y3", "d0", "d1", "d2", "l10", "l11", "l12", "l20", "l21", "l22", "mu0",
    "mu1", "mu2", "tan_f1", "tan_f2",
];

fn all(eclipse: &SolarEclipse) -> [f64; 22] {
    let of = eclipse.besselian_elements();
    let lists: [&[f64]; 7] = [&of.x, &of.y, &of.d, &of.l1, &of.l2, &of.mu, &[of.tan_f1, of.tan_f2]];
    lists.concat().try_into().unwrap()
}

/// 3e-5 of x and y, 2e-5 of the others.
fn tolerance(name: &str) -> f64 {
    if name.starts_with(['x', 'y']) { 3e-5 } else { 2e-5 }
}

/// The day, the coefficients of x, y, d, l1, l2 and μ as far as they are not 0, and the tangents of f1 and f2.
type Published = (&'static str, [&'static [f64]; 6], [f64; 2]);

/// Elements as NASA prints them (Espenak, Five Millennium Canon of Solar Eclipses, on the pages of its search engine, with ΔT of 70.3, 71.3, 73.7, 74.0, 75.4
/// and 76.0 s), computed there from other ephemerides (VSOP87, ELP2000-82). μ is the ephemeris hour angle, so that ΔT is not a part of them.
#[rustfmt::skip]
const PUBLISHED: [Published; 6] = [
    ("2017-08-21", [
        &[-0.129_571, 0.540_642_6, -0.000_029_4, -0.000_008_1], &[0.485_416, -0.141_64, -0.000_090_5, 0.000_002],
        &[11.866_959_6, -0.013_622], &[0.542_093, 0.000_124_1, -0.000_011_8],
        &[-0.004_025, 0.000_123_4, -0.000_011_7], &[89.245_43, 15.003_936_8],
    ], [0.004_622_2, 0.004_599_2]),
    ("2019-07-02", [
        &[-0.215_634, 0.566_208_7, 0.000_027_4, -0.000_008_8], &[-0.650_708, 0.010_639_9, -0.000_127_2, -0.000_000_3],
        &[23.012_950_9, -0.003_187, -0.000_005], &[0.537_631, -0.000_089_8, -0.000_012],
        &[-0.008_464, -0.000_089_4, -0.000_012], &[103.979_729, 14.999_51],
    ], [0.004_598_4, 0.004_575_5]),
    ("2023-10-14", [
        &[0.169_658, 0.458_553_3, 0.000_027_8, -0.000_005_4], &[0.334_859, -0.241_367_1, 0.000_024, 0.000_003],
        &[-8.244_190_2, -0.014_888, 0.000_002], &[0.564_311, -0.000_089_1, -0.000_010_3],
        &[0.018_083, -0.000_088_6, -0.000_010_3], &[93.501_732, 15.003_53],
    ], [0.004_688_2, 0.004_664_8]),
    ("2024-04-08", [
        &[-0.318_244, 0.511_711_6, 0.000_032_6, -0.000_008_4], &[0.219_764, 0.270_958_9, -0.000_059_5, -0.000_004_7],
        &[7.586_2, 0.014_844, -0.000_002], &[0.535_814, 0.000_061_8, -0.000_012_8],
        &[-0.010_272, 0.000_061_5, -0.000_012_7], &[89.591_217, 15.004_08],
    ], [0.004_668_3, 0.004_645]),
    ("2026-08-12", [
        &[0.475_514, 0.518_924_9, -0.000_077_3, -0.000_008], &[0.771_183, -0.230_168, -0.000_124_6, 0.000_003_8],
        &[14.796_67, -0.012_065, -0.000_003], &[0.537_955, 0.000_093_9, -0.000_012_1],
        &[-0.008_142, 0.000_093_5, -0.000_012_1], &[88.747_787, 15.003_09],
    ], [0.004_614_1, 0.004_591_1]),
    ("2027-08-02", [
        &[-0.019_772, 0.544_712_3, -0.000_044_6, -0.000_009_2], &[0.160_061, -0.211_158_2, -0.000_121_7, 0.000_003_8],
        &[17.762_470_2, -0.010_181, -0.000_004], &[0.530_596, 0.000_013_8, -0.000_012_8],
        &[-0.015_464, 0.000_013_7, -0.000_012_8], &[328.422_546, 15.002_1],
    ], [0.004_606_4, 0.004_583_4]),
];

#[test]
fn elements_are_those_of_the_canons() {
    let mut most = [0.0_f64; 2];
    for (date, expected, angles) in PUBLISHED {
        let sky = Sky::new(SkyOptions { radii: Radii::NASA, ..SkyOptions::default() });
        let of = solar(&sky, date).besselian_elements();
        let found: [&[f64]; 6] = [&of.x, &of.y, &of.d, &of.l1, &of.l2, &of.mu];
        for ((name, found), expected) in ["x", "y", "d", "l1", "l2", "mu"].into_iter().zip(found).zip(expected) {
            for (power, (found, expected)) in found.iter().zip(expected).enumerate() {
                let (apart, most) = ((found - expected).abs(), &mut most[usize::from(!name.starts_with(['x', 'y']))]);
                *most = most.max(apart);
                assert!(apart < tolerance(name), "{date} {name}{power}: {found} and {expected}");
            }
        }
        let apart = [of.tan_f1 - angles[0], of.tan_f2 - angles[1]];
        assert!(apart.iter().all(|apart| apart.abs() < 2e-7), "{date}: {apart:?}");
    }
    println!("x, y: {:.1e}; d, l1, l2, mu: {:.1e}", most[0], most[1]);
}

#[test]
fn elements_agree_with_skyfield() {
    let list: Vec<[String; 24]> = rows("sky/elements.csv", &format!("date,t0_tt_h,{}", NAMES.join(",")));
    assert_eq!(list.len(), 5);
    for row in list {
        let eclipse = solar(&Sky::new(SkyOptions { radii: Radii::NASA, ..SkyOptions::default() }), &row[0]);
        let t0 = eclipse.besselian_elements().t0;
        // TT is a day of 24 hours from noon of 2000-01-01.
        assert_eq!((t0.tt_seconds() / 3600.0 + 12.0).rem_euclid(24.0), number(&row[1]), "{}", row[0]);
        let found = all(&eclipse);
        for ((name, found), expected) in NAMES.into_iter().zip(found).zip(&row[2..]) {
            let expected = number(expected);
            assert!((found - expected).abs() < 1e-6, "{} {name}: {found} and {expected}", row[0]);
        }
    }
}

/// ΔT is no part of the elements; the radii are part of l1, l2 and the angles of the cones only.
#[test]
fn elements_depend_on_radii_only() {
    let of = |delta_t: f64, radii| all(&solar(&sky(delta_t, radii), "2024-04-08"));
    let (base, later, other) = (of(69.2, Radii::IAU), of(140.0, Radii::IAU), of(69.2, Radii::NASA));
    for (i, name) in NAMES.into_iter().enumerate() {
        assert!((base[i] - later[i]).abs() < 1e-6, "{name}: {} and {}", base[i], later[i]);
        let is_size = name.starts_with('l') || name.starts_with("tan");
        assert_eq!(base[i] == other[i], !is_size, "{name}");
    }
}

/// Eclipses and the numbers of their series, as the canons have them.
const KNOWN: [(&str, EclipseBody, i32); 12] = [
    ("2017-08-21", EclipseBody::Solar, 145),
    ("2024-04-08", EclipseBody::Solar, 139),
    ("2026-08-12", EclipseBody::Solar, 126),
    ("2027-08-02", EclipseBody::Solar, 136),
    ("1919-05-29", EclipseBody::Solar, 136),
    ("1999-08-11", EclipseBody::Solar, 145),
    ("2023-10-14", EclipseBody::Solar, 134),
    ("2011-07-01", EclipseBody::Solar, 156),
    ("2025-03-14", EclipseBody::Lunar, 123),
    ("2022-05-16", EclipseBody::Lunar, 131),
    ("2018-07-27", EclipseBody::Lunar, 129),
    ("2000-07-16", EclipseBody::Lunar, 129),
];

#[test]
fn saros_numbers_are_those_of_the_canons() {
    let sky = Sky::new(SkyOptions::default());
    for (date, body, expected) in KNOWN {
        let eclipse = sky.eclipse_on(sky.parse_time(date).unwrap().0).unwrap().unwrap();
        assert_eq!(matches!(eclipse, Eclipse::Solar(_)), body == EclipseBody::Solar, "{date}");
        assert_eq!(eclipse.lunation_and_saros().1, expected, "{date}");
    }
}

/// The eclipses of a series follow each other after 6585.32 days, and those with consecutive numbers after an Inex, 10571.95 days. The next
/// eclipse has another number, and gamma of a series changes slowly.
#[test]
fn every_series_is_a_chain() {
    let sky = Sky::new(SkyOptions::default());
    let year = |year| Time::of_year(year, DeltaT::Table);
    for body in [EclipseBody::Solar, EclipseBody::Lunar] {
        let list = sky.eclipses(year(1900), year(2051), Some(body)).unwrap();
        let mut series: HashMap<i32, Vec<&Eclipse>> = HashMap::new();
        for eclipse in &list {
            series.entry(eclipse.lunation_and_saros().1).or_default().push(eclipse);
        }
        for (number, members) in &series {
            for pair in members.windows(2) {
                let days = pair[1].greatest().seconds_since(pair[0].greatest()) / 86_400.0;
                assert!((days - 6585.32).abs() < 0.2, "{body:?} {number}: {days} days");
                let lunations = pair[1].lunation_and_saros().0 - pair[0].lunation_and_saros().0;
                assert_eq!(lunations, 223, "{body:?} {number}");
                assert!((pair[1].gamma() - pair[0].gamma()).abs() < 0.12, "{body:?} {number}");
            }
            // An eclipse one Inex later belongs to the next series, at the other node.
            for member in members {
                let then = member.greatest().plus(10_571.95 * 86_400.0);
                let near = list.iter().find(|one| one.greatest().seconds_since(then).abs() < 3.0 * 86_400.0);
                if let Some(near) = near {
                    assert_eq!(near.lunation_and_saros().1, number + 1, "{body:?}");
                    assert!(near.gamma() * member.gamma() < 0.0 || near.gamma().abs() < 0.2, "{body:?} {number}");
                }
            }
        }
        for pair in list.windows(2) {
            assert_ne!(pair[0].lunation_and_saros().1, pair[1].lunation_and_saros().1);
        }
    }
}
