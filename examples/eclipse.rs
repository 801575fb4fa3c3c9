//! A solar eclipse as seen from a city: its contacts, and the altitude of the Sun at each.
//!
//! `cargo run --release -p umbracast --example eclipse -- Burgos 2026-08-12`

use umbracast_sky::{Eclipse, Error, Result, Sky, SkyOptions, city};

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (name, place) = city(&arguments.next().unwrap_or("Burgos".into()))?;
    let date = arguments.next().unwrap_or("2026-08-12".into());

    let sky = Sky::new(SkyOptions::default());
    let (day, _) = sky.parse_time(&date)?;
    let Some(Eclipse::Solar(eclipse)) = sky.eclipse_on(day)? else {
        return Err(Error::InvalidArgument(format!("there is no solar eclipse on {date}")));
    };

    let local = eclipse.circumstances(&place);
    println!("{name}: {:?}, {:.1} % of the Sun's disc covered", local.kind, 100.0 * local.maximum.obscuration);
    for (what, seen) in [
        ("the partial eclipse begins", local.c1),
        ("the central eclipse begins", local.c2),
        ("maximum", Some(local.maximum)),
        ("the central eclipse ends", local.c3),
        ("the partial eclipse ends", local.c4),
    ] {
        if let Some(seen) = seen {
            let time = seen.time.text(0, sky.options().delta_t);
            println!("{time}  {what}, the Sun at {:.1} degrees", seen.sun_altitude);
        }
    }
    if let Some(seconds) = local.central_duration_s() {
        println!("the central eclipse lasts {seconds:.0} s");
    }
    Ok(())
}
