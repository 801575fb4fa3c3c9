//! Static tests of the shaders, without a GPU: every program is valid, browsers accept it, and its records have Rust's layout.

use std::collections::BTreeSet;
use std::io::Write;
use std::mem::offset_of;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use wgpu::naga;

use super::bvh::build::{BuildParams, LevelState};
use super::cast::raygen::RayGenParams;
use super::compiler_tests::variants;
use super::context::pipelines::KernelConstants;
use super::encode::pass::RayCount;
use super::encode::plan::Task;
use super::encode::resident::SphereTask;
use super::programs::{PROGRAMS, Program, SOLVE, with_shared_loads, without_limb_darkening, without_spheroids};
use super::uniforms::{ApproachState, ClosestState, CountState, Params};
use crate::records::{Approach, Hit, Interval, Ray, RayAttributes, Sphere};
use crate::shadow::gpu::tree::{BallNode, TreeBall, TreeBody};
use crate::shadow::gpu::uniforms::{
    CenterSample, Light, Occluder, Receiver, RenderUniforms, Shade, SurfacePattern, VisibilityParams, VisibilityQuery,
};

/// Memory layout of a record in Rust.
struct Layout {
    /// Its name in WGSL.
    name: &'static str,
    /// Size of a record in bytes, which is also the stride of an array.
    size: usize,
    /// Fields and their offsets in bytes.
    fields: Vec<(&'static str, usize)>,
}

macro_rules! layout {
    ($type:ident: $($field:ident),+) => {
        Layout {
            name: stringify!($type),
            size: size_of::<$type>(),
            fields: vec![$((stringify!($field), offset_of!($type, $field))),+],
        }
    };
}

/// Memory layouts of all records that are uploaded or read back.
fn layouts() -> Vec<Layout> {
    vec![
        layout!(Sphere: center, radius),
        layout!(Ray: origin, t_min, direction, t_max),
        layout!(Hit: t, id),
        layout!(Interval: t_enter, t_exit, id),
        layout!(Approach: t, clearance, id),
        layout!(ClosestState: t, low, high, rival, id, flags),
        layout!(ApproachState: t, clearance, low, high, rival, id),
        layout!(CountState: count, flags),
        Layout {
            size: RayAttributes::UPLOADED_BYTES,
            ..layout!(RayAttributes: mask, skip_id, time, radius, direction_low, moves_with_ray)
        },
        layout!(Params: ray_count, sphere_begin, sphere_end, first_id, inside, touch, ends, pairwise, fresh, zero, largest,
            scale, middle, far, sphere_count, steps, max_axis_ratio, mid_time, rays_at, out_at, status_at),
        layout!(Light: inverse_distance, ratio),
        layout!(Occluder: offset, along, radius, power, beyond, front, shape),
        layout!(Receiver: x, inverse_distance, y, ratio, z, first_list, columns, level, pattern, unused),
        layout!(SurfacePattern: x, swirl, y, first, z, count),
        layout!(RenderUniforms: size, first_pixel, pixels, half, within, right, pixel, up, stars, forward, exposure, light, ambient,
            background, light_id, projection, middle, fresh, first_list, columns, level, figures, nodes, limb),
        layout!(BallNode: bounds, first, count, size, unused),
        layout!(TreeBall: high, low),
        layout!(TreeBody: id, pattern, flags, unused),
        layout!(CenterSample: t, id, fraction, crowded),
        layout!(VisibilityQuery: light, first, count),
        layout!(Shade: fraction, kind),
        layout!(VisibilityParams: count, zero, limb),
        layout!(BuildParams: count, shift, begin, next, low, cells, middle, scale, jobs, zero, least, fastest, half),
        layout!(LevelState: begin, count, next, next_count, depth, unused, link_dispatch, emit_dispatch, levels),
        layout!(RayGenParams: kind, count, zero, columns, first_column, rows, first_row, rows_at, frames_at, radius, t_min, t_max,
            toward, unused),
        layout!(RayCount: count_at, most, rays_per_thread, rays_per_word),
        layout!(SphereTask: low, count, high, spheres_at),
        layout!(Task: count, rays_at, out_at, status_at, width, approach, times_at, last_time, time_from, time_to, moves_with_ray, lists_open, smallest, longest),
    ]
}

fn parse(name: &str, source: &str) -> naga::Module {
    naga::front::wgsl::parse_str(source).unwrap_or_else(|e| panic!("{name}: {}", e.emit_to_string(source)))
}

/// Validates a program that needs no more than these capabilities.
fn validate(name: &str, module: &naga::Module, capabilities: naga::valid::Capabilities) -> naga::valid::ModuleInfo {
    naga::valid::Validator::new(naga::valid::ValidationFlags::all(), capabilities)
        .subgroup_stages(naga::valid::ShaderStages::COMPUTE)
        .subgroup_operations(naga::valid::SubgroupOperationSet::all())
        .validate(module)
        .unwrap_or_else(|e| panic!("{name}: {e:?}"))
}

#[test]
fn every_program_is_valid_for_webgpu() {
    // No capability beyond WebGPU's core: no f64, no push constants, no subgroups.
    let core = naga::valid::Capabilities::empty();
    let mut used = BTreeSet::new();
    for program in PROGRAMS {
        let module = parse(program.name, &program.source());
        validate(program.name, &module, core);
        let [entry] = module.entry_points.as_slice() else { panic!("{}: expected one entry point", program.name) };
        assert_eq!(entry.name, "main");
        assert!(entry.workgroup_size.iter().product::<u32>() <= 256, "{}", program.name);
        let is_storage = |(_, v): &(_, &naga::GlobalVariable)| matches!(v.space, naga::AddressSpace::Storage { .. });
        let storage = module.global_variables.iter().filter(is_storage).count();
        assert!(storage <= 8, "{} binds {storage} storage buffers", program.name);
        used.insert(program.name);
        let round = without_spheroids(&program.source());
        for variant in [without_limb_darkening(&program.source()), without_limb_darkening(&round), round] {
            validate(&format!("a variant of {}", program.name), &parse(program.name, &variant), core);
        }
        // This variant is not for browsers, which require `enable subgroups;`.
        let shared = parse(program.name, &with_shared_loads(&program.source()));
        validate(&format!("{} with shared loads", program.name), &shared, naga::valid::Capabilities::SUBGROUP);
    }
    println!("{} programs", used.len());
    assert_eq!(used.len(), PROGRAMS.len());
    parse("SOLVE", SOLVE);
}

fn shaders(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { shaders(&path) } else { vec![path] }).collect()
}

#[test]
fn every_shader_file_belongs_to_a_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders");
    let files = shaders(&root);
    for path in &files {
        let text = std::fs::read_to_string(path).unwrap();
        let contains = |p: &Program| {
            let others = [with_shared_loads, without_spheroids, without_limb_darkening].map(|f| f(&p.source()));
            p.source().contains(&text) || others.iter().any(|source| source.contains(&text))
        };
        assert!(PROGRAMS.iter().any(contains), "{} is in no program", path.display());
    }
    assert!(files.len() > 70, "{} shaders were found", files.len());
}

/// Stores of a block, with those of the blocks inside it.
fn stores(block: &naga::Block) -> Vec<naga::Handle<naga::Expression>> {
    use naga::Statement as S;
    let of = |statement: &S| match statement {
        S::Store { pointer, .. } => vec![*pointer],
        S::Block(inner) => stores(inner),
        S::If { accept, reject, .. } => [stores(accept), stores(reject)].concat(),
        S::Switch { cases, .. } => cases.iter().flat_map(|case| stores(&case.body)).collect(),
        S::Loop { body, continuing, .. } => [stores(body), stores(continuing)].concat(),
        _ => Vec::new(),
    };
    block.iter().flat_map(of).collect()
}

/// FXC, the compiler of Direct3D 12 without DXC, refuses them.
#[test]
fn no_program_stores_to_a_vector_component_at_a_run_time_index() {
    let check = |name: &str, source: &str| {
        let module = parse(name, source);
        let info = validate(name, &module, naga::valid::Capabilities::all());
        let named = module.functions.iter().map(|(handle, function)| (function, &info[handle]));
        let entries =
            module.entry_points.iter().enumerate().map(|(i, entry)| (&entry.function, info.get_entry_point(i)));
        for (function, info) in named.chain(entries) {
            for pointer in stores(&function.body) {
                if let naga::Expression::Access { base, .. } = function.expressions[pointer] {
                    let is_vector = match info[base].ty.inner_with(&module.types) {
                        naga::TypeInner::Pointer { base, .. } => {
                            matches!(module.types[*base].inner, naga::TypeInner::Vector { .. })
                        }
                        naga::TypeInner::ValuePointer { size, .. } => size.is_some(),
                        _ => false,
                    };
                    assert!(!is_vector, "{name}: {:?}", function.name);
                }
            }
        }
    };
    PROGRAMS.iter().for_each(|program| check(program.name, &program.source()));
}

/// The largest array of these numbers of elements that FXC fills with zeros in a reasonable time.
const LARGEST_ZERO: usize = 96;

/// Runs a compiler on a shader. `None` if it is not installed.
fn run(tool: &str, arguments: &[&str], files: &[&Path]) -> Option<()> {
    let done = match Command::new(tool).args(arguments).args(files).output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        done => done.unwrap(),
    };
    let printed = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{tool} {}: {printed}", files[0].display());
    Some(())
}

/// What a browser, Metal and Direct3D compile. wgpu writes MSL and HLSL only on their systems, so the tests use the programs of naga, of the
/// same version, and of tint, Chrome's compiler, where they are installed.
#[test]
fn other_compilers_accept_every_variant() {
    let folder = std::env::temp_dir().join(format!("umbracast-shaders-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let number = AtomicUsize::new(0);
    let task = |(name, (program, own)): (String, (&Program, KernelConstants))| {
        let number = number.fetch_add(1, Ordering::Relaxed);
        let [wgsl, metal, hlsl] = ["wgsl", "metal", "hlsl"].map(|kind| folder.join(format!("{number}.{kind}")));
        std::fs::write(&wgsl, &*own.source(program.source().into())).unwrap();
        let set: Vec<_> = own.set().iter().map(|(name, value)| (*name, *value as u32)).collect();
        let joined = |value: fn(u32) -> String| {
            Vec::from_iter(set.iter().map(|(name, number)| format!("{name}={}", value(*number)))).join(",")
        };
        let overrides = joined(|value| value.to_string());
        // It writes WGSL again; what it refuses, a browser refuses.
        let mut arguments = vec!["-o", "/dev/null", "--format", "wgsl"];
        if !set.is_empty() {
            arguments.extend(["--overrides", &overrides]);
        }
        let tint = run("tint", &arguments, &[&wgsl]);
        let mut arguments = vec!["--shader-model", "51", "--metal-version", "2.0"];
        if !set.is_empty() {
            arguments.extend(["--override", &overrides]);
        }
        let naga = run("naga", &arguments, &[&wgsl, &metal, &hlsl]);
        if naga.is_some() {
            assert!(std::fs::read_to_string(&metal).unwrap().contains("kernel void"), "{name}");
            let hlsl = std::fs::read_to_string(&hlsl).unwrap();
            let shared: Vec<_> = hlsl.lines().filter(|line| line.starts_with("groupshared")).collect();
            for line in hlsl.lines() {
                let Some((before, _)) = line.split_once("])0") else { continue };
                let zeros: usize = before.rsplit('[').next().unwrap().parse().unwrap();
                // wgpu is asked not to fill the workgroup's memory, but the program of naga has no such option.
                let variable = line.split_whitespace().next().unwrap();
                let is_shared = shared.iter().any(|declared| declared.contains(variable));
                assert!(zeros <= LARGEST_ZERO || is_shared, "{name}: FXC fills {zeros} elements with zeros");
            }
        }
        (tint.is_none(), naga.is_none())
    };
    // On a device that rounds correctly, programs correct nothing.
    let correct = |own| KernelConstants { rounds_correctly: true, ..own };
    let mut seen = BTreeSet::new();
    let both = variants().into_iter().flat_map(|(name, (program, own))| {
        [own, correct(own).of_program(&program.source())].map(|own| (name.clone(), (program, own)))
    });
    let all: Vec<_> = both.filter(|(_, (program, own))| seen.insert((program.name, format!("{own:?}")))).collect();
    let missing = crate::runtime::map_tasks(all.into_iter(), task);
    std::fs::remove_dir_all(&folder).unwrap();
    for (tool, missing) in [("tint", missing[0].0), ("naga", missing[0].1)] {
        if missing {
            // Written directly to stderr, which the test harness does not capture: a test that checks nothing must report this.
            let _ = writeln!(std::io::stderr(), "NOT TESTED: shaders with {tool}, because it is not installed");
        }
    }
}

fn without_comments(source: &str) -> String {
    source.lines().map(|line| line.split("//").next().unwrap_or("").to_owned() + "\n").collect()
}

#[test]
fn no_program_uses_features_that_browsers_refuse() {
    for program in PROGRAMS {
        let code = without_comments(&program.source());
        for word in
            ["enable ", "f64", "i64", "u64", "subgroup", "push_constant", "immediate", "ptr<storage", "binding_array"]
        {
            assert!(!code.contains(word), "{} contains '{word}'", program.name);
        }
        // Infinities and NaN are written as bits; shaders must not compute with them.
        for word in ["1.0 / 0.0", "bitcast<f32>(0x7f8", "bitcast<f32>(INFINITY"] {
            assert!(!code.contains(word), "{} contains '{word}'", program.name);
        }
    }
}

#[test]
fn records_have_the_same_layout_on_both_sides() {
    let mut compared = BTreeSet::new();
    for program in PROGRAMS {
        let module = parse(program.name, &program.source());
        let mut layouter = naga::proc::Layouter::default();
        layouter.update(module.to_ctx()).unwrap();
        for layout in layouts() {
            let found = module.types.iter().find(|(_, t)| t.name.as_deref() == Some(layout.name));
            let Some((handle, ty)) = found else { continue };
            let naga::TypeInner::Struct { members, .. } = &ty.inner else { panic!("{} is not a struct", layout.name) };
            let theirs: Vec<(String, usize)> =
                members.iter().map(|m| (m.name.clone().unwrap_or_default(), m.offset as usize)).collect();
            let ours: Vec<(String, usize)> = layout.fields.iter().map(|(n, o)| (n.to_string(), *o)).collect();
            assert_eq!(theirs, ours, "{} in {}", layout.name, program.name);
            assert_eq!(layouter[handle].to_stride() as usize, layout.size, "{} in {}", layout.name, program.name);
            compared.insert(layout.name);
        }
    }
    assert_eq!(compared.len(), layouts().len(), "compared only {compared:?}");
}
