//! Reader of spheres, and of the centre of all spheres in a file.

use std::path::Path;

use glam::{DQuat, DVec3};

use super::input::check_regular;
use super::read_options::{ExtraColumns, ReadOptions};
use super::table::{OpenTable, RowSink};
use crate::error::Result;
use crate::error::bad_file;
use crate::format::is_pipe;
use crate::schema::convert::{Converter, Number, Row};
use crate::schema::heights::OriginFinder;
use crate::schema::kinds::{
    PICTURE_SPHERES, PICTURE_SPHERES_OF_ONE_RADIUS, RADII, ROTATION, SPHERES, SPHERES_OF_ONE_RADIUS, TableSchema,
};
use crate::schema::left_out::LeftOut;
use crate::schema::optional::OptionalColumns;
use crate::schema::table::Table;
use umbracast::OnBad;
use umbracast::Sphere;
use umbracast::memory;
use umbracast::memory::{try_push, try_reserve};
use umbracast::shadow::{Ball, Color};

/// Reads spheres. `origin` is subtracted from the centres in f64, before rounding.
///
/// # Errors
/// [`Error::Io`] if the file cannot be read, [`Error::BadFile`] if it cannot be parsed or contains an invalid sphere,
/// [`TooLarge`](umbracast::Error::TooLarge) and [`OutOfMemory`](umbracast::Error::OutOfMemory) if the spheres do not fit into memory.
///
/// [`Error::Io`]: crate::Error::Io
/// [`Error::BadFile`]: crate::Error::BadFile
pub fn read_spheres(path: &Path, origin: DVec3) -> Result<Table<Sphere>> {
    read_spheres_with(path, origin, &ReadOptions::default())
}

/// Reads spheres with other options. Unknown columns of spheres are never kept, because results have a row per ray.
///
/// With [`OnBad::Skip`], an invalid sphere keeps its id, and nothing hits it: see [`Table::skipped`].
///
/// # Errors
/// The errors of [`read_spheres`].
pub fn read_spheres_with(path: &Path, origin: DVec3, options: &ReadOptions) -> Result<Table<Sphere>> {
    let table = SphereTable::open(path, [&SPHERES, &SPHERES_OF_ONE_RADIUS], &without_kept(options))?;
    read(table, path, origin, options.on_bad)
}

/// Reads spheres from the bytes of a file, as in a browser. The extension of its name selects the format; `.parquet` is refused. Messages
/// name the byte of a row of text, not its line.
///
/// # Errors
/// The errors of [`read_spheres`].
pub fn read_spheres_in_memory(name: &Path, bytes: Vec<u8>) -> Result<Table<Sphere>> {
    let source = OpenTable::in_memory(name, bytes, &SPHERES)?;
    let table = SphereTable { source, schema: &SPHERES, radius: None };
    read(table, name, DVec3::ZERO, OnBad::Refuse)
}

/// An open table of spheres, or of points that are read as spheres of one radius.
struct SphereTable {
    source: OpenTable,
    schema: &'static TableSchema,
    radius: Option<Number>,
}

impl SphereTable {
    /// Opens a file with the first schema, or with the second one if the options have a radius.
    fn open(path: &Path, schemas: [&'static TableSchema; 2], options: &ReadOptions) -> Result<Self> {
        let Some(radius) = options.sphere_radius else {
            return Ok(Self {
                source: OpenTable::open_with(path, schemas[0], options)?,
                schema: schemas[0],
                radius: None,
            });
        };
        if !(0.0..=f64::from(f32::MAX)).contains(&radius) {
            return Err(bad_file(
                path,
                format!("the radius for all spheres is {radius}: a radius must be finite and not negative"),
            ));
        }
        let schema = schemas[1];
        let source = OpenTable::open_with(path, schema, options)?;
        let own = |field: &usize| *field == 3 || RADII.iter().any(|name| schema.place(name) == Some(*field));
        if let Some(field) = source.fields().iter().copied().find(own) {
            let name = schema.name(field);
            return Err(bad_file(
                path,
                format!(
                    "the spheres have their own radii ({name}), so there must be no radius for all spheres, which is {radius}"
                ),
            ));
        }
        Ok(Self { source, schema, radius: Some(radius.into()) })
    }

    /// Passes every row to `sink`.
    fn read(self, sink: &mut RowSink<'_>) -> Result<LeftOut> {
        match self.radius {
            None => self.source.read(sink),
            Some(radius) => self.source.read(&mut |row| {
                let mut numbers = row.numbers;
                numbers[3] = radius;
                sink(&Row { numbers, ..*row })
            }),
        }
    }
}

fn without_kept(options: &ReadOptions) -> ReadOptions {
    match options.extra {
        ExtraColumns::Keep => options.extra(ExtraColumns::Ignore),
        _ => *options,
    }
}

/// Makes room for more spheres.
fn reserve_rows<T>(records: &mut Vec<T>, optional: &mut OptionalColumns, more: u64) -> Result<()> {
    memory::check("spheres", more.saturating_mul(size_of::<T>() as u64 + optional.bytes()))?;
    try_reserve("spheres", records, more)?;
    optional.reserve("optional columns of spheres", more)
}

/// Reads the spheres of a table. One that is left out keeps its place, where nothing hits it.
fn read(table: SphereTable, path: &Path, origin: DVec3, on_bad: OnBad) -> Result<Table<Sphere>> {
    let (source, schema) = (&table.source, table.schema);
    let mut records: Vec<Sphere> = Vec::new();
    let (mut hidden, mut skipped) = (Vec::new(), Vec::new());
    let mut optional = OptionalColumns::of(schema, source.fields());
    reserve_rows(&mut records, &mut optional, source.rows().unwrap_or(0))?;
    let mut converter = Converter::new(path, origin, on_bad);
    let left_out = table.read(&mut |row| {
        if records.len() == records.capacity() {
            let half = records.len() as u64 / 2;
            reserve_rows(&mut records, &mut optional, half.max(1 << 16))?;
        }
        if row.omitted.is_some() {
            // Atoms have no optional columns.
            return hide(&mut records, &mut hidden);
        }
        let mut sphere: Sphere = converter.convert(row)?;
        optional.push(schema, &mut converter, row)?;
        let is_invalid = on_bad == OnBad::Skip && optional.replace_invalid();
        if let Some(shape) = optional.shapes.as_ref().and_then(|shapes| shapes.last()) {
            sphere.radius = shape.bounding_radius();
        }
        if on_bad == OnBad::Skip && (is_invalid || sphere.check().is_err()) {
            try_push("skipped spheres", &mut skipped, records.len() as u32)?;
            return hide(&mut records, &mut hidden);
        }
        if records.len() == hidden.len() {
            records.fill(sphere);
        }
        records.push(sphere);
        Ok(())
    })?;
    if !hidden.is_empty() {
        let mut masks = optional.masks.take().unwrap_or_default();
        memory::check("masks of spheres", size_of::<u32>() as u64 * records.len() as u64)?;
        let more = records.len() - masks.len();
        try_reserve("masks of spheres", &mut masks, more as u64)?;
        masks.resize(records.len(), u32::MAX);
        hidden.iter().for_each(|id| masks[*id as usize] = 0);
        optional.masks = Some(masks);
    }
    Ok(Table { records, optional, skipped, rounding: converter.rounding, left_out })
}

/// Appends a sphere that nothing hits. It is a copy of another, so that it does not change the bounds or the least radius of the spheres.
/// Its id is appended to `hidden`; masks of 0 are set at the end.
fn hide(records: &mut Vec<Sphere>, hidden: &mut Vec<u32>) -> Result<()> {
    try_push("spheres that are left out", hidden, records.len() as u32)?;
    records.push(records.last().copied().unwrap_or(Sphere::new([0.0; 3], 1.0)));
    Ok(())
}

/// Centre of the AABB of all spheres in a file, in f64. Zero if there are no spheres.
///
/// # Errors
/// The errors of [`read_spheres`], except that invalid spheres are ignored here.
pub fn center_of_spheres(path: &Path) -> Result<DVec3> {
    origin_of_spheres(path, OriginFinder::new(&[]), &ReadOptions::default())
}

/// The origin that a finder with starts of rays chooses for the spheres of a file, as `--origin auto` does.
///
/// # Errors
/// The errors of [`center_of_spheres`].
pub fn origin_of_spheres(path: &Path, mut finder: OriginFinder, options: &ReadOptions) -> Result<DVec3> {
    // Checked before opening, because opening a pipe waits for its writer.
    if is_pipe(path) {
        return Err(bad_file(
            path,
            "finding the centre of the spheres reads them twice, which is not possible with a pipe; use a file, or give the origin",
        ));
    }
    let table = SphereTable::open(path, [&SPHERES, &SPHERES_OF_ONE_RADIUS], &without_kept(options))?;
    let places = |names: &[&str]| names.iter().map(|name| SPHERES.place(name).unwrap_or(0)).collect::<Vec<_>>();
    let (radii, rotation) = (places(&RADII), places(&ROTATION));
    table.read(&mut |row| {
        if row.omitted.is_some() {
            return Ok(());
        }
        let [x, y, z, r] = [0, 1, 2, 3].map(|field| row.numbers[field].wide);
        let center = DVec3::new(x, y, z);
        let n = |field: usize| row.numbers[field].wide;
        let axes = DVec3::new(n(radii[0]), n(radii[1]), n(radii[2]));
        // The semi-axes are 0 if the file has none.
        let is_sphere = axes == DVec3::ZERO;
        let (size, largest) = (if is_sphere { r } else { axes.max_element() }, f64::from(f32::MAX));
        // Invalid spheres, which may be skipped, do not count.
        if !(center.abs().max_element() <= largest && (0.0..=largest).contains(&size)) {
            return Ok(());
        }
        if is_sphere {
            finder.add(center, r);
        } else {
            let [w, x, y, z] = [0, 1, 2, 3].map(|k| n(rotation[k]));
            finder.add_ellipsoid(center, axes, DQuat::from_xyzw(x, y, z, w));
        }
        Ok(())
    })?;
    Ok(finder.origin())
}

/// Reads the spheres of a file that a system file names, at most `most`, in f64, and their colours if it has any. A larger file is refused as
/// soon as its header states the number of spheres, or else while they are counted.
pub(crate) fn read_balls(path: &Path, most: u64, options: &ReadOptions) -> Result<(Vec<Ball>, Vec<Color>, LeftOut)> {
    check_regular(path)?;
    const MOST: u64 = umbracast::shadow::MAX_BALLS as u64;
    let too_many = |count: &str| bad_file(path, format!("{count} spheres in the system: at most {MOST} are allowed"));
    let table = SphereTable::open(path, [&PICTURE_SPHERES, &PICTURE_SPHERES_OF_ONE_RADIUS], options)?;
    let rows = table.source.rows().unwrap_or(0);
    if rows > most {
        return Err(too_many(&(MOST - most).saturating_add(rows).to_string()));
    }
    let schema = table.schema;
    let (mut balls, mut optional) = (Vec::new(), OptionalColumns::of(schema, table.source.fields()));
    reserve_rows(&mut balls, &mut optional, rows)?;
    let mut converter = Converter::new(path, DVec3::ZERO, OnBad::Refuse);
    let left_out = table.read(&mut |row| {
        if row.omitted.is_some() {
            return Ok(());
        }
        if balls.len() as u64 == most {
            return Err(too_many(&format!("more than {MOST}")));
        }
        if balls.len() == balls.capacity() {
            let half = balls.len() as u64 / 2;
            reserve_rows(&mut balls, &mut optional, half.max(1 << 12))?;
        }
        // The rounded sphere is only checked.
        converter.convert::<Sphere>(row)?;
        optional.push(schema, &mut converter, row)?;
        let [x, y, z, r] = [0, 1, 2, 3].map(|field| row.numbers[field].wide);
        balls.push(Ball::new([x, y, z], r));
        Ok(())
    })?;
    if balls.is_empty() {
        return Err(bad_file(path, "the file contains no spheres"));
    }
    let colors = optional.colors.unwrap_or_default();
    let channels = || colors.iter().flatten();
    if channels().all(|channel| *channel <= 1.0) && channels().any(|channel| channel.fract() != 0.0) {
        return Err(bad_file(
            path,
            "no colour is above 1, and some are fractions: expected red, green and blue from 0 to 255",
        ));
    }
    Ok((balls, colors.into_iter().map(Color::from_srgb).collect(), left_out))
}
