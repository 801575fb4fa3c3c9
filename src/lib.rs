//! Batch ray–sphere queries and physically accurate shadows, on GPUs that wgpu reaches and on CPUs.
//!
//! Which sphere does each ray meet, when, and how near does it pass? Rays and spheres go in as slices, one record a ray comes
//! out:
//!
//! ```
//! use umbracast::{DeviceOptions, Hit, Query, Ray, SceneOptions, Sphere, blocking};
//!
//! let spheres = [Sphere::new([5.0, 0.0, 0.0], 1.0), Sphere::new([0.0, 8.0, 0.0], 2.0)];
//! let rays = [Ray::new([0.0; 3], [1.0, 0.0, 0.0]), Ray::segment([0.0; 3], [0.0, 4.0, 0.0])];
//!
//! let device = blocking::open(&DeviceOptions::default())?; // the best GPU, else the CPU engine
//! let scene = blocking::scene(&device, &spheres, &SceneOptions::default())?;
//! let hits = blocking::closest(&scene, &rays, &Query::default())?;
//!
//! assert_eq!(hits[0], Hit { t: 4.0, id: 0 });
//! assert_eq!(hits[1], Hit::MISS); // the segment ends before the second sphere begins
//! # Ok::<(), umbracast::Error>(())
//! ```
//!
//! Calls that use a device are async; [`blocking`] has synchronous versions. One ray and one sphere need no device:
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
//! * A [`Ray`] is the points `origin + t · direction` for `t` in `[t_min, t_max]`; the direction has any length but zero and is
//!   never normalised. A segment from a to b has direction b − a and `t` in `[0, 1]`.
//! * A [`Sphere`]'s place in the list is its id. A miss is `t = +∞` and [`NO_SPHERE`]. Equal `t`: the lowest id wins.
//! * A returned `t` lies in `[t_min, t_max]`; a sphere behind `t_min` is never met; a root beyond the largest f32 is a miss, and
//!   counted in the [`Report`].
//! * Rays that start inside, tangent rays and ends follow the policies of a [`Query`]: [`Inside`], [`Touch`], [`Ends`].
//! * A ray's answer depends on nothing but the spheres, the ray and the query: not on its batch, its place or the threads.
//! * A [`Bullet`] is a ray at a speed: [`Scene::bullets`] says what it meets and how it glances off, again and again.
//! * Rays come as a slice, or from a source that makes them where they are cast, on a GPU too: see [`raygen`].
//! * Bad records are refused with index, field and value, or skipped and counted ([`OnBad`]). Bad input causes no panic.
//!
//! # How exact
//!
//! With u = 2⁻²⁴, E the distance from origin to centre, b the one from the line to the centre, h the half chord:
//!
//! | [`Precision`] | the answer to "is it met" is right when | a root is off by at most | where |
//! |---|---|---|---|
//! | `Fast` | \|b/r − 1\| > 32 u (1 + E/r) | \|δt\|·\|d\| ≤ 32 u (E + r + E·r/h) | everywhere |
//! | `Standard` | \|b/r − 1\| > 2⁻⁴⁰ (1 + E/r) | \|δt\|·\|d\| ≤ 8 u (\|t\|·\|d\| + r·r/h) | devices that pass the probe |
//! | `Exact` | always | one rounding to f32 | everywhere |
//!
//! `Exact` gives the same bytes on every device: what f32 cannot decide is cast again in f64, and in integers where even that is
//! too coarse. The nearest pass of `approach` is within |δt|·|d| ≤ 8 u (E + |t·d|) and |δclearance| ≤ 8 u (E + r) on the whole line,
//! and correctly rounded with `Exact`. "Exact" speaks of the f32 values given.
//!
//! Some devices take subnormal numbers, those below 2⁻¹²⁶, for zero: [`Probe::subnormals`] says which. At `Exact` the CPU engine answers
//! for them every batch whose numbers or roots may be so small that this could matter. At `Fast` and `Standard` coordinates, radii and
//! directions below 2⁻¹²⁶ may count as 0 there, and a `t` below 2⁻¹²⁶ may come back as 0 or −0.
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
//! [`Device::from_wgpu`] uses a device of yours, [`Scene::plan`] puts queries among your own commands, over buffers of yours
//! (`examples/shared_device.rs`), [`wgsl::SOLVE`] is the solve as WGSL text, and [`wgpu`] is re-exported: one
//! release of this crate a major release of wgpu.

mod batch;
pub mod blocking;
mod bullets;
mod bvh;
mod cpu;
mod error;
mod escape;
#[cfg(all(any(test, fuzzing), feature = "parquet"))]
#[doc(hidden)]
pub mod fuzz;
mod gpu;
#[cfg(test)]
#[path = "../tests/support/intensity.rs"]
mod intensity;
mod intersect;
#[cfg(feature = "files")]
pub mod io;
mod math;
#[cfg(test)]
#[path = "../tests/support/numbers.rs"]
mod numbers;
mod query;
mod records;
mod runtime;
mod scene;
pub mod shadow;
pub mod wgsl;

pub use batch::ellipsoids::{Ellipsoid, Ellipsoids};
pub use batch::input::{Points, Rays, Segments, Spheres};
pub use batch::raygen;
pub use bullets::bullet::{Bullet, check_bullet};
pub use bullets::flights::{Bullets, Flights};
pub use bullets::leg::{Leg, LegStatus};
pub use bullets::ricochet::{Ricochet, Target};
pub use bvh::builder::Builder;
pub use error::{Error, Result};
pub use escape::{printable, quoted};
pub use glam;
pub use gpu::context::adapters::{required_features, required_limits};
pub use gpu::encode::pass::CastPass;
pub use gpu::encode::plan::CastPlan;
pub use gpu::probe::Probe;
pub use intersect::exact;
pub use query::kind::Question;
pub use query::policy::{Ends, Inside, Motion, OnBad, Precision, Query, Touch};
pub use query::results::{Answer, Bits, Hits, Lists, Report};
pub use query::validate::{check_ray, check_sphere};
pub use records::{Approach, Hit, Holders, Interval, NO_SPHERE, Ray, Sphere};
pub use runtime::cancel::Watch;
pub use runtime::limits::Limits;
pub use runtime::memory;
#[doc(hidden)]
pub use scene::bench_hooks as bench;
pub use scene::device::{Device, DeviceInfo, DeviceOptions};
pub use scene::hit_attributes::Attributes;
pub use scene::scene::{Scene, SceneOptions};
pub use scene::update::Update;
pub use wgpu;
