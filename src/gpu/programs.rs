//! The compute programs. Each is a list of files of `shaders/`, joined in order.

use super::context::pipelines::Variant;
use crate::bvh::qbvh4::node::QBvh4;

/// A part of a program's source. Programs share their texts, so that a binary contains each file once.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    /// A text, with the line break at its end.
    Text(&'static str),
    /// Several parts, in order.
    Parts(&'static [Self]),
}

impl Part {
    fn append_to(&self, source: &mut String) {
        match self {
            Self::Text(text) => source.push_str(text),
            Self::Parts(parts) => parts.iter().for_each(|part| part.append_to(source)),
        }
    }
}

/// The text of a file of the folder `shaders`.
macro_rules! file {
    ($file:literal) => {
        concat!(include_str!(concat!("../../shaders/", $file, ".wgsl")), "\n")
    };
}

/// A stage, which several programs share, or a file.
macro_rules! stage {
    // One ray and one sphere at rest.
    (intersect_at_rest) => {
        Part::Text(SOLVE)
    };
    // One ray and one primitive, with attributes and motion.
    (intersect) => {
        join!(
            "records",
            "math/error_free",
            "math/float",
            "intersect/sphere",
            "intersect/motion",
            "intersect/ellipsoid",
            "intersect/classify",
            "query/closest_state",
            "intersect/attributes"
        )
    };
    // The tests of blocks of spheres.
    (cull_blocks) => {
        join!(intersect, "query/bindings", "cull/ray_line", "cull/load", "cull/blocks")
    };
    // Visits all spheres that culling leaves.
    (brute_force) => {
        join!(cull_blocks, "cull/block_hits", "cull/brute_force")
    };
    // The tests of the nodes of a BVH, and its stack.
    (test_nodes) => {
        join!(
            intersect,
            "cull/ray_line",
            "traverse/ray_setup",
            "traverse/qnode",
            "traverse/lone_thread",
            "traverse/deferred_hits",
            "traverse/stack"
        )
    };
    // Traverses the BVH and visits the spheres of its leaves.
    (traverse) => {
        join!(test_nodes, "traverse/leaf", "traverse/traverse")
    };
    // Roots as pairs of f32, from which results are rounded once.
    (finalize) => {
        join!(intersect, "intersect/double")
    };
    // The bindings and the entry point of a program that processes one ray per thread.
    (query_per_ray) => {
        join!("query/bindings", "query/ray_per_thread")
    };
    // Spheres in the frame of the scene, for building a BVH.
    (scene_frame) => {
        join!("records", "math/error_free", "build/common", "build/scene_frame")
    };
    // Bounds of leaves, and nodes that are packed from them.
    (pack_nodes) => {
        join!(scene_frame, "build/aabb", "build/leaf_aabb", "build/range_aabb", "build/pack_node")
    };
    ($file:literal) => {
        Part::Text(file!($file))
    };
}

/// Stages and files, in order.
macro_rules! join {
    ($($part:tt),+ $(,)?) => { Part::Parts(&[$(stage!($part)),+]) };
}

/// WGSL source of the intersection of a ray and a sphere, to prepend to a kernel of your own: records, error-free transforms, both roots,
/// policies.
///
/// ```wgsl
/// @compute @workgroup_size(64)
/// fn mine(@builtin(global_invocation_id) id: vec3<u32>) {
///   zero = settings.y; // a 0 that comes from a buffer, in every entry point, first of all
///   let roots = intersect_compensated(scale(rays[id.x], spheres[id.x]));
///   let result = classify(roots, rays[id.x], Policies(INSIDE_ENTER, 0u, 0u), false);
///   if (result.hit_class == HIT) { use_it(result.t); }
/// }
/// ```
///
/// `examples/solve_in_your_shader.rs` is such a kernel in a pipeline of its own, checked against [`ray.hit`](crate::Ray::hit).
/// It needs no feature and no limit beyond WebGPU's defaults, and declares no bindings.
///
/// It defines, in this order:
///
/// * `Sphere`, `Ray`, `Hit`, `Interval`, `Approach`: the [records](crate::Sphere), laid out as in Rust. `Hit`, `Interval` and `Approach`
///   contain bits (`u32`), because a miss is an infinity, with which no shader may compute.
/// * `NO_SPHERE`, `FAR`, `INFINITY_BITS`, `reported(x)`: the id of a miss; the largest f32; the bits of `t` of a miss; the bits of a result
///   `x`, those of ±∞ if `x` is ±`FAR`.
/// * `zero`: the private variable that keeps compilers from simplifying the error terms away: without it they become 0 on Mesa.
/// * `two_sum`, `quick_two_sum`, `two_product`: a sum or product and its error, as `vec2(value, error)`.
/// * `rounds_correctly`: an override, false by default. Set it if the device rounds quotients and square roots correctly, as
///   [`Probe::division_ulp`](crate::Probe::division_ulp) and `root_ulp` of at most 0.5 show: `intersect_compensated` is then faster.
/// * `quotient(a, b, corrects)`, `square_root(x, corrects)`: with errors of at most 0.51 units in the last place if `corrects`.
/// * `scale(ray, sphere)` → `ScaledPair`: the pair scaled by exact powers of two, so that no later step overflows.
/// * `intersect_fast(scaled)`, `intersect_compensated(scaled)` → `SphereRoots`: `disc` is negative for a miss and 0 for a tangent ray; its
///   sign is certain if its magnitude exceeds `disc_bound`. `t_enter` and `t_exit` have the error bounds `enter_bound` and `exit_bound`;
///   these four are in units of the ray's direction as given, saturating at ±`FAR`.
/// * `closest_approach(scaled, t_min, t_max)` → `vec2(t, clearance)`: the closest approach between the ends.
/// * `clearance_at(scaled, t)`: the distance to the surface at `t`.
/// * `classify(roots, ray, policies, undecided)` → `Classification`: `hit_class` is `HIT`, `MISS`, or `OVERFLOW` if the root exceeds f32.
///   It is `UNDECIDED` only if `undecided` is true and the bounds prove neither. `t` is valid with `HIT` and lies in `low..=high`.
/// * `Policies(inside, touch, ends)`: `INSIDE_ENTER`, `INSIDE_EXIT` or `INSIDE_IGNORE`; 0 or `TOUCH_MISS`; 0 or `ENDS_HALF_OPEN`.
///
/// `ScaledPair`, `Foot`, `ClosestState`, `ApproachState`, `Params` and the `TAG_…` and `STATE_…` constants are defined too, but may change
/// in later versions.
///
/// Requirements: `center`, `radius`, `origin` and `direction` are finite, the radius is not negative and the direction is not zero
/// ([`Sphere::check`](crate::Sphere::check), [`Ray::check`](crate::Ray::check)); infinite ends are replaced by ±`FAR`. Otherwise the
/// results are meaningless, but no code loops forever or traps.
///
/// Guarantees, with u = 2⁻²⁴, E the distance from origin to centre, r the radius, b the distance from the line to the centre, and h the
/// half chord:
///
/// * `intersect_fast`, on every device: hit or miss (the sign of `disc`) is right if |b/r − 1| > 32 u (1 + E/r), and roots have errors
///   |δt|·|d| ≤ 32 u (E + r + E·r/h).
/// * `intersect_compensated`, on devices that pass the [`Probe`](crate::Probe): hit or miss is right if |b/r − 1| > 2⁻⁴⁰ (1 + E/r), and
///   roots have errors |δt|·|d| ≤ 8 u (|t|·|d| + r·r/h).
///
/// `Device::from_wgpu(device, queue)` runs the probe on a device of yours, and [`Device::probe`](crate::Device::probe) returns its
/// results.
pub const SOLVE: &str = concat!(
    file!("records"),
    file!("math/error_free"),
    file!("math/float"),
    file!("intersect/no_motion"),
    file!("intersect/sphere"),
    file!("intersect/classify")
);

macro_rules! programs {
    ($($constant:ident = $name:literal: $($part:tt),+;)+) => {
        $(pub(crate) const $constant: Program = Program { name: $name, source: join!($($part),+) };)+
        /// Every program the library runs.
        pub(crate) const PROGRAMS: &[Program] = &[$($constant),+];
    };
}

/// A compute program: its name and its source, with one entry point `main`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program {
    /// Its name, unique among the programs.
    pub name: &'static str,
    source: Part,
}

impl Program {
    /// The WGSL source.
    pub(crate) fn source(&self) -> String {
        let mut source = String::new();
        self.source.append_to(&mut source);
        source
    }
}

programs! {
    CLOSEST = "closest": brute_force, "query/closest";
    CLOSEST_BVH = "closest_bvh": traverse, "query/closest_traversal", query_per_ray, "query/closest_bvh";
    CLOSEST_FINALIZE = "closest_finalize": finalize, query_per_ray, "query/closest_finalize";
    INTERVAL_FINALIZE = "interval_finalize": finalize, query_per_ray, "query/interval_finalize";
    OCCLUDED = "occluded": cull_blocks, "cull/block_hits", "traverse/lone_thread", "query/occluded_state", "query/occluded";
    OCCLUDED_BVH = "occluded_bvh": traverse, "query/occluded_state", query_per_ray, "query/occluded_bvh";
    COUNT = "count": brute_force, "query/count_state", "query/sum";
    COUNT_BVH = "count_bvh": traverse, "query/count_state", query_per_ray, "query/sum_bvh";
    TRANSMITTANCE = "transmittance": brute_force, "query/transmittance_state", "query/sum";
    TRANSMITTANCE_BVH = "transmittance_bvh": traverse, "query/transmittance_state", query_per_ray, "query/sum_bvh";
    LIST = "list": brute_force, "intersect/double", "query/list_record", "query/list";
    LIST_BVH = "list_bvh": traverse, "intersect/double", "query/list_record", query_per_ray, "query/list_bvh";
    APPROACH = "approach": cull_blocks, "cull/brute_force", "query/approach_state", "query/approach";
    APPROACH_BVH = "approach_bvh": test_nodes, "query/approach_state", query_per_ray, "query/approach_bvh";
    APPROACH_FINALIZE = "approach_finalize": "records", "query/approach_finalize";
    RENDER = "render": intersect_at_rest, "query/closest_state", "cull/pair", "math/angles", "shadow/caps", "shadow/cones",
        "shadow/disc", "shadow/flux", "shadow/starfield", "shadow/projection", "shadow/shade", "shadow/lists", "shadow/render";
    RENDER_TREE = "render_tree": "records", "math/error_free", "math/float", "intersect/low_radius", "intersect/sphere",
        "intersect/classify", "intersect/double", "query/closest_state", "math/angles", "shadow/caps", "shadow/no_spheroids",
        "shadow/disc", "shadow/flux", "shadow/starfield", "shadow/projection", "shadow/shade", "shadow/tree", "shadow/render";
    VISIBILITY = "visibility": "math/angles", "shadow/caps", "shadow/cones", "shadow/disc", "shadow/flux", "shadow/visibility";
    RAYGEN = "raygen": "records", "math/error_free", "math/float", "raygen";
    PREPARE_RAYS = "prepare_rays": "records", "encode/task", "encode/usable_ray", "encode/validate_ray", "encode/prepare_rays";
    PREPARE_MOVING_RAYS = "prepare_moving_rays": "records", "encode/task", "encode/usable_ray", "encode/validate_ray",
        "encode/prepare_moving_rays";
    WRITE_RESULTS = "write_results": "records", "encode/task", "encode/write_results";
    ENCODED_CLOSEST = "encoded_closest": traverse, "query/closest_traversal", "encode/task", "encode/usable_ray", "encode/closest";
    COUNT_RAYS = "count_rays": "encode/count_rays";
    TAKE_SPHERES = "take_spheres": "encode/take_spheres";
    PROBE = "probe": intersect_at_rest, "intersect/double", query_per_ray, "probe";
    MORTON_CODES = "morton_codes": scene_frame, "build/morton_codes";
    RADIX_COUNT = "radix_count": "build/common", "build/radix_digit", "build/radix_count";
    RADIX_SCAN = "radix_scan": "build/common", "build/workgroup_scan", "build/radix_scan";
    RADIX_SCATTER = "radix_scatter": "build/common", "build/radix_digit", "build/radix_scatter";
    LEAF_ORDER = "leaf_order": "build/common", "build/leaf_order";
    LEAVES = "leaves": scene_frame, "build/aabb", "build/leaf_aabb", "build/leaves";
    AABB_REDUCE8 = "aabb_reduce8": scene_frame, "build/aabb", "build/aabb_reduce8";
    LEAF_MOTION = "leaf_motion": "records", "build/common", "build/leaf_motion";
    EMIT_NODES = "emit_nodes": pack_nodes, "build/workgroup_scan", "build/level_state", "build/emit_nodes";
    NEXT_LEVEL = "next_level": "build/common", "build/workgroup_scan", "build/level_state", "build/next_level";
    LINK_CHILDREN = "link_children": "build/common", "build/level_state", "build/link_children";
    REFIT = "refit": pack_nodes, "build/refit";
    SAH_COST = "sah_cost": "build/common", "build/sah_cost";
}

/// Variant of a program for a device on which the threads of a subgroup share their loads and loop counts.
pub(crate) fn with_shared_loads(source: &str) -> String {
    let source = source.replace(file!("cull/load"), file!("cull/load_subgroup"));
    source.replace(file!("traverse/lone_thread"), file!("traverse/subgroup"))
}

/// The stack of a traversal, with an entry per level that a BVH can have.
pub(crate) const STACK: &str = "var<private> stack: array<Siblings, 96>;";

/// Variant of a program for BVHs of at most `QBvh4::SHALLOW_LEVELS` levels. A thread keeps its stack in memory, clears all of it first, and
/// shares the cache with its neighbours: on an H100 a short stack makes a traversal a tenth faster. A shorter one gains little there, and
/// Mesa keeps arrays of up to 32 entries in registers, with 6 instead of 10 subgroups in flight on AMD GPUs.
pub(crate) fn with_short_stack(source: &str) -> String {
    source.replace(STACK, &STACK.replace("96", &QBvh4::SHALLOW_LEVELS.to_string()))
}

/// Variant of a program for bodies that are all spheres: a third of the source, and of the time to compile it.
pub(crate) fn without_spheroids(source: &str) -> String {
    source.replace(file!("shadow/cones"), file!("shadow/no_spheroids"))
}

/// Variant of a program for a light of uniform brightness, without the integral of limb darkening.
pub(crate) fn without_limb_darkening(source: &str) -> String {
    source.replace(file!("shadow/flux"), file!("shadow/uniform_light"))
}

/// A change of every program before it is compiled. Tests use it to inject faults, and measurements to compare variants.
#[doc(hidden)]
#[derive(Clone)]
pub enum ShaderEdit {
    /// Replaces the first text by the second.
    Text(&'static str, &'static str),
    /// Makes the program from its source. The first argument is different for every pipeline. Not in browsers, which take only text.
    #[allow(clippy::type_complexity, reason = "the arguments are described here")]
    #[cfg(not(target_arch = "wasm32"))]
    Module(std::sync::Arc<dyn Fn(&str, &str) -> wgpu::naga::Module + Send + Sync>),
    /// Lets wgpu add to each loop a counter that bounds it.
    BoundedLoops,
}

impl From<(&'static str, &'static str)> for ShaderEdit {
    fn from((from, to): (&'static str, &'static str)) -> Self {
        Self::Text(from, to)
    }
}

impl ShaderEdit {
    /// The changed program of a pipeline.
    #[cfg_attr(target_arch = "wasm32", expect(unused_variables, reason = "only modules depend on the pipeline"))]
    pub(crate) fn apply(&self, pipeline: Variant, source: &str) -> wgpu::ShaderSource<'static> {
        match self {
            Self::BoundedLoops => wgpu::ShaderSource::Wgsl(source.to_owned().into()),
            Self::Text(from, to) => wgpu::ShaderSource::Wgsl(source.replace(from, to).into()),
            #[cfg(not(target_arch = "wasm32"))]
            Self::Module(make) => {
                wgpu::ShaderSource::Naga(std::borrow::Cow::Owned(make(&format!("{pipeline:?}"), source)))
            }
        }
    }
}
