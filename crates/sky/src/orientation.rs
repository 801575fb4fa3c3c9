//! Orientation of the Earth: precession (IAU 2006), nutation (the largest terms of IAU 2000A), and sidereal time (IAU 2006).
//!
//! Formulas: IERS Conventions 2010, chapter 5; precession by the angles of Fukushima and Williams (Capitaine, Wallace and Chapront 2003).
//! The omitted terms of nutation move a place by less than 10 cm, and polar motion by up to 15 m.

use std::f64::consts::TAU;
use std::sync::OnceLock;

use glam::{DMat3, DVec3};

use crate::time::{DAY, Time};

/// Radians per arcsecond.
const ARCSECOND: f64 = TAU / 1_296_000.0;

/// A term of nutation: multiples of the five arguments, and six coefficients in 10⁻⁷ arcseconds.
struct Term {
    multiples: [f64; 5],
    amplitudes: [f64; 6],
}

fn terms() -> &'static [Term] {
    static TERMS: OnceLock<Vec<Term>> = OnceLock::new();
    TERMS.get_or_init(|| {
        let row = |line: &str| {
            let numbers: Vec<f64> = line.split(',').filter_map(|cell| cell.parse().ok()).collect();
            let (multiples, amplitudes) = numbers.split_at_checked(5)?;
            Some(Term { multiples: multiples.try_into().ok()?, amplitudes: amplitudes.try_into().ok()? })
        };
        include_str!("data/nutation.csv").lines().filter_map(row).collect()
    })
}

/// A polynomial, the constant first.
fn polynomial(coefficients: &[f64], t: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * t + c)
}

/// Orientation of the Earth at one instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Orientation {
    /// Rotates vectors from the axes of the GCRS to the true equator and equinox of date.
    pub(crate) true_from_gcrs: DMat3,
    /// Greenwich apparent sidereal time in radians.
    pub(crate) sidereal_time: f64,
    /// Greenwich mean sidereal time of 1982 in radians (Aoki and others 1982), from whose equinox the frame TEME counts.
    pub(crate) mean_time_1982: f64,
}

impl Orientation {
    /// The orientation at `time`, with `delta_t` = TT − UT1 in seconds.
    pub(crate) fn at(time: Time, delta_t: f64) -> Self {
        let t = time.centuries();
        let arguments = [
            [485_868.249_036, 1_717_915_923.217_8, 31.879_2, 0.051_635, -0.000_244_70],
            [1_287_104.793_05, 129_596_581.048_1, -0.553_2, 0.000_136, -0.000_011_49],
            [335_779.526_232, 1_739_527_262.847_8, -12.751_2, -0.001_037, 0.000_004_17],
            [1_072_260.703_69, 1_602_961_601.209_0, -6.370_6, 0.006_593, -0.000_031_69],
            [450_160.398_036, -6_962_890.543_1, 7.472_2, 0.007_702, -0.000_059_39],
        ]
        .map(|one| polynomial(&one, t) % 1_296_000.0 * ARCSECOND);
        let (mut longitude, mut obliquity) = (0.0, 0.0);
        for term in terms() {
            let angle: f64 = term.multiples.iter().zip(arguments).map(|(multiple, argument)| multiple * argument).sum();
            let (sine, cosine) = angle.sin_cos();
            let [a, b, c, d, e, f] = term.amplitudes;
            longitude += (a + b * t) * sine + c * cosine;
            obliquity += (d + e * t) * cosine + f * sine;
        }
        // The constants stand for the planetary terms, as in IAU 2000B.
        let longitude = (longitude * 1e-7 - 0.000_135) * ARCSECOND;
        let obliquity = (obliquity * 1e-7 + 0.000_388) * ARCSECOND;

        let arcseconds = |coefficients: &[f64]| polynomial(coefficients, t) * ARCSECOND;
        let gamma = arcseconds(&[-0.052_928, 10.556_378, 0.493_204_4, -0.000_312_38, -0.000_002_788, 0.000_000_026_0]);
        let phi =
            arcseconds(&[84_381.412_819, -46.811_016, 0.051_126_8, 0.000_532_89, -0.000_000_440, -0.000_000_017_6]);
        let psi =
            arcseconds(&[-0.041_775, 5_038.481_484, 1.558_417_5, -0.000_185_22, -0.000_026_452, -0.000_000_014_8]);
        let mean = arcseconds(&[84_381.406, -46.836_769, -0.000_183_1, 0.002_003_40, -0.000_000_576, -0.000_000_043_4]);
        // glam's rotations turn vectors; rotations of the axes have the opposite sign.
        let true_from_gcrs = DMat3::from_rotation_x(mean + obliquity)
            * DMat3::from_rotation_z(psi + longitude)
            * DMat3::from_rotation_x(-phi)
            * DMat3::from_rotation_z(-gamma);

        let ut1_days = (time.tt_seconds() - delta_t) / DAY;
        let turns = ut1_days.fract() + 0.779_057_273_264_0 + 0.002_737_811_911_354_48 * ut1_days;
        let mean_time =
            arcseconds(&[0.014_506, 4_612.156_534, 1.391_581_7, -0.000_000_44, -0.000_029_956, -0.000_000_036_8]);
        let node = arguments[4];
        let equinoxes =
            longitude * mean.cos() + (0.002_640_96 * node.sin() + 0.000_063_52 * (2.0 * node).sin()) * ARCSECOND;
        // Seconds of time; the constant term of a day's turn is left to the fraction of the day.
        let mean_1982 = polynomial(&[67_310.548_41, 8_640_184.812_866, 0.093_104, -6.2e-6], ut1_days / 36_525.0);
        Self {
            true_from_gcrs,
            sidereal_time: (turns.fract() * TAU + mean_time + equinoxes).rem_euclid(TAU),
            mean_time_1982: ((ut1_days.fract() + mean_1982 / DAY) * TAU).rem_euclid(TAU),
        }
    }

    /// Rotates a vector from the axes of the GCRS to those that rotate with the Earth: x through 0° N 0° E, z through the north pole.
    pub(crate) fn to_earth_fixed(self, gcrs: DVec3) -> DVec3 {
        DMat3::from_rotation_z(-self.sidereal_time) * (self.true_from_gcrs * gcrs)
    }
}
