//! An opened GPU: limits, waits for submissions, and errors. Independent of programs and queries.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use wgpu::{ErrorFilter, ErrorScopeGuard, SubmissionIndex};

use super::adapters::{is_software, rank_and_kind, required_features, required_limits, shares_loads};
use super::wait::Poller;
use crate::error::{Error, Result};
use crate::gpu::programs::ShaderEdit;
use crate::runtime::Limits;
use crate::runtime::block_on::BoxedFuture;

/// How long a hardware GPU may take for one submission before it counts as hung. Drivers reset a device long before that.
const WATCHDOG: Duration = Duration::from_secs(300);

/// An opened GPU.
pub(crate) struct GpuContext {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    pub(crate) info: wgpu::AdapterInfo,
    /// A change of every program before it is compiled. Tests use it to inject faults.
    pub(crate) edit: Option<ShaderEdit>,
    limits: Limits,
    /// Number of buffers created so far. Tests check that repeated calls create none.
    pub(crate) made: AtomicU64,
    /// `None` on a device of the caller: there, [`wait_within`](Self::wait_within) polls on the thread that waits.
    #[cfg_attr(target_arch = "wasm32", expect(dead_code, reason = "a browser polls"))]
    pub(super) poller: Option<Poller>,
    /// The error reported when the device was lost, or when it failed outside any error scope.
    fault: Arc<Mutex<Option<Error>>>,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // The values stay consistent even if a thread panics while it has the lock.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl GpuContext {
    pub(crate) async fn open(adapter: &wgpu::Adapter, limits: Limits, edit: Option<ShaderEdit>) -> Result<Self> {
        let info = adapter.get_info();
        let description = wgpu::DeviceDescriptor {
            label: Some("umbracast"),
            required_features: required_features(adapter),
            required_limits: required_limits(adapter),
            ..Default::default()
        };
        let (device, queue) = adapter
            .request_device(&description)
            .await
            .map_err(|e| Error::DeviceFailed { device: info.name.clone(), message: e.to_string() })?;
        let poller = Poller::start(device.clone()).map_err(|e| Error::DeviceFailed {
            device: info.name.clone(),
            message: format!("cannot start the thread that polls the device: {e}"),
        })?;
        let opened = Self { limits, poller: Some(poller), ..Self::adopt(device, queue, edit) };
        let fault = opened.fault.clone();
        let name = info.name.clone();
        opened.device.set_device_lost_callback(move |reason, message| {
            // This also runs when the device is dropped, which is its normal end.
            let (device, message) = (name.clone(), if message.is_empty() { format!("{reason:?}") } else { message });
            // Some drivers run out of memory only at a submission, for which wgpu gives the device up.
            *lock(&fault) = Some(match message.contains("Out of memory") {
                true => Error::OutOfMemory { device, message },
                false => Error::DeviceLost { device, message },
            });
        });
        let (fault, name) = (opened.fault.clone(), info.name.clone());
        opened.device.on_uncaptured_error(Arc::new(move |error| {
            lock(&fault).get_or_insert(fault_of(&name, error));
        }));
        Ok(opened)
    }

    /// Uses a device of the caller. Sets no callbacks on it, and no other thread polls it: polling runs callbacks of the caller.
    pub(crate) fn adopt(device: wgpu::Device, queue: wgpu::Queue, edit: Option<ShaderEdit>) -> Self {
        let (mut info, limits, made) = (device.adapter_info(), Limits::default(), AtomicU64::new(0));
        if info.name.is_empty() {
            // Browsers do not tell it.
            info.name = "the GPU of the browser".into();
        }
        Self { limits, made, device, queue, info, edit, poller: None, fault: Arc::default() }
    }

    /// The adapter's name, as the driver reports it.
    pub(crate) fn name(&self) -> &str {
        &self.info.name
    }

    /// The kind of adapter, as shown to users.
    pub(crate) fn kind(&self) -> &'static str {
        rank_and_kind(&self.info).1
    }

    /// Size of the largest buffer that can be bound, in bytes.
    pub(crate) fn largest_binding(&self) -> u64 {
        let limits = self.device.limits();
        limits.max_storage_buffer_binding_size.min(limits.max_buffer_size).min(self.limits.binding)
    }

    /// The limits that the caller has set.
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Whether this is a software adapter.
    pub(crate) fn is_software(&self) -> bool {
        is_software(&self.info)
    }

    /// Maximum number of loop iterations per ray in the BVH traversal; a ray that needs more is cast again without the BVH. lavapipe allows
    /// 65,535 iterations per subgroup. If the threads of a subgroup share their counts, the count of a ray is at least about a sixth of
    /// the subgroup's iterations (shaders/traverse/stack.wgsl). Else a ray counts only its own.
    pub(crate) fn steps(&self) -> u32 {
        if !self.is_software() {
            1 << 17
        } else if shares_loads(&self.device, &self.info) {
            9000
        } else {
            9000 / self.info.subgroup_max_size.max(1)
        }
    }

    /// Runs `work` inside error scopes, and returns the error if there is one.
    pub(crate) async fn scoped<T>(&self, work: impl FnOnce() -> T) -> Result<T> {
        self.check()?;
        let (value, errors) = {
            // The guards stay on this thread; only their futures are awaited.
            let scopes = self.open_scopes();
            let value = work();
            (value, self.close_scopes(scopes))
        };
        errors.await.map(|()| value)
    }

    /// Opens scopes for internal errors, lack of memory and invalid use. It is separate from [`scoped`](Self::scoped), as is
    /// [`close_scopes`](Self::close_scopes), because that is compiled for each `work`.
    pub(crate) fn open_scopes(&self) -> [ErrorScopeGuard; 3] {
        [ErrorFilter::Internal, ErrorFilter::OutOfMemory, ErrorFilter::Validation]
            .map(|filter| self.device.push_error_scope(filter))
    }

    /// Closes error scopes. The future returns their error, if any.
    pub(crate) fn close_scopes(&self, [internal, memory, validation]: [ErrorScopeGuard; 3]) -> BoxedFuture<'_, ()> {
        let (validation, memory, internal) = (validation.pop(), memory.pop(), internal.pop());
        Box::pin(async move {
            let error = match (validation.await, memory.await, internal.await) {
                (_, Some(error), _) | (Some(error), ..) | (.., Some(error)) => error,
                (None, None, None) => return self.check(),
            };
            self.check()?;
            Err(self.lost().await.unwrap_or_else(|| fault_of(self.name(), error)))
        })
    }

    /// Tests whether the device is lost, and returns the error if so. A lost device creates invalid buffers without an error, and reports
    /// the loss only through a callback; on a device of the caller, that callback is the caller's.
    pub(crate) async fn lost(&self) -> Option<Error> {
        let error = {
            let scope = self.device.push_error_scope(ErrorFilter::Validation);
            let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("alive"),
                size: 16,
                usage: wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            self.queue.write_buffer(&buffer, 0, &[0; 16]);
            scope.pop()
        };
        error
            .await
            .is_some()
            .then(|| Error::DeviceLost { device: self.name().into(), message: "it was destroyed or reset".into() })
    }

    pub(crate) fn failed(&self, message: String) -> Error {
        Error::DeviceFailed { device: self.name().into(), message }
    }

    /// Returns the error if the device is known to be lost or to have failed.
    pub(crate) fn check(&self) -> Result<()> {
        lock(&self.fault).clone().map_or(Ok(()), Err)
    }

    /// The time limit for opening a device and uploading spheres. A hardware GPU may hang. A software adapter is only slow: it compiles
    /// kernels at their first dispatch and shares the cores with other processes. It has no limit; only Ctrl-C ends the wait.
    pub(crate) fn watchdog(&self) -> Option<Duration> {
        (!self.is_software()).then_some(WATCHDOG)
    }

    /// The time limit for a query's submissions: the caller's [`Limits::patience`], else the [`watchdog`](Self::watchdog).
    pub(crate) fn patience(&self) -> Option<Duration> {
        self.limits.patience.or_else(|| self.watchdog())
    }

    /// Waits for a submission of a query.
    pub(crate) async fn wait(&self, submission: SubmissionIndex) -> Result<()> {
        self.wait_within(submission, self.patience()).await
    }
}

fn fault_of(device: &str, error: wgpu::Error) -> Error {
    let device = device.to_owned();
    match error {
        wgpu::Error::OutOfMemory { source } => Error::OutOfMemory { device, message: source.to_string() },
        wgpu::Error::Validation { description, .. } | wgpu::Error::Internal { description, .. } => {
            Error::DeviceFailed { device, message: description }
        }
    }
}
