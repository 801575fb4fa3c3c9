//! Warnings about pictures that are probably a mistake: nothing is in view, or everything is black.

use umbracast::NO_SPHERE;
use umbracast::glam::DVec3;
use umbracast::shadow::{Ball, Camera, Lens, Picture, System};
use umbracast_files::PngDepth;

/// A warning about a picture in which no pixel shows a body or the light, in which every pixel is black, or which begins inside a body.
pub(crate) fn picture_warning(system: &System, picture: &Picture, bits: PngDepth) -> Option<String> {
    if let Some((name, back)) = cut_body(system) {
        let name = umbracast_files::escape::quoted(name);
        return Some(format!(
            "warning: the plane of the camera cuts '{name}', and the picture does not show it there: move `position` in the table \
             [camera] back by more than {back}"
        ));
    }
    if picture.id.iter().all(|id| *id == NO_SPHERE) {
        return Some(format!("warning: nothing is in view: {}", out_of_view(system)));
    }
    let levels = match bits {
        PngDepth::Eight => 255.0,
        PngDepth::Sixteen => 65535.0,
    };
    // sRGB is linear near black, with slope 12.92. Half a level rounds up to one level.
    let least = 0.5 / levels / 12.92;
    if picture.rgb.iter().flatten().any(|part| *part >= least) {
        return None;
    }
    let why = if system.picture().ambient == 0.0 {
        "nothing that the camera sees is lit; to light everything, set `ambient` in the table [picture]"
    } else {
        "nothing that the camera sees reflects enough light"
    };
    Some(format!("warning: the picture is entirely dark: {why}"))
}

/// The name of the visible body that reaches farthest behind the picture of an orthographic camera, if it intersects that, and how far.
fn cut_body(system: &System) -> Option<(&str, f64)> {
    let camera = system.camera();
    let Lens::Orthographic { width } = camera.lens else { return None };
    let [columns, rows] = system.picture().size.map(f64::from);
    let forward = (camera.target - camera.position).normalize();
    let right = forward.cross(camera.up).normalize();
    let sides = [(right, 0.5 * width), (right.cross(forward), 0.5 * width * rows / columns)];
    let behind = |ball: &Ball| {
        let from = ball.center - camera.position;
        let [x, y] = sides.map(|(side, half)| (from.dot(side).abs() - half).max(0.0));
        // NaN if the ball is beside the picture.
        let (reach, along) = ((ball.radius * ball.radius - x * x - y * y).sqrt(), from.dot(forward));
        if reach > along.abs() { reach - along } else { 0.0 }
    };
    let visible = system.bodies().iter().filter(|body| body.visible);
    let cut = visible.map(|body| (body.name.as_str(), body.balls.iter().map(behind).fold(0.0, f64::max)));
    cut.filter(|(_, back)| *back > 0.0).max_by(|a, b| a.1.total_cmp(&b.1))
}

/// What is nearest to the line of sight, and which option would show it.
fn out_of_view(system: &System) -> String {
    let camera = system.camera();
    if !system.bodies().iter().any(|body| body.visible) {
        return "the system has no visible body".into();
    }
    let visible = system.bodies().iter().filter(|body| body.visible);
    let balls = visible.flat_map(|body| body.balls.iter().map(|ball| (body.name.as_str(), *ball)));
    let things = balls.chain([(system.light().name.as_str(), system.light().ball)]);
    let Some((name, ball, aside)) =
        things.map(|(name, ball)| (name, ball, aside(camera, ball))).min_by(|a, b| a.2.total_cmp(&b.2))
    else {
        return "the system is empty".into();
    };
    let name = umbracast_files::escape::quoted(name);
    let DVec3 { x, y, z } = ball.center;
    let [width, height] = system.picture().size.map(f64::from);
    let (across, size, key) = match camera.lens {
        Lens::Perspective { field_of_view_deg } => {
            let distance = (ball.center - camera.position).length();
            let across = 2.0 * (ball.radius / distance).min(1.0).asin().to_degrees();
            (across * height / field_of_view_deg, field_of_view_deg * width.max(height) / height, "field_of_view_deg")
        }
        Lens::Orthographic { width: all } => {
            (2.0 * ball.radius * width / all, all * (height / width).max(1.0), "width")
        }
    };
    if aside < 0.5 * size && across < 2.0 {
        return format!(
            "'{name}' is near the line of sight, but only {across:.1e} pixels wide: use a smaller `{key}` in the table [camera]"
        );
    }
    let off = match camera.lens {
        Lens::Perspective { .. } => format!("{aside:.1} degrees from the line of sight"),
        Lens::Orthographic { .. } if aside == f64::INFINITY => "behind the camera".into(),
        Lens::Orthographic { .. } => format!("{aside:.3e} from the line of sight"),
    };
    format!(
        "'{name}' is nearest to it, {off}: to show it, set `target` in the table [camera] to [{x}, {y}, {z}], or use a larger `{key}`"
    )
}

/// The angles in radians between the line of sight and the nearest and the farthest edge of a ball. The first is negative if the ball is on it.
pub(crate) fn edge_angles(camera: &Camera, ball: Ball) -> [f64; 2] {
    let toward = ball.center - camera.position;
    let (aside, half) =
        (toward.angle_between(camera.target - camera.position), (ball.radius / toward.length()).min(1.0).asin());
    [aside - half, aside + half]
}

/// The least angle in degrees between the line of sight and a ball, or the least distance in a parallel projection.
fn aside(camera: &Camera, ball: Ball) -> f64 {
    let forward = (camera.target - camera.position).normalize_or_zero();
    let toward = ball.center - camera.position;
    match camera.lens {
        Lens::Perspective { .. } => edge_angles(camera, ball)[0].max(0.0).to_degrees(),
        Lens::Orthographic { .. } if toward.dot(forward) + ball.radius < 0.0 => f64::INFINITY,
        Lens::Orthographic { .. } => (toward.cross(forward).length() - ball.radius).max(0.0),
    }
}
