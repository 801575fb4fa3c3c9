//! The shaders as text: for anybody's pipeline, and for the test that parses them all.

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
pub const SOLVE: &str = join!("records", "pairs", "still", "solve", "decide");

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
    CLOSEST = "closest": "records", "pairs", "solve", "moving", "mapped", "decide", "cast", "line", "load", "blocks", "brought", "meet", "search", "closest";
    CLOSEST_WALK = "closest_walk": "records", "pairs", "solve", "moving", "mapped", "decide", "cast", "line", "course", "quad", "group", "brought", "waiting", "trail",
        "passing", "walk", "closest_walk";
    HITS = "hits": "records", "pairs", "solve", "moving", "mapped", "decide", "double", "cast", "brought", "hits";
    INTERVALS = "intervals": "records", "pairs", "solve", "moving", "mapped", "decide", "double", "cast", "brought", "intervals";
    OCCLUDED = "occluded": "records", "pairs", "solve", "moving", "mapped", "decide", "cast", "line", "bits", "group", "load", "blocks", "brought", "meet", "occluded";
    OCCLUDED_WALK = "occluded_walk": "records", "pairs", "solve", "moving", "mapped", "decide", "cast", "line", "course", "quad", "group", "brought", "waiting", "trail",
        "passing", "walk", "bits", "occluded_walk";
    COUNT = "count": "records", "pairs", "solve", "moving", "mapped", "decide", "cast", "line", "load", "blocks", "brought", "meet", "search", "counted", "count";
    COUNT_WALK = "count_walk": "records", "pairs", "solve", "moving", "mapped", "decide", "cast", "line", "course", "quad", "group", "brought", "waiting", "trail",
        "passing", "walk", "counted", "count_walk";
    LIST_ALL = "list_all": "records", "pairs", "solve", "moving", "mapped", "decide", "double", "cast", "line", "load", "blocks", "brought", "meet", "search", "list", "list_all";
    LIST_WALK = "list_walk": "records", "pairs", "solve", "moving", "mapped", "decide", "double", "cast", "line", "course", "quad", "group", "brought", "waiting", "trail",
        "passing", "walk", "list", "list_walk";
    APPROACH = "approach": "records", "pairs", "solve", "moving", "mapped", "decide", "cast", "line", "load", "blocks", "brought", "nearer", "search", "approach";
    APPROACH_WALK = "approach_walk": "records", "pairs", "solve", "moving", "mapped", "decide", "cast", "line", "course", "quad", "group", "brought", "nearer", "waiting", "trail",
        "approach_walk";
    APPROACHES = "approaches": "records", "approaches";
    PICTURE = "picture": "records", "pairs", "still", "solve", "decide", "cast", "filter", "angles", "caps", "cones", "coverage", "stars",
        "paint", "picture";
    COVERAGE_ROWS = "coverage_rows": "angles", "caps", "cones", "coverage", "coverage_rows";
    NAIVE = "naive": "records", "pairs", "still", "solve", "decide", "cast", "naive";
    EMIT = "emit": "records", "pairs", "emit";
    ADMIT = "admit": "records", "task", "usable", "admit";
    ADMIT_MOVING = "admit_moving": "records", "task", "usable", "admit_moving";
    DELIVER = "deliver": "records", "task", "deliver";
    PROBE = "probe": "records", "pairs", "still", "solve", "probe";
    TREE_KEYS = "tree_keys": "records", "pairs", "tree", "tree_frame", "tree_keys";
    TREE_COUNT = "tree_count": "tree", "tree_digit", "tree_count";
    TREE_SCAN = "tree_scan": "tree", "tree_sum", "tree_scan";
    TREE_SCATTER = "tree_scatter": "tree", "tree_digit", "tree_scatter";
    TREE_ORDER = "tree_order": "tree", "tree_order";
    TREE_LEAVES = "tree_leaves": "records", "pairs", "tree", "tree_frame", "tree_bounds", "tree_reach", "tree_leaves";
    TREE_BOXES = "tree_boxes": "records", "pairs", "tree", "tree_frame", "tree_bounds", "tree_boxes";
    TREE_WAYS = "tree_ways": "records", "tree", "tree_ways";
    TREE_OPEN = "tree_open": "records", "pairs", "tree", "tree_frame", "tree_bounds", "tree_reach", "tree_range", "tree_pack", "tree_sum",
        "tree_control", "tree_open";
    TREE_LEVEL = "tree_level": "tree", "tree_sum", "tree_control", "tree_level";
    TREE_NUMBER = "tree_number": "tree", "tree_control", "tree_number";
    TREE_REFIT = "tree_refit": "records", "pairs", "tree", "tree_frame", "tree_bounds", "tree_reach", "tree_range", "tree_pack",
        "tree_refit";
    TREE_COST = "tree_cost": "tree", "tree_cost";
}

/// The same program for a device whose subgroups share what they load and know.
pub fn with_shared_loads(source: &str) -> String {
    source
        .replace(include_str!("../../shaders/load.wgsl"), include_str!("../../shaders/load_shared.wgsl"))
        .replace(include_str!("../../shaders/group.wgsl"), include_str!("../../shaders/group_shared.wgsl"))
}

/// The same program for bodies all of which are round: a third of the text, and of the time to compile it.
pub fn without_spheroids(source: &str) -> String {
    source.replace(include_str!("../../shaders/cones.wgsl"), include_str!("../../shaders/round.wgsl"))
}
