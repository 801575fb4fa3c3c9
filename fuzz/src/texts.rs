//! Files of ephemerides have finite positions, or are refused. Error messages are short and printable for any path, any cell and any system file, and what is accepted as a system can be drawn.

use std::path::{Path, PathBuf};

use arbitrary::{Result, Unstructured};
use umbracast::NO_SPHERE;
use umbracast::shadow::{PictureOptions, System};
use umbracast_files::{Error, check_output, parse_lighting, parse_system};
use umbracast_sky::{Ephemeris, SkyBody};

use crate::cpu;

/// Checks the text of an error: less than 2 KiB, no control characters, no characters that change the writing direction.
pub(crate) fn check_message(error: &Error) {
    let shown = error.to_string();
    assert!(shown.len() < 2048, "a message of {} bytes: {}", shown.len(), shown.escape_debug());
    let acts = |c: char| {
        c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    assert!(!shown.contains(acts), "a terminal acts on {}", shown.escape_debug());
}

#[cfg(unix)]
fn path_of(data: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    std::ffi::OsStr::from_bytes(data).into()
}

#[cfg(not(unix))]
fn path_of(data: &[u8]) -> PathBuf {
    String::from_utf8_lossy(data).into_owned().into()
}

/// The input is used as a path, as a cell and as a text.
pub(crate) fn messages(u: &mut Unstructured<'_>) -> Result<()> {
    let data = u.bytes(u.len())?;
    let (path, text) = (path_of(data), String::from_utf8_lossy(data).into_owned());
    // A long text of the same characters.
    let long = text.repeat(4096 / text.len().max(1));
    for text in [text, long] {
        for error in [
            Error::BadFile { path: path.clone(), message: text.clone() },
            Error::Io { action: "read", path: path.clone(), message: text.clone(), source: None },
        ] {
            check_message(&error);
        }
        if let Err(error) = parse_system(&text, &path) {
            check_message(&error);
        }
    }
    if let Err(error) = check_output(&path, &[], None) {
        check_message(&error);
    }
    Ok(())
}

/// Maximum number of spheres that are drawn.
const MOST: usize = 80;

/// The input is the text of a system file.
pub(crate) fn systems(u: &mut Unstructured<'_>) -> Result<()> {
    let text = String::from_utf8_lossy(u.bytes(u.len())?);
    // The folder does not exist, so no cloud file does.
    let path = Path::new("none/system.toml");
    if let Err(error) = parse_lighting(&text, path) {
        check_message(&error);
    }
    match parse_system(&text, path) {
        Err(error) => check_message(&error),
        Ok(system) if system.ball_count() <= MOST => draw(system),
        Ok(_) => {}
    }
    Ok(())
}

fn draw(system: System) {
    let options = PictureOptions { size: [12, 8], samples: 1, ..system.picture().clone() };
    // A camera that follows the size may be inside the light.
    let Ok(system) = system.with_picture(options) else { return };
    let picture = cpu().render(&system, None).expect("it is small");
    for (i, &id) in picture.id.iter().enumerate() {
        let (rgb, t, fraction) = (picture.rgb[i], picture.t[i], picture.fraction[i]);
        assert!(rgb.iter().all(|x| (0.0..=1.0).contains(x)), "pixel {i} has the colour {rgb:?}: {system:?}");
        assert!((0.0..=1.0).contains(&fraction), "pixel {i} has the fraction {fraction}: {system:?}");
        let exists = id <= system.ball_count() as u32 || id == NO_SPHERE;
        assert!(t >= 0.0 && exists, "pixel {i} shows {id} at {t}: {system:?}");
    }
}

/// The input is an ephemeris: an SPK file or one of our own.
pub(crate) fn ephemeris(u: &mut Unstructured<'_>) -> Result<()> {
    let found = match Ephemeris::from_bytes(u.bytes(u.len())?.to_vec()) {
        Ok(found) => found,
        Err(error) => {
            check_message(&Error::BadFile { path: "ephemeris.bsp".into(), message: error.to_string() });
            return Ok(());
        }
    };
    for body in SkyBody::ALL {
        for seconds in [-3.2e9, -1000.0, -1.0, 0.0, 999.0, 1000.0, 7.658e8, 1.6e9, f64::NAN, f64::INFINITY] {
            match found.barycentric(body, seconds) {
                Ok(state) => assert!(state.position.is_finite() && state.velocity.is_finite(), "{body:?}: {state:?}"),
                Err(error) => {
                    check_message(&Error::BadFile { path: "ephemeris.bsp".into(), message: error.to_string() });
                }
            }
        }
    }
    Ok(())
}
