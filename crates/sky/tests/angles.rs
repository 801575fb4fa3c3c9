//! Position angles of contacts against Skyfield: `tests/data/sky/position_angles.csv`.

use umbracast_sky::{Place, Radii, Time};

use super::{number, rows, sky, solar};

#[test]
fn position_angles_agree() {
    let columns = "date,lat,lon,contact,jd_tt,position_angle_deg,zenith_angle_deg";
    let list = rows("sky/position_angles.csv", columns);
    let mut most = [0.0_f64; 2];
    for [date, latitude, longitude, name, jd, position, zenith] in &list {
        let eclipse = solar(&sky(69.2, Radii::IAU), date);
        let found = eclipse.circumstances(&Place::new(number(latitude), number(longitude), 0.0).unwrap());
        let contact = match &**name {
            "c1" => found.c1,
            "c2" => found.c2,
            "c3" => found.c3,
            _ => found.c4,
        };
        let contact = contact.unwrap_or_else(|| panic!("{date} {latitude} has no {name}"));
        let seconds = contact.time.seconds_since(Time::from_tt_julian_date(number(jd)));
        assert!(seconds.abs() < 0.1, "{date} {latitude} {name}: {seconds} s");
        for (i, (found, expected)) in
            [(contact.position_angle, position), (contact.zenith_angle, zenith)].into_iter().enumerate()
        {
            let apart = (found - number(expected) + 180.0).rem_euclid(360.0) - 180.0;
            most[i] = most[i].max(apart.abs());
            assert!(apart.abs() < 0.05, "{date} {latitude} {name}: {found} and {expected}");
        }
    }
    println!("{} contacts, largest differences {most:.4?} degrees", list.len());
    assert!(list.len() > 30 && list.iter().filter(|row| row[3] == "c2").count() > 5);
}
