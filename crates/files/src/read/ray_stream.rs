//! Streams rays, points, segments or bullets in batches. A thread reads the next batches while the current one is cast. The buffers are
//! reused.

use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::time::Duration;

use glam::DVec3;

use super::read_options::ReadOptions;
use super::table::OpenTable;
use crate::error::{Error, Result};
use crate::error::{bad_file, cannot_read};
use crate::escape::quoted;
use crate::format::is_pipe;
use crate::schema::convert::{Converter, MOST_FIELDS, Record};
use crate::schema::headings::split;
use crate::schema::kept::KeptColumns;
use crate::schema::kinds::{FREE_STARTS, FROM_ID, ID, STARTS, TableSchema};
use crate::schema::left_out::LeftOut;
use crate::schema::optional::OptionalColumns;
use crate::schema::rounding::Rounding;
use umbracast::Bullet;
use umbracast::CancelToken;
use umbracast::OnBad;
use umbracast::Ray;
use umbracast::memory::try_push;

/// A record that is read in batches: a [`Ray`], a point `[f32; 3]`, a segment `[[f32; 3]; 2]`, or a [`Bullet`].
#[expect(private_bounds, reason = "nobody else's records are read")]
pub trait Batched: Record {}
impl Batched for Ray {}
impl Batched for [f32; 3] {}
impl Batched for [[f32; 3]; 2] {}
impl Batched for Bullet {}

/// An open file of rays, points, segments or bullets with a checked header. No record has been read yet.
#[derive(Debug)]
pub struct RayFile<T = Ray> {
    path: PathBuf,
    kind: &'static TableSchema,
    source: OpenTable,
    /// The column of the spheres on which rays start, if the file has one.
    from_column: Option<&'static str>,
    /// Whether the ids of that column are not read.
    is_unread: bool,
    of: PhantomData<T>,
}

/// Column of a file of points that has the sphere on whose surface the ray from each point starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum FromColumn {
    /// `from_id`, else `id`, which a file of hits has.
    #[default]
    Auto,
    /// None, even if the file has them.
    None,
    /// The column of this name.
    Named(String),
}

impl RayFile<[f32; 3]> {
    /// Opens a file of points from which rays are cast. The ids of `from` become [`OptionalColumns::from_ids`].
    ///
    /// # Errors
    /// The errors of [`open`](Self::open), also if the file has no column of that name.
    pub fn open_starts(path: &Path, options: &ReadOptions, from: &FromColumn) -> Result<Self> {
        let kind = match from {
            FromColumn::Auto => &STARTS,
            FromColumn::None => &FREE_STARTS,
            FromColumn::Named(name) => {
                let (name, _) = split(name);
                if STARTS.fields.contains(&&*name) {
                    return Err(bad_file(path, format!("column '{name}' is a coordinate, and so cannot hold ids")));
                }
                // A schema lives as long as the program.
                let names = [FREE_STARTS.optional, &[String::leak(name)]].concat();
                &*Box::leak(Box::new(TableSchema { optional: Vec::leak(names), ..FREE_STARTS }))
            }
        };
        // A column `id` is used only if all points lie on their spheres, so they are read twice.
        let is_once = *from == FromColumn::Auto && is_pipe(path);
        let options = &ReadOptions { unread: is_once.then_some(ID), ..*options };
        let source = OpenTable::open_with(path, kind, options)?;
        let find = |name: &str| {
            let own = kind.optional.iter().copied().find(|own| *own == name)?;
            kind.place(own).filter(|field| source.fields().contains(field)).map(|_| own)
        };
        let from_column = match from {
            // Whatever `id` contains, it has no meaning beside `from_id`.
            FromColumn::Auto if find(FROM_ID).is_some() && find(ID).is_some() && !is_once => {
                return Self::open_starts(path, options, &FromColumn::Named(FROM_ID.into()));
            }
            FromColumn::Auto => find(FROM_ID).or_else(|| find(ID)),
            FromColumn::None => None,
            FromColumn::Named(name) => match find(&split(name).0) {
                None => return Err(bad_file(path, format!("there is no column '{}'", quoted(name)))),
                found => found,
            },
        };
        let is_unread = is_once && from_column == Some(ID);
        Ok(Self { path: path.to_path_buf(), kind, source, from_column, is_unread, of: PhantomData })
    }

    /// Name of the column that becomes [`OptionalColumns::from_ids`]; not if it is `id` and the points come from a pipe.
    pub fn start_column(&self) -> Option<&'static str> {
        self.from_column
    }
}

impl<T: Batched> RayFile<T> {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be read, [`Error::BadFile`] if it cannot be parsed.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_with(path, &ReadOptions::default())
    }

    /// Opens a file with other options.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open).
    pub fn open_with(path: &Path, options: &ReadOptions) -> Result<Self> {
        let (kind, source) = (T::KIND, OpenTable::open_with(path, T::KIND, options)?);
        let from_column = kind.place(FROM_ID).filter(|field| source.fields().contains(field)).map(|_| FROM_ID);
        Ok(Self { path: path.to_path_buf(), kind, source, from_column, is_unread: false, of: PhantomData })
    }

    /// Names of the columns that are kept as text: see [`ExtraColumns::Keep`](super::read_options::ExtraColumns::Keep).
    pub fn kept(&self) -> &[String] {
        self.source.kept()
    }

    /// Number of rays; `None` if only the end of the input determines it, as for text and some pipes.
    pub fn rays(&self) -> Option<u64> {
        self.source.rows()
    }

    /// Reads where the first records begin, at most [`RayBatches::BATCH`] of them. The positions are those of the file, not rounded and not
    /// checked.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be read, [`Error::BadFile`] if it cannot be parsed.
    pub fn starts(self) -> Result<Vec<DVec3>> {
        let mut starts = Vec::new();
        let read = self.source.read(&mut |row| {
            if starts.len() == RayBatches::BATCH {
                return Err(umbracast::Error::Cancelled { done: starts.len() as u64 }.into());
            }
            let [x, y, z, ..] = row.numbers;
            Ok(try_push("starts", &mut starts, DVec3::new(x.wide, y.wide, z.wide))?)
        });
        match read {
            Ok(_) | Err(Error::Umbracast(umbracast::Error::Cancelled { .. })) => Ok(starts),
            Err(error) => Err(error),
        }
    }

    /// Starts a thread that reads the file. `origin` is subtracted from the origins or points in f64, before rounding.
    ///
    /// With [`OnBad::Skip`], invalid rays are kept, with NaN for a value that is missing or exceeds f32. The query then treats the ray as a
    /// miss and counts it. Text that is not a number is still refused.
    ///
    /// # Errors
    /// [`Error::Io`] if the thread cannot be started.
    pub fn read(self, origin: DVec3, on_bad: OnBad) -> Result<RayBatches<T>> {
        let Self { path, kind, source, from_column, is_unread, .. } = self;
        let from_column = from_column.filter(|_| !is_unread);
        let (total, length, bytes) = (source.rows(), source.length(), source.progress());
        let mut optional = OptionalColumns::of(kind, source.fields());
        optional.from_ids = from_column.map(|_| Vec::new());
        optional.from_column = from_column.unwrap_or_default();
        // Three buffers: one is filled, one waits, one is in use by the caller.
        let (full, arriving) = sync_channel(1);
        let (recycle, empty) = channel();
        for _ in 0..2 {
            // The receiver still exists, so this cannot fail.
            let _ = recycle.send(RayBatch::default());
        }
        let kept = KeptColumns::new(source.kept().to_vec());
        let read = Arc::<AtomicU64>::default();
        let converter = Converter::new(&path, origin, on_bad);
        let reader = Reader { kind, converter, optional, kept, full, empty, read: read.clone() };
        std::thread::Builder::new()
            .name("reader".into())
            .spawn(move || reader.run(source))
            .map_err(|e| Error::no_thread(&path, e))?;
        Ok(RayBatches {
            path,
            arriving,
            recycle,
            total,
            length,
            bytes,
            read,
            rounding: Rounding::default(),
            left_out: LeftOut::default(),
        })
    }
}

/// Reads all rays from the bytes of a file, as in a browser. The extension of its name selects the format; `.parquet` is refused. Messages
/// name the byte of a row of text, not its line.
///
/// # Errors
/// [`Error::BadFile`] if the bytes cannot be parsed or contain an invalid ray, [`OutOfMemory`](umbracast::Error::OutOfMemory).
pub fn read_rays_in_memory(name: &Path, bytes: Vec<u8>) -> Result<RayBatch> {
    let (kind, source) = (Ray::KIND, OpenTable::in_memory(name, bytes, Ray::KIND)?);
    let mut rays: RayBatch = RayBatch { optional: OptionalColumns::of(kind, source.fields()), ..RayBatch::default() };
    let mut converter = Converter::new(name, DVec3::ZERO, OnBad::Refuse);
    source.read(&mut |row| {
        try_push("rays", &mut rays.records, converter.convert(row)?)?;
        rays.optional.push(kind, &mut converter, row)
    })?;
    Ok(rays)
}

/// Iterates over the rays or points of a file in batches.
#[derive(Debug)]
pub struct RayBatches<T = Ray> {
    path: PathBuf,
    arriving: Receiver<Result<Batch<T>>>,
    recycle: Sender<RayBatch<T>>,
    total: Option<u64>,
    length: Option<u64>,
    bytes: Arc<AtomicU64>,
    read: Arc<AtomicU64>,
    rounding: Rounding,
    left_out: LeftOut,
}

/// A batch of rays or points, with its optional columns.
#[derive(Clone, Debug)]
pub struct RayBatch<T = Ray> {
    /// The rays or points.
    pub records: Vec<T>,
    /// The optional columns.
    pub optional: OptionalColumns,
    /// The columns that are kept as text.
    pub kept: KeptColumns,
}

impl<T> Default for RayBatch<T> {
    fn default() -> Self {
        Self { records: Vec::new(), optional: OptionalColumns::default(), kept: KeptColumns::default() }
    }
}

#[derive(Debug)]
struct Batch<T> {
    rays: RayBatch<T>,
    rounding: Rounding,
    left_out: LeftOut,
    last: bool,
}

impl RayBatches {
    /// Rays or points per batch, 8 MiB of rays: enough to keep any device busy while a file is read.
    pub const BATCH: usize = 1 << 18;
    /// Number of batches that exist at the same time.
    pub const IN_FLIGHT: u64 = 3;
}

impl<T: Batched> RayBatches<T> {
    /// Moves the next batch into `rays`, and returns the previous buffer to the reader. Returns false if there are no more rays. Polls
    /// `cancel` while it waits for a slow pipe.
    ///
    /// # Errors
    /// The errors of [`read_spheres`](super::spheres::read_spheres), also if the length of the file changed while it was read;
    /// [`Cancelled`](umbracast::Error::Cancelled).
    pub fn next(&mut self, rays: &mut RayBatch<T>, cancel: &CancelToken) -> Result<bool> {
        loop {
            cancel.check()?;
            match self.arriving.recv_timeout(Duration::from_millis(50)) {
                Ok(batch) => {
                    let batch = batch?;
                    self.rounding = batch.rounding;
                    self.left_out = batch.left_out;
                    let used = std::mem::replace(rays, batch.rays);
                    // After the last batch the reader has ended and no longer receives buffers.
                    let _ = self.recycle.send(used);
                    return Ok(!batch.last);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    let message = std::io::Error::other("the thread that reads it ended unexpectedly");
                    return Err(cannot_read(&self.path, message));
                }
            }
        }
    }

    /// Upper bound of the number of rays; `None` if there is none, as for a pipe.
    pub fn at_most(&self) -> Option<u64> {
        self.total.or(self.length.map(|bytes| bytes / T::SHORTEST_LINE))
    }

    /// Estimate of the total number of rays, as a function that another thread can call. It is exact if the file states the number.
    /// Otherwise it is extrapolated from the bytes read so far, or `None` for a pipe.
    pub fn expected(&self) -> impl Fn() -> Option<u64> + Send + 'static {
        let (total, length, bytes, read) = (self.total, self.length, self.bytes.clone(), self.read.clone());
        move || {
            let (read, bytes) = (read.load(Ordering::Relaxed), bytes.load(Ordering::Relaxed));
            total.or_else(|| Some((read as f64 * length? as f64 / bytes as f64) as u64)).filter(|rays| *rays > 0)
        }
    }

    /// How rounding to f32 changed the rays so far.
    pub fn rounding(&self) -> Rounding {
        self.rounding
    }

    /// What was left out, after the last batch.
    pub fn left_out(&self) -> &LeftOut {
        &self.left_out
    }
}

/// State of the reader thread.
struct Reader<T> {
    kind: &'static TableSchema,
    converter: Converter,
    /// The columns of the file, without rows.
    optional: OptionalColumns,
    kept: KeptColumns,
    full: SyncSender<Result<Batch<T>>>,
    empty: Receiver<RayBatch<T>>,
    /// Number of rays sent so far.
    read: Arc<AtomicU64>,
}

impl<T: Batched> Reader<T> {
    fn run(mut self, source: OpenTable) {
        let last = self.fill(source);
        // The receiver is gone if the query was aborted.
        let _ = self.full.send(last);
    }

    /// Sends all batches. Returns the final, empty one, which says that there are no more.
    fn fill(&mut self, source: OpenTable) -> Result<Batch<T>> {
        let mut rays = self.buffer()?;
        let left_out = source.read(&mut |row| {
            let record = self.converter.convert(row)?;
            rays.optional.push(self.kind, &mut self.converter, row)?;
            // Spheres at rest do not look at the time, so the ray itself becomes invalid.
            let is_timeless =
                rays.optional.times.as_ref().and_then(|times| times.last()).is_some_and(|time| time.is_nan());
            rays.records.push(if is_timeless { T::from_fields([f32::NAN; MOST_FIELDS]) } else { record });
            row.kept.iter().for_each(|cell| rays.kept.push(cell));
            if rays.records.len() == RayBatches::BATCH {
                self.send_batch(std::mem::take(&mut rays))?;
                rays = self.buffer()?;
            }
            Ok(())
        })?;
        if !rays.records.is_empty() {
            self.send_batch(rays)?;
        }
        Ok(Batch { rays: RayBatch::default(), rounding: self.converter.rounding, left_out, last: true })
    }

    fn send_batch(&self, rays: RayBatch<T>) -> Result<()> {
        self.read.fetch_add(rays.records.len() as u64, Ordering::Relaxed);
        let batch = Batch { rays, rounding: self.converter.rounding, left_out: LeftOut::default(), last: false };
        self.full.send(Ok(batch)).map_err(|_| Error::from(umbracast::Error::Cancelled { done: 0 }))
    }

    fn buffer(&self) -> Result<RayBatch<T>> {
        let mut rays = self.empty.recv().map_err(|_| Error::from(umbracast::Error::Cancelled { done: 0 }))?;
        // The buffer may be one of the caller's, which has no columns yet.
        rays.records.clear();
        rays.optional = self.optional.clone();
        rays.kept = self.kept.clone();
        rays.records.try_reserve_exact(RayBatches::BATCH).map_err(|_| umbracast::Error::OutOfMemory {
            device: "this machine".into(),
            message: "reading rays".into(),
        })?;
        rays.optional.reserve("optional columns of rays", RayBatches::BATCH as u64)?;
        Ok(rays)
    }
}
