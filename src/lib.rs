//! Batch ray–sphere queries and physically accurate shadows, on the CPU or on a GPU through wgpu.
//!
//! For each ray, a query returns which sphere it hits and where, or how near it passes. Spheres and rays are slices. The result has one
//! record per ray:
//!
//! ```
//! use umbracast::{Device, DeviceOptions, Hit, Query, Ray, SceneOptions, Sphere};
//!
//! let spheres = [Sphere::new([5.0, 0.0, 0.0], 1.0), Sphere::new([0.0, 8.0, 0.0], 2.0)];
//! let rays = [Ray::new([0.0; 3], [1.0, 0.0, 0.0]), Ray::segment([0.0; 3], [0.0, 4.0, 0.0])];
//!
//! let device = Device::open(&DeviceOptions::default())?; // the best GPU, else the CPU engine
//! let scene = device.scene(&spheres, &SceneOptions::default())?;
//! let hits = scene.closest(&rays, &Query::default())?;
//!
//! assert_eq!(hits[0], Hit { t: 4.0, id: 0 });
//! assert_eq!(hits[1], Hit::MISS); // the segment ends before the second sphere begins
//! # Ok::<(), umbracast::Error>(())
//! ```
//!
//! Calls block until the answer is there. Code that must not block has [`Scene::cast_async`] and, of other calls, versions whose names end
//! in `_async`. A single ray and a single sphere need no device:
//!
//! ```
//! use umbracast::{Query, Ray, Sphere};
//!
//! let (ray, sphere) = (Ray::new([0.0; 3], [2.0, 0.0, 0.0]), Sphere::new([5.0, 0.0, 0.0], 1.0));
//! let hit = ray.hit(&sphere, &Query::default()).expect("it lies ahead");
//! assert_eq!(hit.t, 2.0); // in units of the direction as given
//! assert_eq!(hit.normal(&ray, &sphere).to_array(), [-1.0, 0.0, 0.0]);
//! assert_eq!(ray.roots(&sphere), Some((2.0, 3.0)));
//! ```
//!
//! # Conventions
//!
//! * A [`Ray`] is the set of points `origin + t · direction` for `t` in `[t_min, t_max]`. The direction has any length except zero and is
//!   never normalised. A segment from a to b has direction b − a and `t` in `[0, 1]`.
//! * The index of a [`Sphere`] in the list is its id. A miss is `t = +∞` and [`NO_SPHERE`]. If several spheres have the same `t`, the
//!   lowest id wins.
//! * A returned `t` lies in `[t_min, t_max]`. A sphere behind `t_min` is never hit. A root above the largest f32 is a miss, and counted in
//!   the [`Report`].
//! * Rays that start inside a sphere, tangent rays and the ends of rays follow the policies of a [`Query`]: [`Inside`], [`Touch`],
//!   [`Ends`].
//! * The result of a ray depends only on the spheres, the ray and the query, not on its batch, its index or the threads.
//! * A [`Bullet`] is a ray with a speed: [`Scene::bullets`] computes its hits and ricochets, one after the other.
//! * Rays are given as a slice, or as a source that generates them where they are cast, also on a GPU: see [`raygen`].
//! * Invalid records are refused with index, field and value. Invalid rays can be skipped and counted instead ([`OnBad`]). Invalid input
//!   causes no panic.
//!
//! # Precision
//!
//! With u = 2⁻²⁴, E the distance from the origin to the centre, b the distance from the line to the centre, and h half the chord:
//!
//! | [`Precision`] | hit or miss is right if | error of a root | where |
//! |---|---|---|---|
//! | `Fast` | \|b/r − 1\| > 32 u (1 + E/r) | \|δt\|·\|d\| ≤ 32 u (E + r + E·r/h) | everywhere |
//! | `Standard` | \|b/r − 1\| > 2⁻⁴⁰ (1 + E/r) | \|δt\|·\|d\| ≤ 8 u (\|t\|·\|d\| + r·r/h) | devices that pass the probe |
//! | `Exact` | always | one rounding to f32 | everywhere |
//!
//! At `Fast` and `Standard`, a hit is also uncertain where the ray ends within the error of its root.
//!
//! The default is `Exact` for spheres, and `Standard` for ellipsoids and [encoded queries](Scene::plan). [`Report::precision`] names the
//! precision that ran. `Exact` gives the same bytes on every device: rays that f32 leaves undecided are resolved in f64, and with integers where f64 does not
//! suffice. The result of `approach` is within |δt|·|d| ≤ 8 u (E + |t·d|) and |δclearance| ≤ 8 u (E + |t·d| + r), and correctly
//! rounded with `Exact`. "Exact" refers to the f32 values given.
//!
//! Some devices flush subnormal numbers (below 2⁻¹²⁶) to zero: [`Probe::subnormals`] reports whether a device does. At `Exact` the CPU
//! engine takes over every batch whose numbers or roots may be small enough for this to matter. At `Fast` and `Standard` such a device may
//! treat coordinates, radii and directions below 2⁻¹²⁶ as 0, and may return 0 or −0 for a `t` below 2⁻¹²⁶.
//!
//! A [`Probe`] runs when a GPU is opened. Asking for a precision that fails the probe is an error; it is never silently lowered.
//!
//! # The code
//!
//! `docs/architecture.md` in the repository shows the layers, the path of one ray through each engine, and where to add a query, a
//! primitive, a file format or a camera.
//!
//! # Your own GPU code
//!
//! [`Device::from_wgpu`] uses the caller's wgpu device. [`Scene::plan`] encodes queries among the caller's own commands, over the caller's
//! buffers (`examples/shared_device.rs`). [`Device::resident_scene`] takes spheres that the caller's shaders move
//! (`examples/moving_particles.rs`). [`wgsl::SOLVE`] is the ray–sphere intersection as WGSL text. [`wgpu`] is re-exported: each
//! release of this crate uses one major release of wgpu.

#![cfg_attr(not(feature = "gpu"), allow(dead_code, reason = "some functions are called for GPUs alone"))]

mod batch;
mod bullets;
mod bvh;
mod cpu;
mod error;
#[cfg_attr(not(feature = "gpu"), path = "no_gpu.rs")]
mod gpu;
#[cfg(test)]
#[path = "../tests/support/intensity.rs"]
mod intensity;
mod intersect;
mod math;
#[cfg(test)]
#[path = "../tests/support/numbers.rs"]
mod numbers;
pub mod queries {
    //! The queries of [`Scene::cast_async`](crate::Scene::cast_async), one type for each.

    pub use crate::cpu::query::kinds::*;
    pub use crate::scene::cast::Cast;
}
mod query;
mod records;
mod runtime;
mod scene;
#[cfg(feature = "shadow")]
pub mod shadow;

pub use batch::ellipsoids::{Ellipsoid, Ellipsoids};
pub use batch::input::{Points, Rays, Segments, Spheres};
pub use batch::raygen;
pub use batch::surface_rays::SurfaceRays;
pub use bullets::bullet::{Bullet, Leg, LegStatus};
pub use bullets::flights::{Bullets, Flights};
pub use bullets::ricochet::{MovingSphere, Ricochet};
pub use error::{Error, Result};
pub use glam;
#[cfg(feature = "gpu")]
pub use gpu::context::adapters::{required_features, required_limits};
#[cfg(feature = "gpu")]
pub use gpu::encode::{pass::CastPass, plan::CastPlan, resident::ResidentScene};
pub use gpu::probe::Probe;
#[cfg(feature = "gpu")]
#[doc(hidden)]
pub use gpu::programs::ShaderEdit;
pub use intersect::ellipsoid::EllipsoidShape;
pub use intersect::exact;
pub use query::kind::QueryKind;
pub use query::optical_depth::check_transmittance;
pub use query::policy::{Ends, Inside, Motion, Near, OnBad, Precision, Query, Touch};
pub use query::results::{Answer, Bits, HitLists, Hits, Lists, Report};
pub use records::{Approach, Containment, Hit, Interval, NO_SPHERE, Ray, Sphere};
pub use runtime::Limits;
pub use runtime::cancel::CancelToken;
pub use runtime::memory;
pub use scene::device::{Device, DeviceInfo, DeviceOptions};
pub use scene::hit_attributes::Attributes;
pub use scene::scene::{Scene, SceneOptions};
pub use scene::update::Update;
#[cfg(feature = "gpu")]
pub use wgpu;

/// WGSL for pipelines of your own.
#[cfg(feature = "gpu")]
pub mod wgsl {
    pub use crate::gpu::programs::SOLVE;
}
