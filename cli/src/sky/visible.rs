//! What an observer at the camera of an eclipse's picture sees of the Sun or of the Moon, and the corona of a total eclipse.

use crate::error::Result;
use serde_json::{Value, json};
use umbracast::Device;
use umbracast::shadow::{Lighting, Picture, ShadowKind, System};
use umbracast_sky::{Eclipse, LocalKind, LunarEclipse, Place, SolarEclipse, Time, View};

use super::place_text;

/// Linear light that shows a millionth of the brightness of the Sun's disc: the corona is bright at the limb and visible to two radii.
const CORONA_BRIGHTNESS: f64 = 0.5;
/// Visible fraction of the Sun's disc below which the corona appears, fainter the more of the disc is visible. The Moon takes seconds to
/// cover the rest.
const CORONA_BEGINS: f64 = 1e-4;

/// Whether a schematic corona is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Corona {
    /// If the whole Sun is hidden
    Auto,
    /// Never
    Off,
}

impl Corona {
    /// Adds a corona to a picture whose camera sees the Sun totally eclipsed, or within seconds of it. Returns whether it did.
    pub(super) fn draw(
        self,
        device: &Device,
        system: &System,
        view: Option<View<'_>>,
        picture: &mut Picture,
    ) -> Result<bool> {
        if self == Self::Off || !is_toward_light(view) {
            return Ok(false);
        }
        // An invisible Earth below the camera hides nothing in the picture.
        let bodies = system.bodies().iter().filter(|body| body.visible).cloned().collect();
        let shown = System::new(system.light().clone(), bodies, *system.camera(), system.picture().clone())?;
        let seen = device.shadows(&Lighting::from(&shown), &[system.camera().position])?;
        let part = 1.0 - seen[0].fraction / CORONA_BEGINS;
        let is_seen = part > 0.0 && seen[0].kind != ShadowKind::Antumbra && aims_at_light(system);
        if is_seen {
            picture.add_corona(system, CORONA_BRIGHTNESS * part);
        }
        Ok(is_seen)
    }
}

/// Whether a view can have the Sun as its target. The others show the Earth.
fn is_toward_light(view: Option<View<'_>>) -> bool {
    matches!(view, None | Some(View::Earth | View::Place(_)))
}

/// Whether the light is the target of the camera.
fn aims_at_light(system: &System) -> bool {
    let (camera, light) = (system.camera(), system.light().ball);
    let [forward, toward] = [camera.target, light.center].map(|point| (point - camera.position).normalize_or_zero());
    forward.dot(toward) > 0.9999
}

/// The corona in a sidecar.
pub(super) fn corona_json(drawn: bool) -> Value {
    if !drawn {
        return json!(false);
    }
    json!({
        "is": "schematic, an aid for the eye: round and without streamers, not a prediction of this eclipse",
        "formula": "2.565 r^-17 + 1.425 r^-7 + 0.0532 r^-2.5 millionths of the Sun's brightness at r solar radii (Baumbach 1937)",
        "linear_light_per_millionth": CORONA_BRIGHTNESS,
    })
}

/// What is visible from the camera: the eclipse of the Sun at its place, or the phase of a lunar eclipse.
pub(super) fn visible_text(eclipse: &Eclipse, system: &System, view: Option<View<'_>>, time: Time) -> Option<String> {
    match eclipse {
        Eclipse::Lunar(eclipse) => lunar_phase(eclipse, time),
        Eclipse::Solar(eclipse) if is_toward_light(view) && aims_at_light(system) => {
            Some(solar_view(eclipse, &Place::from_earth_fixed_km(system.camera().position), time))
        }
        Eclipse::Solar(_) => None,
    }
}

fn solar_view(eclipse: &SolarEclipse, place: &Place, time: Time) -> String {
    let seen = eclipse.view(place, time);
    let altitude = seen.sun_altitude;
    let side = if altitude < 0.0 { "below the horizontal" } else { "high" };
    let from = format!("from {}, with the Sun {:.1} degrees {side}", place_text(place), altitude.abs());
    // The last thread of light is not rounded away.
    let percent = (100.0 * seen.obscuration).min(99.999);
    let percent = if percent < 99.9 { format!("{percent:.1}") } else { format!("{percent:.3}") };
    match seen.kind {
        LocalKind::None => format!("{from}: the whole Sun is visible"),
        LocalKind::Partial => format!("{from}: a partial eclipse, {percent} % of the disc is hidden"),
        LocalKind::Annular => format!("{from}: an annular eclipse, {percent} % of the disc is hidden"),
        LocalKind::Total => format!("{from}: a total eclipse, the whole disc is hidden"),
    }
}

/// The phase of a lunar eclipse; `None` outside the eclipse.
fn lunar_phase(eclipse: &LunarEclipse, time: Time) -> Option<String> {
    let within = |begins: Option<Time>, ends: Option<Time>| {
        begins.zip(ends).is_some_and(|(begins, ends)| time >= begins && time <= ends)
    };
    let phase = if within(eclipse.total_begins, eclipse.total_ends) {
        "the whole Moon is in the umbra"
    } else if within(eclipse.partial_begins, eclipse.partial_ends) {
        "a part of the Moon is in the umbra"
    } else if within(Some(eclipse.begins), Some(eclipse.ends)) {
        "the Moon is in the penumbra only"
    } else {
        return None;
    };
    Some(phase.into())
}
