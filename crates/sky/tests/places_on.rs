//! Places on other bodies.

use umbracast::glam::DVec3;
use umbracast_sky::{LightTime, Place, Sky, SkyBody, SkyOptions, Time};

use super::number;

/// The vector from the centre of a body to a place on it, geometric, in axes that rotate with the Earth.
fn beside(sky: &Sky, body: SkyBody, place: &Place, time: Time) -> DVec3 {
    seen_beside(sky, body, place, time, &LightTime::Off)
}

/// The same by some light.
fn seen_beside(sky: &Sky, body: SkyBody, place: &Place, time: Time, light: &LightTime) -> DVec3 {
    let at = |body, place: &Place| sky.place_in_system(body, place, time, &[body], &[], light).unwrap();
    let (equator, polar) = body.radii_km();
    // The mean of two opposite places on the equator is the centre.
    let opposite = Place::new(-place.latitude, (place.longitude + 360.0) % 360.0 - 180.0, place.height_m).unwrap();
    let (here, there) = (at(body, place), at(body, &opposite));
    assert!((polar - 1.0..equator + 1.0).contains(&(0.5 * here.distance(there))), "{body:?}");
    0.5 * (here - there)
}

/// Where the axis of Ganymede's shadow meets Jupiter: tests/data/README.md says how the places were found.
#[test]
fn shadows_on_jupiter_are_at_their_longitudes() {
    let sky = Sky::new(SkyOptions::default());
    let columns = "jd_tdb,mx,my,mz,sx,sy,sz,shadow_lat_planetographic,shadow_lon_sysIII_east";
    let mut worst = 0.0_f64;
    let mut count = 0;
    for row in super::rows::<9>("jupiter_shadows.csv", columns).iter().filter(|row| !row[7].is_empty()) {
        let [jd, mx, my, mz, sx, sy, sz, latitude, longitude] = row.each_ref().map(|cell| number(cell));
        let time = Time::from_tdb_seconds((jd - 2_451_545.0) * 86_400.0);
        let [moon, sun] = [[mx, my, mz], [sx, sy, sz]].map(|v| sky.to_earth_fixed(DVec3::from_array(v), time));
        let place = Place::new(latitude, longitude.rem_euclid(360.0), 0.0).unwrap();
        let point = beside(&sky, SkyBody::Jupiter, &place, time);
        let axis = (moon - sun).normalize();
        let apart = (point - moon) - axis * (point - moon).dot(axis);
        worst = worst.max(apart.length());
        assert!(apart.length() < 30.0, "{jd}: {} km", apart.length());
        count += 1;
    }
    println!("{worst:.3} km");
    assert!(count >= 20, "{count}");
}

/// Light shows a body as it was when the light left it: Mars turns by some degrees meanwhile.
#[test]
fn places_are_where_light_left_them() {
    let sky = Sky::new(SkyOptions::default());
    let time = super::instant("2026-08-01T00:00:00Z");
    let place = Place::new(20.0, 30.0, 0.0).unwrap();
    // Back from axes that rotate with the Earth.
    let gcrs = |v: DVec3, time: Time| DVec3::from_array(DVec3::AXES.map(|axis| sky.to_earth_fixed(axis, time).dot(v)));
    let light_time = sky.apparent(SkyBody::Mars, time).unwrap().length() / 299_792.458;
    let then = time.plus(-light_time);
    let expected = gcrs(beside(&sky, SkyBody::Mars, &place, then), then);
    for light in [LightTime::Earth, LightTime::By("mars".into())] {
        let found = gcrs(seen_beside(&sky, SkyBody::Mars, &place, time, &light), time);
        // Aberration turns it by up to 21 arcseconds.
        assert!(found.angle_between(expected) < 1.1e-4, "{light:?}: {}", found.angle_between(expected));
    }
    let now = gcrs(beside(&sky, SkyBody::Mars, &place, time), time);
    assert!(now.angle_between(expected) > 0.02, "{}", now.angle_between(expected));
}

/// The near side of the Moon, and the mean solar time of Mars (Allison and McEwen 2000), whose equation of time reaches 13°.
#[test]
fn meridians_face_earth_and_sun_when_they_should() {
    let sky = Sky::new(SkyOptions::default());
    let apparent = |body, time| sky.earth_fixed(body, time).unwrap();
    let mut turns = Vec::new();
    for k in 0..200 {
        let time = Time::from_tt_julian_date(2_415_100.0 + 271.37 * f64::from(k));
        let near = beside(&sky, SkyBody::Moon, &Place::new(0.0, 0.0, 0.0).unwrap(), time);
        let angle = near.angle_between(-apparent(SkyBody::Moon, time)).to_degrees();
        assert!(angle < 10.5, "{k}: {angle}");
        let sols = (time.tt_julian_date() - 2_405_522.002_877_9) / 1.027_491_251_7;
        let noon = Place::new(0.0, 180.0 - 360.0 * sols.rem_euclid(1.0), 0.0).unwrap();
        // Towards the Sun: both are nearly geometric, and directions in the same axes.
        let toward = apparent(SkyBody::Sun, time) - apparent(SkyBody::Mars, time);
        let at = |longitude: f64| beside(&sky, SkyBody::Mars, &Place { longitude, ..noon }, time);
        let (front, side) =
            (toward.dot(at(noon.longitude)), toward.dot(at((noon.longitude + 90.0 + 180.0).rem_euclid(360.0) - 180.0)));
        let turn = side.atan2(front).to_degrees();
        assert!(turn.abs() < 14.0, "{k}: {turn}");
        turns.push(turn);
        let pole = beside(&sky, SkyBody::Mars, &Place::new(90.0, 0.0, 0.0).unwrap(), time).length();
        assert!((pole - SkyBody::Mars.radii_km().1).abs() < 1e-6, "{pole}");
    }
    let mean = turns.iter().sum::<f64>() / turns.len() as f64;
    assert!(mean.abs() < 1.0, "{mean}");
}
