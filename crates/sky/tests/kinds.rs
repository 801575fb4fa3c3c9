//! The kind of a solar eclipse is that of its whole centre line, and the numbers at contacts follow one rule.

use umbracast_sky::{LocalKind, Place, Radii, Sky, SkyOptions, SolarEclipse, SolarKind};

use super::solar;

fn eclipse(date: &str, radii: Radii) -> SolarEclipse {
    solar(&Sky::new(SkyOptions { radii, ..SkyOptions::default() }), date)
}

/// A hybrid eclipse is annular and total on its centre line, and nowhere partial. Its limits have no gap where the one turns into the other.
#[test]
fn hybrid_eclipses_are_annular_and_total_along_the_centre_line() {
    for (date, radii) in [
        ("1966-05-20", Radii::IAU),
        ("1912-04-17", Radii::IAU),
        ("1912-04-17", Radii::NASA),
        ("1987-03-29", Radii::IAU),
        ("1987-03-29", Radii::NASA),
        ("2031-11-14", Radii::IAU),
        ("2031-11-14", Radii::NASA),
        ("2005-04-08", Radii::IAU),
        ("2013-11-03", Radii::NASA),
        ("2023-04-20", Radii::IAU),
    ] {
        let eclipse = eclipse(date, radii);
        assert_eq!(eclipse.kind, SolarKind::Hybrid, "{date} {radii:?}");
        let points = eclipse.central_line(15.0).points;
        let count = |kind| points.iter().filter(|point| point.kind == kind).count();
        let counts = [LocalKind::Annular, LocalKind::Total].map(count);
        assert!(
            counts[0] > 0 && counts[1] > 0 && counts[0] + counts[1] == points.len(),
            "{date} {radii:?}: {counts:?}"
        );
        for point in &points {
            let seconds = point.duration_s.unwrap();
            assert!((point.magnitude > 1.0) == (point.kind == LocalKind::Total), "{date}: {point:?}");
            // The Moon crosses the Sun's diameter in 0.5 to 2 hours, and this part of it in the duration.
            let hours = seconds / 3600.0 / (point.magnitude - 1.0).abs();
            assert!(seconds < 0.1 || (0.5..2.5).contains(&hours), "{date}: {point:?}");
            assert!(seconds > 0.0 || (point.magnitude - 1.0).abs() < 2e-5, "{date}: {point:?}");
        }
        // At the ends, one limit is beyond the limb of the Earth.
        let without_width = points[4..points.len() - 4].iter().filter(|point| point.width_km.is_none()).count();
        assert_eq!(without_width, 0, "{date} {radii:?}");
        assert_eq!(eclipse.limits(15.0).map(|lines| lines.len()), [1, 1], "{date} {radii:?}");
    }
}

/// The last column is that of NASA's Canon. The IAU's Moon is larger for total and annular phases, and its Sun is smaller.
#[test]
fn an_eclipse_has_the_kind_of_its_whole_centre_line() {
    use SolarKind::{Annular, Hybrid, Partial, Total};
    for (date, iau, nasa) in [
        ("1966-05-20", Hybrid, Annular),
        ("1927-01-03", Hybrid, Annular),
        ("1948-05-09", Hybrid, Annular),
        ("2031-11-14", Hybrid, Hybrid),
        ("2024-04-08", Total, Total),
        ("2023-10-14", Annular, Annular),
        // Without a centre line.
        ("1950-03-18", Annular, Annular),
        ("1957-04-30", Annular, Annular),
        ("1957-10-23", Total, Total),
        ("1967-11-02", Total, Total),
        ("2014-04-29", Annular, Annular),
        ("2043-04-09", Total, Total),
        ("2043-10-03", Annular, Annular),
        ("2025-03-29", Partial, Partial),
    ] {
        let found = [Radii::IAU, Radii::NASA].map(|radii| eclipse(date, radii));
        assert_eq!(found.each_ref().map(|one| one.kind), [iau, nasa], "{date}");
        for one in found {
            let central = one.greatest.central_duration_s;
            assert_eq!(central.is_some(), one.kind != Partial, "{date}: {central:?}");
            assert_ne!(one.greatest.view.kind == LocalKind::Partial, one.kind != Partial, "{date}");
        }
    }
}

/// Date, place, radii, and the ratios of the diameters at C2 and C3.
const CONTACTS: [(&str, [f64; 2], Radii, [f64; 2]); 10] = [
    ("2027-08-02", [25.6872, 32.6396], Radii::NASA, [1.079078, 1.079054]),
    ("2027-08-02", [25.6872, 32.6396], Radii::IAU, [1.079996, 1.079971]),
    ("2028-07-22", [-33.8688, 151.2093], Radii::NASA, [1.050740, 1.050648]),
    ("2024-04-08", [32.7767, -96.797], Radii::NASA, [1.055846, 1.055819]),
    ("2024-04-08", [32.7767, -96.797], Radii::IAU, [1.056744, 1.056717]),
    ("2024-04-08", [23.2494, -106.4111], Radii::NASA, [1.056492, 1.056556]),
    ("2026-08-12", [64.1466, -21.9426], Radii::NASA, [1.038285, 1.038249]),
    ("2026-08-12", [64.1466, -21.9426], Radii::IAU, [1.039170, 1.039130]),
    ("2023-10-14", [29.4241, -98.4936], Radii::NASA, [0.948698, 0.948806]),
    ("2023-10-14", [29.4241, -98.4936], Radii::IAU, [0.949506, 0.949612]),
];

/// C2 and C3 belong to the total or annular phase: the ratio of the diameters, from Skyfield's distances. C1 and C4 begin and end at 0.
#[test]
fn contacts_have_the_magnitude_of_their_phase() {
    for (date, [latitude, longitude], radii, ratios) in CONTACTS {
        let eclipse = eclipse(date, radii);
        let seen = eclipse.circumstances(&Place::new(latitude, longitude, 0.0).unwrap());
        let case = format!("{date} {latitude} {radii:?}");
        for (contact, ratio) in [seen.c2, seen.c3].into_iter().zip(ratios) {
            let contact = contact.unwrap();
            assert!((contact.magnitude - ratio).abs() < 2e-5, "{case}: {contact:?}");
            let covered = if seen.kind == LocalKind::Total { 1.0 } else { ratio * ratio };
            assert!((contact.obscuration - covered).abs() < 2e-5 && contact.kind == seen.kind, "{case}: {contact:?}");
        }
        for contact in [seen.c1, seen.c4] {
            let contact = contact.unwrap();
            let amounts = [contact.magnitude, contact.obscuration];
            assert!(amounts.iter().all(|amount| (0.0..1e-6).contains(amount)), "{case}: {contact:?}");
            assert_eq!(contact.kind, LocalKind::Partial, "{case}");
        }
        // NASA's larger Moon of the partial phases never covers more than the Sun.
        let before = eclipse.view(&seen.place, seen.c2.unwrap().time.plus(-0.2));
        assert!(before.kind == LocalKind::Partial && before.magnitude <= 1.0, "{case}: {before:?}");
    }
}
