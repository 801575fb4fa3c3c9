//! Tables and keys of a system file.

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SystemFile {
    pub(super) unit: Option<String>,
    pub(super) light: Option<LightTable>,
    #[serde(default)]
    pub(super) body: Vec<BodyTable>,
    pub(super) ground: Option<Ground>,
    pub(super) camera: Option<CameraTable>,
    #[serde(default)]
    pub(super) picture: PictureTable,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct LightTable {
    pub(super) name: Option<String>,
    pub(super) center: Option<[f64; 3]>,
    pub(super) radius: Option<f64>,
    pub(super) direction: Option<[f64; 3]>,
    pub(super) diameter_deg: Option<f64>,
    pub(super) color: Option<String>,
    pub(super) limb_darkening: Option<Vec<f64>>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected true, false, or a table with color")]
pub(super) enum Ground {
    Shown(bool),
    Table(GroundTable),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct GroundTable {
    pub(super) color: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct BodyTable {
    pub(super) name: Option<String>,
    pub(super) center: Option<[f64; 3]>,
    pub(super) radius: Option<f64>,
    pub(super) spheres: Option<SpheresValue>,
    pub(super) models: Option<ModelsWord>,
    pub(super) unknown_atoms: Option<UnknownAtomsValue>,
    pub(super) color: Option<Colors>,
    pub(super) pole: Option<[f64; 3]>,
    pub(super) meridian: Option<[f64; 3]>,
    pub(super) texture: Option<String>,
    pub(super) surface: Option<SurfaceKind>,
    pub(super) graticule: Option<f64>,
    pub(super) visible: Option<bool>,
    pub(super) polar_radius: Option<f64>,
    pub(super) swirl: Option<f64>,
    pub(super) casts: Option<bool>,
    pub(super) receives: Option<bool>,
}

/// The spheres of a body.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected the name of a file, or a list of spheres [x, y, z, radius]")]
pub(super) enum SpheresValue {
    File(String),
    List(Vec<[f64; 4]>),
}

/// Which models of a file of atoms are read.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ModelsWord {
    First,
    All,
}

/// What happens to atoms whose element is unknown.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected \"skip\", \"error\", or a radius")]
pub(super) enum UnknownAtomsValue {
    Word(UnknownAtomsWord),
    Radius(f64),
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum UnknownAtomsWord {
    Skip,
    Error,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected one \"#rrggbb\", or a list of them from south to north")]
pub(super) enum Colors {
    One(String),
    Bands(Vec<String>),
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum SurfaceKind {
    Earth,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct CameraTable {
    pub(super) kind: Option<CameraKind>,
    pub(super) position: [f64; 3],
    pub(super) target: [f64; 3],
    pub(super) up: [f64; 3],
    pub(super) field_of_view_deg: Option<f64>,
    pub(super) width: Option<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum CameraKind {
    Perspective,
    Orthographic,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub(super) struct PictureTable {
    pub(super) size: Option<[u32; 2]>,
    pub(super) samples: Option<u32>,
    pub(super) exposure: Option<f64>,
    pub(super) ambient: Option<f64>,
    pub(super) ambient_samples: Option<u32>,
    pub(super) background: Option<String>,
    pub(super) stars: Option<f64>,
}
