//! Schemas of the tables: names of records and columns, and shapes of arrays.

/// Schema of a table.
#[derive(Debug)]
pub(crate) struct TableSchema {
    /// Name of one record.
    pub(crate) what: &'static str,
    /// Plural of the name; also the extension of raw files.
    pub(crate) plural: &'static str,
    /// Fields of a record, in its order.
    pub(crate) fields: &'static [&'static str],
    /// Number of positions, of three fields each, at the start of a record.
    pub(crate) positions: usize,
    /// Default value of a field that files may omit; `None` for required fields.
    pub(crate) default: fn(field: usize) -> Option<f32>,
    /// Shape of the arrays, for error messages.
    pub(crate) shape: &'static str,
    /// Optional columns. In a row they follow the fields.
    pub(crate) optional: &'static [&'static str],
    /// Other columns that a file may have, whatever they contain.
    pub(crate) ignored: &'static [&'static str],
}

pub(crate) static SPHERES: TableSchema = TableSchema {
    what: "sphere",
    plural: "spheres",
    fields: &["x", "y", "z", "r"],
    positions: 1,
    default: |_| None,
    shape: "(N, 4) with x y z r",
    optional: &[
        MASK,
        VELOCITY[0],
        VELOCITY[1],
        VELOCITY[2],
        RADII[0],
        RADII[1],
        RADII[2],
        ROTATION[0],
        ROTATION[1],
        ROTATION[2],
        ROTATION[3],
        TRANSMITTANCE,
    ],
    ignored: &[],
};

/// Spheres of a system: opaque balls at rest, which may have colours.
pub(crate) static PICTURE_SPHERES: TableSchema =
    TableSchema { optional: &[COLORS[0], COLORS[1], COLORS[2], ELEMENT], ..SPHERES };

/// Points that are read as spheres of one radius, which is not in the file.
pub(crate) static SPHERES_OF_ONE_RADIUS: TableSchema = TableSchema {
    default: |field| (field == 3).then_some(f32::NAN),
    shape: "(N, 3) with x y z, because the radius is given,",
    ..SPHERES
};

/// The same for a picture.
pub(crate) static PICTURE_SPHERES_OF_ONE_RADIUS: TableSchema =
    TableSchema { optional: PICTURE_SPHERES.optional, ..SPHERES_OF_ONE_RADIUS };

pub(crate) static RAYS: TableSchema = TableSchema {
    what: "ray",
    plural: "rays",
    fields: &["ox", "oy", "oz", "t_min", "dx", "dy", "dz", "t_max"],
    positions: 1,
    default: |field| match field {
        3 => Some(0.0),
        7 => Some(f32::INFINITY),
        _ => None,
    },
    shape: "(M, 6) with origin and direction, or (M, 8) with t_min and t_max in addition,",
    optional: &[MASK, SKIP_ID, FROM_ID, TIME, RADIUS],
    ignored: &[],
};

pub(crate) static SEGMENTS: TableSchema = TableSchema {
    what: "segment",
    plural: "segments",
    fields: &["x1", "y1", "z1", "x2", "y2", "z2"],
    positions: 2,
    default: |_| None,
    shape: "(M, 6) with x1 y1 z1 x2 y2 z2",
    optional: &[MASK, SKIP_ID, FROM_ID, TIME, RADIUS],
    ignored: &[],
};

pub(crate) static POINTS: TableSchema = TableSchema {
    what: "point",
    plural: "points",
    fields: &["x", "y", "z"],
    positions: 1,
    default: |_| None,
    shape: "(N, 3) with x y z",
    optional: &[MASK, SKIP_ID, TIME],
    ignored: &[],
};

/// Points from which rays are cast. `id` is the column of hits.
pub(crate) static STARTS: TableSchema = TableSchema { optional: &[MASK, SKIP_ID, TIME, FROM_ID, ID], ..POINTS };

/// The same if rays start on no sphere, or on those of another column.
pub(crate) static FREE_STARTS: TableSchema = TableSchema { ignored: &[FROM_ID, ID], ..POINTS };

pub(crate) static OBSERVERS: TableSchema =
    TableSchema { what: "observer", plural: "observers", optional: &[], ..POINTS };

/// Positions with their times, and optional velocities. Text may have the time as a column `time`.
pub(crate) static TRAJECTORIES: TableSchema = TableSchema {
    what: "state",
    plural: "states",
    fields: &["unix_s", "x", "y", "z", "vx", "vy", "vz"],
    positions: 0,
    default: |field| matches!(field, 0 | 4..).then_some(f32::NAN),
    shape: "(N, 4) with unix_s x y z, or (N, 7) with vx vy vz in addition,",
    optional: &[],
    ignored: &[],
};

pub(crate) static POSES: TableSchema = TableSchema {
    what: "pose",
    plural: "poses",
    fields: &["x", "y", "z", "qw", "qx", "qy", "qz"],
    positions: 1,
    default: |_| None,
    shape: "(N, 7) with x y z qw qx qy qz",
    optional: &[],
    ignored: &[],
};

pub(crate) static BULLETS: TableSchema = TableSchema {
    what: "bullet",
    plural: "bullets",
    fields: &["x1", "y1", "z1", "x2", "y2", "z2", "speed"],
    positions: 2,
    default: |_| None,
    shape: "(M, 7) with x1 y1 z1 x2 y2 z2 speed",
    optional: &[RADIUS, FROM_ID],
    ignored: &[],
};

impl TableSchema {
    /// Index in a row of an optional column.
    pub(crate) fn place(&self, name: &str) -> Option<usize> {
        self.optional.iter().position(|n| *n == name).map(|k| self.fields.len() + k)
    }

    /// Whether records are spheres whose radius is not in the file.
    pub(crate) fn is_of_one_radius(&self) -> bool {
        self.plural == "spheres" && (self.default)(3).is_some()
    }

    /// Whether records are spheres of a system, whose file or inline table names them.
    pub(crate) fn is_of_picture(&self) -> bool {
        self.plural == "spheres" && self.optional.contains(&ELEMENT)
    }

    /// How to give points the radius that makes them spheres.
    pub(crate) fn radius_remedy(&self) -> &'static str {
        if self.is_of_picture() {
            "; points need a column with a radius, or `radius` in the table of the body"
        } else {
            "; points need a column with a radius, or --sphere-radius"
        }
    }

    /// Name of the field or optional column with this index in a row.
    pub(crate) fn name(&self, field: usize) -> &'static str {
        self.fields.get(field).or_else(|| self.optional.get(field - self.fields.len())).copied().unwrap_or_default()
    }
}

/// Names of the optional columns.
pub(crate) const MASK: &str = "mask";

pub(crate) const SKIP_ID: &str = "skip_id";

/// The sphere on whose surface a ray or bullet starts.
pub(crate) const FROM_ID: &str = "from_id";

/// The sphere of a hit.
pub(crate) const ID: &str = "id";

pub(crate) const TIME: &str = "time";

pub(crate) const RADIUS: &str = "radius";

pub(crate) const TRANSMITTANCE: &str = "transmittance";

pub(crate) const VELOCITY: [&str; 3] = ["vx", "vy", "vz"];

pub(crate) const RADII: [&str; 3] = ["rx", "ry", "rz"];

pub(crate) const ROTATION: [&str; 4] = ["qw", "qx", "qy", "qz"];

/// sRGB, 0…255.
pub(crate) const COLORS: [&str; 3] = ["red", "green", "blue"];

/// Atomic number of an atom.
pub(crate) const ELEMENT: &str = "element";
