//! The sidecar of a picture: a JSON file with everything that the picture depends on, so that it can be reproduced and judged.

use std::path::{Path, PathBuf};

use crate::error::Result;
use serde_json::{Value, json};
use umbracast::Device;
use umbracast::glam::DVec3;
use umbracast::shadow::{
    Body, Camera, CpuFallback, Lens, LightSource, LimbDarkening, PictureOptions, SurfaceMap, System,
};
use umbracast_files::{PreparedFile, prepare_atomic, read_system_text};

/// Assumptions behind every picture.
const ASSUMPTIONS: [&str; 6] = [
    "positions are those of the system file; light takes no time, and its path is straight (no refraction, no atmosphere)",
    "the light does not weaken with distance",
    "bodies are spheres or spheroids with smooth surfaces, without mountains",
    "bodies reflect as Lambert surfaces and do not light each other",
    "the visible part of the light is exact for the union of all bodies in front of it",
    "stars are made up; the Earth's coastlines are those of Natural Earth (1:50 million, simplified to 0.01 degrees)",
];

/// Content of a sidecar.
pub(crate) struct Sidecar<'a> {
    /// The command that rendered the picture.
    pub(crate) command: &'static str,
    pub(crate) system: &'a System,
    /// The system file, and the files that it names. Empty for the default picture.
    pub(crate) inputs: &'a [PathBuf],
    pub(crate) device: &'a Device,
    /// The reason, if the CPU engine rendered the picture although the device is a GPU.
    pub(crate) cpu_fallback: Option<CpuFallback>,
    /// Names of the outputs and their paths.
    pub(crate) outputs: Vec<(&'static str, &'a Path)>,
    pub(crate) bits: u32,
    /// Instant and conventions, if the positions were computed by this command.
    pub(crate) sky: Option<Value>,
}

impl Sidecar<'_> {
    /// Writes the file, but does not name it yet.
    pub(crate) fn prepare(&self, path: &Path) -> Result<PreparedFile> {
        let text = serde_json::to_string_pretty(&self.value()).unwrap_or_default();
        Ok(prepare_atomic(path, |out| std::io::Write::write_all(out, format!("{text}\n").as_bytes()))?)
    }

    fn value(&self) -> Value {
        let outputs: serde_json::Map<String, Value> =
            self.outputs.iter().map(|(name, path)| ((*name).to_owned(), json!(path))).collect();
        let cpu = self.device.is_cpu() || self.cpu_fallback.is_some();
        json!({
            "umbracast": env!("CARGO_PKG_VERSION"),
            "command": self.command,
            "inputs": self.inputs,
            "comments": self.inputs.first().map(|path| comments(path)).unwrap_or_default(),
            "sky": self.sky,
            "unit": self.system.unit(),
            "engine": {
                "device": self.device.name(),
                "computed_on": if cpu { "cpu" } else { "gpu" },
                "cpu_fallback": self.cpu_fallback.map(|reason| reason.to_string()),
                "precision": if cpu { "f64" } else { "f32, from differences of coordinates computed in f64" },
            },
            "light": light(self.system.light()),
            "bodies": self.system.bodies().iter().map(body).collect::<Vec<_>>(),
            "camera": camera(self.system.camera()),
            "picture": picture(self.system.picture(), self.bits),
            "assumptions": ASSUMPTIONS,
            "outputs": outputs,
        })
    }
}

/// The comments at the top of a system file: they often say from which ephemeris and which instant its positions are.
fn comments(path: &Path) -> Vec<String> {
    let text = read_system_text(path).unwrap_or_default();
    let line = |line: &str| Some(line.strip_prefix('#')?.trim().to_owned());
    text.trim_start().lines().map_while(line).collect()
}

fn point(v: DVec3) -> Value {
    json!(v.to_array())
}

fn light(light: &LightSource) -> Value {
    json!({
        "name": light.name,
        "center": point(light.ball.center),
        "radius": light.ball.radius,
        "color_linear": light.color.0,
        // A system file has no other law.
        "limb_darkening": light.limb_darkening.and_then(LimbDarkening::quadratic).map(|[u1, u2]| json!({
            "law": "1 - u1 (1 - mu) - u2 (1 - mu)^2",
            "u1": u1,
            "u2": u2,
        })),
    })
}

fn body(body: &Body) -> Value {
    let one = (body.balls.len() == 1).then(|| body.balls[0]);
    let map = match &body.map {
        None => Value::Null,
        Some(SurfaceMap::Computed(name, _)) => json!(name),
        Some(SurfaceMap::Texture(texture)) => json!({ "texture_size": texture.size() }),
        Some(_) => json!("other"),
    };
    json!({
        "name": body.name,
        "spheres": body.balls.len(),
        "center": one.map(|ball| point(ball.center)),
        "radius": one.map(|ball| ball.radius),
        "polar_radius": body.polar_radius,
        "pole": point(body.pole),
        "meridian": body.meridian.map(point),
        "colors_linear": body.colors.iter().map(|color| color.0).collect::<Vec<_>>(),
        "sphere_colors": body.sphere_colors.len(),
        "swirl": body.swirl,
        "map": map,
        "graticule_deg": body.graticule,
        "casts": body.casts,
        "receives": body.receives,
        "visible": body.visible,
    })
}

fn camera(camera: &Camera) -> Value {
    let lens = match camera.lens {
        Lens::Perspective { field_of_view_deg } => json!({ "field_of_view_deg": field_of_view_deg }),
        Lens::Orthographic { width } => json!({ "width": width }),
    };
    json!({
        "position": point(camera.position),
        "target": point(camera.target),
        "up": point(camera.up),
        "lens": lens,
    })
}

fn picture(options: &PictureOptions, bits: u32) -> Value {
    json!({
        "size": options.size,
        "samples_per_axis": options.samples,
        "bits": bits,
        "encoding": "sRGB",
        "exposure": options.exposure,
        "ambient": options.ambient,
        "ambient_samples": options.ambient_samples,
        "background_linear": options.background.0,
        "transparent": options.transparent,
        "stars": options.stars,
    })
}
