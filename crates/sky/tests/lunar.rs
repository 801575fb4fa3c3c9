//! Lunar eclipses against Skyfield, for each model of the Earth's shadow.

use umbracast_sky::{DeltaT, Eclipse, LunarKind, LunarRule, Sky, SkyOptions};

use super::{instant, number, rows, seconds_after};

#[test]
fn lunar_eclipses_agree() {
    let columns = "date,engine,kind,utc_greatest,gamma,umbral_mag,penumbral_mag,P1,U1,U2,U3,U4,P4";
    let (mut contacts, mut magnitudes) = (0.0_f64, 0.0_f64);
    let list = rows("sky/lunar.csv", columns);
    assert_eq!(list.len(), 30);
    for [date, engine, kind, utc, gamma, umbral, penumbral, p1, u1, u2, u3, u4, p4] in list {
        let lunar_rule = match engine.strip_prefix("skyfield-de421/").unwrap() {
            "geometric-sphere-6371.0" => LunarRule::None,
            "geometric-sphere-6378.137" => LunarRule::Equator,
            "sphere-6371+88" => LunarRule::Plus88,
            "danjon-1.01" => LunarRule::Danjon,
            "chauvenet-1/50" => LunarRule::Chauvenet,
            other => panic!("{other}"),
        };
        let sky = Sky::new(SkyOptions { lunar_rule, delta_t: DeltaT::Table, ..SkyOptions::default() });
        let Some(Eclipse::Lunar(eclipse)) = sky.eclipse_on(instant(&date)).unwrap() else { panic!("{date}") };
        let case = format!("{date} {engine}");
        let letter = match eclipse.kind {
            LunarKind::Penumbral => "N",
            LunarKind::Partial => "P",
            LunarKind::Total => "T",
        };
        assert_eq!(letter, kind, "{case}");
        let seconds = eclipse.greatest.seconds_since(instant(&utc));
        assert!(seconds.abs() < 3.0, "{case}: greatest {seconds} s");
        assert!((eclipse.gamma - number(&gamma)).abs() < 2e-4, "{case}: gamma {}", eclipse.gamma);
        let error = (eclipse.umbral_magnitude - number(&umbral)).abs();
        let other = (eclipse.penumbral_magnitude - number(&penumbral)).abs();
        magnitudes = magnitudes.max(error).max(other);
        assert!(error < 0.001 && other < 0.001, "{case}: {} {}", eclipse.umbral_magnitude, eclipse.penumbral_magnitude);
        let found = [
            Some(eclipse.begins),
            eclipse.partial_begins,
            eclipse.total_begins,
            eclipse.total_ends,
            eclipse.partial_ends,
            Some(eclipse.ends),
        ];
        for (name, (expected, found)) in
            ["P1", "U1", "U2", "U3", "U4", "P4"].into_iter().zip([p1, u1, u2, u3, u4, p4].into_iter().zip(found))
        {
            match found {
                Some(found) => {
                    let seconds = seconds_after(&expected, found);
                    contacts = contacts.max(seconds.abs());
                    assert!(seconds.abs() < 5.0, "{case} {name}: {seconds} s");
                }
                None => assert_eq!(expected, "", "{case} {name}"),
            }
        }
    }
    println!("contacts {contacts:.2} s, magnitudes {magnitudes:.5}");
}
