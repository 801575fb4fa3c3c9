//! The compute programs: each is a list of files of `shaders/`, joined in order.

/// Joins files of the folder `shaders`, in order.
macro_rules! join {
    ($($name:literal),+ $(,)?) => { concat!($(include_str!(concat!("../../shaders/", $name, ".wgsl")), "\n"),+) };
}

/// The documented solve, as WGSL to stand before a kernel of your own: records, error-free transforms, both roots, policies.
///
/// ```wgsl
/// @compute @workgroup_size(64)
/// fn mine(@builtin(global_invocation_id) id: vec3<u32>) {
///   zero = settings.y; // a 0 that comes from a buffer, in every entry point, first of all
///   let solved = solve_standard(scale(rays[id.x], spheres[id.x]));
///   let verdict = decide(solved, rays[id.x], Policies(INSIDE_ENTER, 0u, 0u), false);
///   if (verdict.met == YES) { use_it(verdict.t); }
/// }
/// ```
///
/// `examples/solve_in_your_shader.rs` is such a kernel in a pipeline of its own, checked against [`ray.hit`](crate::Ray::hit).
/// No feature and no limit beyond WebGPU's own is needed, and nothing is bound.
///
/// What it brings, in this order:
///
/// | name | what |
/// |---|---|
/// | `Sphere`, `Ray`, `Hit`, `Interval`, `Approach` | the [records](crate::Sphere), laid out as in Rust; `Hit` and its like hold bits (`u32`), since a miss is an infinity, with which no shader may compute |
/// | `NO_SPHERE`, `FAR`, `INFINITY_BITS`, `reported(x)` | the id of a miss; the largest f32; the bits of a miss; the bits of a result, those of ±∞ from ±`FAR` on |
/// | `zero` | the private variable that keeps compilers from simplifying the error terms away: plain ones become 0 on Mesa |
/// | `two_sum`, `quick_two_sum`, `two_product` | a sum or product and its error, as `vec2(value, error)` |
/// | `scale(ray, sphere)` → `Scaled` | the pair scaled by exact powers of two: from here on nothing overflows |
/// | `solve_fast(scaled)`, `solve_standard(scaled)` → `Solved` | `disc`, below 0 a miss and 0 tangent, certain above `disc_bound`; `t_enter`, `t_exit` with `enter_bound`, `exit_bound`; all in units of the ray's direction as given, saturating at ±`FAR` |
/// | `solve_approach(scaled, t_min, t_max)` → `vec2(t, clearance)` | the nearest pass within the ends |
/// | `clearance_at(scaled, t)` | the distance to the surface at `t` |
/// | `decide(solved, ray, policies, doubtful)` → `Verdict` | `met`: `YES`, `NO`, or `BEYOND` where the root exceeds f32; and, only with `doubtful`, `MAYBE` where the bounds prove neither. `t`, valid with `YES`; it lies in `low..=high` |
/// | `Policies(inside, touch, ends)` | `INSIDE_ENTER`, `INSIDE_EXIT` or `INSIDE_IGNORE`; 0 or `TOUCH_MISS`; 0 or `ENDS_HALF_OPEN` |
///
/// `Scaled`, `Foot`, `Best`, `Nearest`, `Params` and the `TAG_…` and `BEST_…` constants are there too, without a promise to stay.
///
/// What must hold: `center`, `radius`, `origin` and `direction` are finite, the radius is not negative, the direction not zero
/// ([`check_sphere`](crate::check_sphere), [`check_ray`](crate::check_ray)); infinite ends are replaced by ±`FAR`. Otherwise what
/// comes out means nothing, but nothing loops or traps.
///
/// What is promised, u = 2⁻²⁴, E the distance from origin to centre, r the radius, h the half chord: the flag of `solve_fast` where
/// |disc| says so outside 32 u (1 + E/r) of tangency, its roots within |δt|·|d| ≤ 32 u (E + r + E·r/h), on every device; the flag
/// of `solve_standard` outside 2⁻⁴⁰ (1 + E/r), its roots within 8 u (|t|·|d| + r·r/h), on devices whose [`Probe`](crate::Probe)
/// passes: `Device::from_wgpu(device, queue)` runs it on a device of yours, and [`Device::probe`](crate::Device::probe) says
/// what it found.
pub const SOLVE: &str =
    join!("records", "math/error_free", "intersect/no_motion", "intersect/sphere", "intersect/classify");

macro_rules! programs {
    ($($constant:ident = $name:literal: $($file:literal),+;)+) => {
        $(pub(crate) const $constant: Program = Program { name: $name, source: join!($($file),+) };)+
        /// Every program the library runs.
        pub const PROGRAMS: &[Program] = &[$($constant),+];
    };
}

/// A compute program: its name and its whole text, with one entry point `main`.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// The file that holds the entry point, without its extension.
    pub name: &'static str,
    /// The text.
    pub source: &'static str,
}

programs! {
    CLOSEST = "closest": "records", "math/error_free", "intersect/sphere", "intersect/motion", "intersect/ellipsoid",
        "intersect/classify", "query/closest_state", "cull/ray_line", "cull/load", "cull/blocks", "intersect/attributes",
        "cull/block_hits", "cull/brute_force", "query/closest";
    CLOSEST_BVH = "closest_bvh": "records", "math/error_free", "intersect/sphere", "intersect/motion", "intersect/ellipsoid",
        "intersect/classify", "query/closest_state", "cull/ray_line", "traverse/ray_setup", "traverse/qnode",
        "traverse/lone_thread", "intersect/attributes", "traverse/deferred_hits", "traverse/stack", "traverse/leaf",
        "traverse/traverse", "query/closest_bvh";
    CLOSEST_FINALIZE = "closest_finalize": "records", "math/error_free", "intersect/sphere", "intersect/motion",
        "intersect/ellipsoid", "intersect/classify", "intersect/double", "query/closest_state", "intersect/attributes",
        "query/closest_finalize";
    INTERVAL_FINALIZE = "interval_finalize": "records", "math/error_free", "intersect/sphere", "intersect/motion",
        "intersect/ellipsoid", "intersect/classify", "intersect/double", "query/closest_state", "intersect/attributes",
        "query/interval_finalize";
    OCCLUDED = "occluded": "records", "math/error_free", "intersect/sphere", "intersect/motion", "intersect/ellipsoid",
        "intersect/classify", "query/closest_state", "cull/ray_line", "query/occluded_state", "traverse/lone_thread", "cull/load",
        "cull/blocks", "intersect/attributes", "cull/block_hits", "query/occluded";
    OCCLUDED_BVH = "occluded_bvh": "records", "math/error_free", "intersect/sphere", "intersect/motion", "intersect/ellipsoid",
        "intersect/classify", "query/closest_state", "cull/ray_line", "traverse/ray_setup", "traverse/qnode",
        "traverse/lone_thread", "intersect/attributes", "traverse/deferred_hits", "traverse/stack", "traverse/leaf",
        "traverse/traverse", "query/occluded_state", "query/occluded_bvh";
    COUNT = "count": "records", "math/error_free", "intersect/sphere", "intersect/motion", "intersect/ellipsoid",
        "intersect/classify", "query/closest_state", "cull/ray_line", "cull/load", "cull/blocks", "intersect/attributes",
        "cull/block_hits", "cull/brute_force", "query/count_state", "query/count";
    COUNT_BVH = "count_bvh": "records", "math/error_free", "intersect/sphere", "intersect/motion", "intersect/ellipsoid",
        "intersect/classify", "query/closest_state", "cull/ray_line", "traverse/ray_setup", "traverse/qnode",
        "traverse/lone_thread", "intersect/attributes", "traverse/deferred_hits", "traverse/stack", "traverse/leaf",
        "traverse/traverse", "query/count_state", "query/count_bvh";
    LIST = "list": "records", "math/error_free", "intersect/sphere", "intersect/motion", "intersect/ellipsoid",
        "intersect/classify", "intersect/double", "query/closest_state", "cull/ray_line", "cull/load", "cull/blocks",
        "intersect/attributes", "cull/block_hits", "cull/brute_force", "query/list_record", "query/list";
    LIST_BVH = "list_bvh": "records", "math/error_free", "intersect/sphere", "intersect/motion", "intersect/ellipsoid",
        "intersect/classify", "intersect/double", "query/closest_state", "cull/ray_line", "traverse/ray_setup", "traverse/qnode",
        "traverse/lone_thread", "intersect/attributes", "traverse/deferred_hits", "traverse/stack", "traverse/leaf",
        "traverse/traverse", "query/list_record", "query/list_bvh";
    APPROACH = "approach": "records", "math/error_free", "intersect/sphere", "intersect/motion", "intersect/ellipsoid",
        "intersect/classify", "query/closest_state", "cull/ray_line", "cull/load", "cull/blocks", "intersect/attributes",
        "query/approach_state", "cull/brute_force", "query/approach";
    APPROACH_BVH = "approach_bvh": "records", "math/error_free", "intersect/sphere", "intersect/motion", "intersect/ellipsoid",
        "intersect/classify", "query/closest_state", "cull/ray_line", "traverse/ray_setup", "traverse/qnode",
        "traverse/lone_thread", "intersect/attributes", "query/approach_state", "traverse/deferred_hits", "traverse/stack",
        "query/approach_bvh";
    APPROACH_FINALIZE = "approach_finalize": "records", "query/approach_finalize";
    RENDER = "render": "records", "math/error_free", "intersect/no_motion", "intersect/sphere", "intersect/classify",
        "query/closest_state", "cull/pair", "math/angles", "shadow/caps", "shadow/cones", "shadow/disc", "shadow/starfield",
        "shadow/shade", "shadow/render";
    VISIBILITY = "visibility": "math/angles", "shadow/caps", "shadow/cones", "shadow/disc", "shadow/visibility";
    NAIVE = "naive": "records", "math/error_free", "intersect/no_motion", "intersect/sphere", "intersect/classify",
        "query/closest_state", "query/naive";
    RAYGEN = "raygen": "records", "math/error_free", "raygen";
    PREPARE_RAYS = "prepare_rays": "records", "encode/task", "encode/validate_ray", "encode/prepare_rays";
    PREPARE_MOVING_RAYS = "prepare_moving_rays": "records", "encode/task", "encode/validate_ray", "encode/prepare_moving_rays";
    WRITE_RESULTS = "write_results": "records", "encode/task", "encode/write_results";
    PROBE = "probe": "records", "math/error_free", "intersect/no_motion", "intersect/sphere", "probe";
    MORTON_CODES = "morton_codes": "records", "math/error_free", "build/common", "build/scene_frame", "build/morton_codes";
    RADIX_COUNT = "radix_count": "build/common", "build/radix_digit", "build/radix_count";
    RADIX_SCAN = "radix_scan": "build/common", "build/workgroup_scan", "build/radix_scan";
    RADIX_SCATTER = "radix_scatter": "build/common", "build/radix_digit", "build/radix_scatter";
    LEAF_ORDER = "leaf_order": "build/common", "build/leaf_order";
    LEAVES = "leaves": "records", "math/error_free", "build/common", "build/scene_frame", "build/aabb", "build/leaf_aabb",
        "build/leaves";
    AABB_REDUCE8 = "aabb_reduce8": "records", "math/error_free", "build/common", "build/scene_frame", "build/aabb",
        "build/aabb_reduce8";
    LEAF_MOTION = "leaf_motion": "records", "build/common", "build/leaf_motion";
    EMIT_NODES = "emit_nodes": "records", "math/error_free", "build/common", "build/scene_frame", "build/aabb", "build/leaf_aabb",
        "build/range_aabb", "build/pack_node", "build/workgroup_scan", "build/level_state", "build/emit_nodes";
    NEXT_LEVEL = "next_level": "build/common", "build/workgroup_scan", "build/level_state", "build/next_level";
    LINK_CHILDREN = "link_children": "build/common", "build/level_state", "build/link_children";
    REFIT = "refit": "records", "math/error_free", "build/common", "build/scene_frame", "build/aabb", "build/leaf_aabb",
        "build/range_aabb", "build/pack_node", "build/refit";
    SAH_COST = "sah_cost": "build/common", "build/sah_cost";
}

/// The same program for a device whose subgroups share what they load and know.
pub fn with_shared_loads(source: &str) -> String {
    source
        .replace(include_str!("../../shaders/cull/load.wgsl"), include_str!("../../shaders/cull/load_subgroup.wgsl"))
        .replace(
            include_str!("../../shaders/traverse/lone_thread.wgsl"),
            include_str!("../../shaders/traverse/subgroup.wgsl"),
        )
}

/// The same program for bodies all of which are round: a third of the text, and of the time to compile it.
pub fn without_spheroids(source: &str) -> String {
    source.replace(
        include_str!("../../shaders/shadow/cones.wgsl"),
        include_str!("../../shaders/shadow/no_spheroids.wgsl"),
    )
}
