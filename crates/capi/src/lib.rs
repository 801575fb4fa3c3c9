//! The functions of `umbracast.h`, which documents them.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int};
use std::slice;
use std::sync::atomic::{AtomicU32, Ordering};

use umbracast::{Device, DeviceOptions, Error, Hit, Query, Ray, Rays, Result, Scene, SceneOptions, Sphere};

thread_local! {
    static ERROR: RefCell<CString> = RefCell::default();
}

/// Fails in a process that was forked from one that had made a scene: a batch would wait for threads that do not exist.
fn check_process() -> Result<()> {
    /// Id of the process that owns the threads; 0 before the first scene.
    static OWNER: AtomicU32 = AtomicU32::new(0);
    let me = std::process::id();
    match OWNER.compare_exchange(0, me, Ordering::Relaxed, Ordering::Relaxed) {
        Err(owner) if owner != me => Err(Error::InvalidArgument(
            "this process was forked from one that had made a scene, and lacks its threads: make the first scene after the fork"
                .into(),
        )),
        _ => Ok(()),
    }
}

/// Keeps an error for `umbracast_error`, and returns `failed` instead.
fn reported<T>(result: Result<T>, failed: T) -> T {
    result.unwrap_or_else(|error| {
        // An error may quote a name of a device, but no name has a NUL: it came from C.
        ERROR.set(CString::new(error.to_string()).unwrap_or_default());
        failed
    })
}

/// The records at a pointer, which may be null if there are none.
///
/// # Safety
/// `records` points to `count` records that nobody changes meanwhile.
unsafe fn records<'a, T>(records: *const T, count: usize) -> &'a [T] {
    if count == 0 {
        return &[];
    }
    // SAFETY: the caller promises it.
    unsafe { slice::from_raw_parts(records, count) }
}

/// A ray that may start on a sphere.
fn start<'a>(ray: &'a Ray, from_id: &'a u32) -> Rays<'a> {
    match *from_id {
        umbracast::NO_SPHERE => ray.into(),
        _ => Rays::from(ray).from_ids(slice::from_ref(from_id)),
    }
}

const QUERY: Query = Query::new();

/// See `umbracast.h`.
#[unsafe(no_mangle)]
pub extern "C" fn umbracast_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

/// See `umbracast.h`.
#[unsafe(no_mangle)]
pub extern "C" fn umbracast_error() -> *const c_char {
    ERROR.with_borrow(|error| error.as_ptr())
}

/// See `umbracast.h`.
///
/// # Safety
/// `spheres` points to `count` spheres, and `device` to a string or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn umbracast_scene(
    spheres: *const Sphere,
    count: usize,
    device: *const c_char,
) -> Option<Box<Scene>> {
    // SAFETY: the caller promises it.
    let spheres = unsafe { records(spheres, count) };
    // SAFETY: as above.
    let device = (!device.is_null()).then(|| unsafe { CStr::from_ptr(device) }.to_string_lossy());
    let made = || {
        check_process()?;
        let device = Device::open(&DeviceOptions::new(device.as_deref().unwrap_or("cpu")))?;
        Ok(Some(Box::new(device.scene(spheres, &SceneOptions::default())?)))
    };
    reported(made(), None)
}

/// See `umbracast.h`.
#[unsafe(no_mangle)]
pub extern "C" fn umbracast_free(scene: Option<Box<Scene>>) {
    drop(scene);
}

/// See `umbracast.h`.
///
/// # Safety
/// `spheres` points to `count` spheres.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn umbracast_update(scene: &mut Scene, spheres: *const Sphere, count: usize) -> c_int {
    // SAFETY: the caller promises it.
    let spheres = unsafe { records(spheres, count) };
    reported(check_process().and_then(|()| scene.update(spheres)).map(|_| 0), -1)
}

/// See `umbracast.h`.
#[unsafe(no_mangle)]
pub extern "C" fn umbracast_hit(scene: &Scene, ray: &Ray, from_id: u32, hit: Option<&mut Hit>) -> c_int {
    let found = scene.hit(start(ray, &from_id), &QUERY).map(|found| {
        if let Some(hit) = hit {
            *hit = found.unwrap_or(Hit::MISS);
        }
        c_int::from(found.is_some())
    });
    reported(found, -1)
}

/// See `umbracast.h`.
#[unsafe(no_mangle)]
pub extern "C" fn umbracast_occludes(scene: &Scene, ray: &Ray, from_id: u32) -> c_int {
    reported(scene.occludes(start(ray, &from_id), &QUERY).map(c_int::from), -1)
}

/// See `umbracast.h`.
#[unsafe(no_mangle)]
pub extern "C" fn umbracast_contains_point(scene: &Scene, point: &[f32; 3]) -> c_int {
    reported(scene.contains_point(point, &QUERY).map(c_int::from), -1)
}

/// See `umbracast.h`.
///
/// # Safety
/// `rays` points to `count` rays, and `hits` to memory for as many hits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn umbracast_closest(scene: &Scene, rays: *const Ray, count: usize, hits: *mut Hit) -> c_int {
    if count == 0 {
        return 0;
    }
    // SAFETY: the caller promises it. Every bit pattern is a hit.
    let (rays, hits) = unsafe { (records(rays, count), slice::from_raw_parts_mut(hits, count)) };
    reported(check_process().and_then(|()| scene.closest_into(rays, hits, &QUERY)).map(|_| 0), -1)
}

/// See `umbracast.h`.
///
/// # Safety
/// `rays` points to `count` rays, and `occluded` to memory for as many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn umbracast_occluded(scene: &Scene, rays: *const Ray, count: usize, occluded: *mut u8) -> c_int {
    // SAFETY: the caller promises it.
    let rays = unsafe { records(rays, count) };
    let found = check_process().and_then(|()| scene.occluded(rays, &QUERY)).map(|bits| {
        for (i, bit) in bits.iter().enumerate() {
            // SAFETY: as above; there are `count` bits.
            unsafe { occluded.add(i).write(bit.into()) };
        }
        0
    });
    reported(found, -1)
}
