//! Rays, points to make rays from, or bullets, in batches: a thread reads the next ones while the present ones are cast, in a few buffers that go round.

use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::time::Duration;

use glam::DVec3;

use super::table::Source;
use crate::bullets::bullet::Bullet;
use crate::error::{Error, Result};
use crate::io::errors::cannot_read;
use crate::io::schema::convert::{Converter, Record};
use crate::io::schema::optional::Beside;
use crate::io::schema::rounding::Rounding;
use crate::query::policy::OnBad;
use crate::records::Ray;
use crate::runtime::cancel::Watch;

/// What comes in batches: a [`Ray`], a point, `[f32; 3]`, a segment, `[[f32; 3]; 2]`, or a [`Bullet`].
#[expect(private_bounds, reason = "nobody else's records are read")]
pub trait Batched: Record {}
impl Batched for Ray {}
impl Batched for [f32; 3] {}
impl Batched for [[f32; 3]; 2] {}
impl Batched for Bullet {}

/// A file of rays, of points or of bullets, that was opened and found to be what its name says; none has been read.
#[derive(Debug)]
pub struct RayFile<T = Ray> {
    path: PathBuf,
    source: Source,
    of: PhantomData<T>,
}

impl<T: Batched> RayFile<T> {
    /// Opens a file and reads its head.
    ///
    /// # Errors
    /// [`Error::Io`] when it cannot be read, [`Error::BadFile`] when it cannot be understood.
    pub fn open(path: &Path) -> Result<Self> {
        Ok(Self { path: path.to_path_buf(), source: Source::open(path, T::KIND)?, of: PhantomData })
    }

    /// How many rays there are; none of a table and of a pipe, whose end alone tells.
    pub fn rays(&self) -> Option<u64> {
        self.source.rows()
    }

    /// Starts to read, in a thread of its own. `origin` is subtracted from the origins or points in f64, before they are rounded.
    ///
    /// With [`OnBad::Skip`] a ray that cannot be used is kept, with a NaN where a value is missing or exceeds f32, so that
    /// the query finds it bad, lets it miss and counts it. Text that is no number is refused all the same.
    ///
    /// # Errors
    /// [`Error::Io`] when there can be no thread.
    pub fn read(self, origin: DVec3, on_bad: OnBad) -> Result<RayBatches<T>> {
        let Self { path, source, .. } = self;
        let (total, length, bytes) = (source.rows(), source.length(), source.progress());
        let beside = Beside::of(T::KIND, source.fields());
        // One batch is being filled, one waits, one is in use.
        let (full, arriving) = sync_channel(1);
        let (give_back, empty) = channel();
        for _ in 0..2 {
            // Nobody can have hung up yet.
            let _ = give_back.send(RayBatch { beside: beside.clone(), ..RayBatch::default() });
        }
        let read = Arc::<AtomicU64>::default();
        let converter = Converter::new(&path, origin, on_bad);
        let reader = Reader { converter, full, empty, read: read.clone() };
        std::thread::Builder::new()
            .name("reader".into())
            .spawn(move || reader.run(source))
            .map_err(|e| Error::no_thread(&path, &e))?;
        Ok(RayBatches { path, arriving, give_back, total, length, bytes, read, rounding: Rounding::default() })
    }
}

/// The rays of a file, or its points, batch by batch.
#[derive(Debug)]
pub struct RayBatches<T = Ray> {
    path: PathBuf,
    arriving: Receiver<Result<Batch<T>>>,
    give_back: Sender<RayBatch<T>>,
    total: Option<u64>,
    length: Option<u64>,
    bytes: Arc<AtomicU64>,
    read: Arc<AtomicU64>,
    rounding: Rounding,
}

/// Some of a file's rays, or of its points, and what it holds beside them.
#[derive(Clone, Debug)]
pub struct RayBatch<T = Ray> {
    /// The rays, or points.
    pub records: Vec<T>,
    /// What is beside them.
    pub beside: Beside,
}

impl<T> Default for RayBatch<T> {
    fn default() -> Self {
        Self { records: Vec::new(), beside: Beside::default() }
    }
}

#[derive(Debug)]
struct Batch<T> {
    rays: RayBatch<T>,
    rounding: Rounding,
    last: bool,
}

impl RayBatches {
    /// Rays a batch, or points: enough to keep any device busy as long as files are read, 8 MiB.
    pub const BATCH: usize = 1 << 18;
    /// Batches that exist at a time.
    pub const IN_FLIGHT: u64 = 3;
}

impl<T: Batched> RayBatches<T> {
    /// Puts the next rays into `rays`, whose memory goes back to the reader; false when there are none left. As long as it
    /// waits for a slow pipe it looks whether it was cancelled.
    ///
    /// # Errors
    /// As [`read_spheres`](super::spheres::read_spheres), and when the file became shorter or longer while it was read;
    /// [`Error::Cancelled`].
    pub fn next(&mut self, rays: &mut RayBatch<T>, watch: &Watch) -> Result<bool> {
        loop {
            watch.check()?;
            match self.arriving.recv_timeout(Duration::from_millis(50)) {
                Ok(batch) => {
                    let batch = batch?;
                    self.rounding = batch.rounding;
                    let used = std::mem::replace(rays, batch.rays);
                    // After the last batch nobody takes it any more.
                    let _ = self.give_back.send(used);
                    return Ok(!batch.last);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    let message = std::io::Error::other("the thread that reads it ended early");
                    return Err(cannot_read(&self.path, &message));
                }
            }
        }
    }

    /// More rays than there can be; none of a pipe.
    pub fn at_most(&self) -> Option<u64> {
        self.total.or(self.length.map(|bytes| bytes / T::SHORTEST_LINE))
    }

    /// How many rays there will be in all, to be asked from another thread: known of arrays, expected of tables by what of
    /// the file has been read, none of pipes.
    pub fn expected(&self) -> impl Fn() -> Option<u64> + Send + 'static {
        let (total, length, bytes, read) = (self.total, self.length, self.bytes.clone(), self.read.clone());
        move || {
            let (read, bytes) = (read.load(Ordering::Relaxed), bytes.load(Ordering::Relaxed));
            total.or_else(|| Some((read as f64 * length? as f64 / bytes as f64) as u64)).filter(|rays| *rays > 0)
        }
    }

    /// What rounding to f32 did to the rays so far.
    pub fn rounding(&self) -> Rounding {
        self.rounding
    }
}

/// The thread that reads.
struct Reader<T> {
    converter: Converter,
    full: SyncSender<Result<Batch<T>>>,
    empty: Receiver<RayBatch<T>>,
    /// How many rays were handed on.
    read: Arc<AtomicU64>,
}

impl<T: Batched> Reader<T> {
    fn run(mut self, source: Source) {
        let last = self.fill(source);
        // Nobody listens when the work was given up for another reason.
        let _ = self.full.send(last);
    }

    /// Hands on all batches; the one that says that there are no more is returned.
    fn fill(&mut self, source: Source) -> Result<Batch<T>> {
        let mut rays = self.buffer()?;
        source.read(&mut |row| {
            rays.records.push(self.converter.convert(row)?);
            rays.beside.push(T::KIND, &mut self.converter, row)?;
            if rays.records.len() == RayBatches::BATCH {
                self.hand_on(std::mem::take(&mut rays))?;
                rays = self.buffer()?;
            }
            Ok(())
        })?;
        if !rays.records.is_empty() {
            self.hand_on(rays)?;
        }
        Ok(Batch { rays: RayBatch::default(), rounding: self.converter.rounding, last: true })
    }

    fn hand_on(&self, rays: RayBatch<T>) -> Result<()> {
        self.read.fetch_add(rays.records.len() as u64, Ordering::Relaxed);
        let batch = Batch { rays, rounding: self.converter.rounding, last: false };
        self.full.send(Ok(batch)).map_err(|_| Error::Cancelled { done: 0 })
    }

    fn buffer(&self) -> Result<RayBatch<T>> {
        let mut rays = self.empty.recv().map_err(|_| Error::Cancelled { done: 0 })?;
        rays.records.clear();
        rays.beside.clear();
        rays.records
            .try_reserve_exact(RayBatches::BATCH)
            .map_err(|_| Error::OutOfMemory { device: "this machine".into(), message: "reading rays".into() })?;
        rays.beside.reserve("columns beside rays", RayBatches::BATCH as u64, self.converter.path())?;
        Ok(rays)
    }
}
