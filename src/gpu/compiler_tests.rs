//! What the compiler of AMD GPUs makes of every program and variant: registers, subgroups in flight, scratch memory, instructions and
//! code size. These decide the speed on a GPU, and no software adapter shows them.
//!
//! Mesa's driver RADV compiles for a GPU that is not there, and writes the statistics of each pipeline to stderr. wgpu's Vulkan backend
//! makes the pipelines, so the code is what a user's GPU gets. (wgpu itself cannot open such a device, because it submits work at once.)
//!
//! `tests/data/gpu_compiler.tsv` contains the statistics and the version of Mesa that they are valid for. The test fails at any
//! difference. To update the table, find out why the statistics changed, run
//! `UMBRACAST_BLESS=1 cargo test --release -p umbracast --lib compiler`
//! and commit the file with the reason.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::process::Command;

use wgpu::hal::{self, Adapter as _, Device as _};
use wgpu::naga;

// No Vulkan driver, no driver file: the test ends before it opens a device.
#[cfg(target_vendor = "apple")]
use wgpu::hal::api::Noop as Vulkan;
#[cfg(not(target_vendor = "apple"))]
use wgpu::hal::api::Vulkan;

use super::context::adapters::{adapters, required_features, required_limits};
use super::context::pipelines::{KernelConstants, cast_bindings};
use super::programs::{PROBE, PROGRAMS, Program, RENDER, RENDER_TREE, VISIBILITY};

/// NAVI21 (RDNA 2), and the largest GPU of the newest generation that Mesa 22.3 knows (RDNA 3).
const FAMILIES: [&str; 2] = ["navi21", "gfx1100"];

/// RADV's names of the statistics, and the columns of the table.
const STATISTICS: [(&str, &str); 5] = [
    ("VGPRs", "vgprs"),
    ("Subgroups per SIMD", "subgroups_per_simd"),
    ("Scratch size", "scratch_bytes_per_subgroup"),
    ("Instructions", "instructions"),
    ("Code size", "code_bytes"),
];

/// Set for the child process. RADV chooses the GPU when it is loaded, and other tests of this process load other drivers.
const CHILD: &str = "UMBRACAST_TEST_RADV";
/// Begin the lines of the child process.
const MESA: &str = "made by: ";
const VARIANT: &str = "variant: ";

/// Every program with the constants that its callers set on a device that passes the probe, by name. The device does not round quotients and
/// roots correctly, as GPUs do not.
pub(super) fn variants() -> BTreeMap<String, (&'static Program, KernelConstants)> {
    let standard = KernelConstants::default();
    let exact = KernelConstants { exact: true, ..standard };
    let fast = KernelConstants { fast: true, ..standard };
    let mut found = BTreeMap::new();
    for program in PROGRAMS {
        let mut asked = Vec::new();
        for own in [standard, exact, fast] {
            let shaped_rays = KernelConstants { has_motion_or_shape: true, ..own };
            let moving = KernelConstants { has_sphere_attributes: true, ..shaped_rays };
            for own in [own, shaped_rays, moving, KernelConstants { has_ellipsoids: true, ..moving }] {
                for (has_filters, has_transmittances) in [(false, false), (false, true), (true, false), (true, true)] {
                    asked.push(KernelConstants { has_filters, has_transmittances, ..own });
                }
            }
        }
        // Pictures and visible fractions.
        let uniform_light = KernelConstants { uniform_light: true, ..standard };
        let round = |own| KernelConstants { round: true, ..own };
        match program.name {
            name if name == RENDER.name || name == VISIBILITY.name => {
                asked = vec![standard, uniform_light, round(standard), round(uniform_light)];
            }
            name if name == RENDER_TREE.name => asked = vec![standard, uniform_light],
            _ => {}
        }
        for own in asked {
            let own = own.of_program(&program.source());
            let overrides = own.set().into_iter().map(|(name, _)| name);
            let parts = [(own.round, "round"), (own.uniform_light, "uniform_light")];
            let parts = parts.into_iter().filter_map(|(left_out, name)| left_out.then_some(name));
            let words: Vec<_> = std::iter::once(program.name).chain(overrides).chain(parts).collect();
            found.insert(words.join(" "), (program, own));
        }
    }
    found
}

/// The bindings of a pipeline: those of a cast, or those that the program uses, as wgpu derives them.
fn bindings(
    program: &Program,
    module: &naga::Module,
    info: &naga::valid::ModuleInfo,
) -> Vec<wgpu::BindGroupLayoutEntry> {
    // Besides the programs of a cast, only those of pictures and the probe declare overrides.
    if program.source().contains("\noverride ") && ![RENDER.name, RENDER_TREE.name, PROBE.name].contains(&program.name)
    {
        return cast_bindings().to_vec();
    }
    let used = module.global_variables.iter().filter(|(handle, _)| !info.get_entry_point(0)[*handle].is_empty());
    let bound = used.filter_map(|(_, variable)| Some((variable.binding?, variable.space)));
    let entry = |(at, space): (naga::ResourceBinding, _)| {
        assert_eq!(at.group, 0, "{}", program.name);
        let ty = match space {
            naga::AddressSpace::Storage { access } => {
                wgpu::BufferBindingType::Storage { read_only: access == naga::StorageAccess::LOAD }
            }
            _ => wgpu::BufferBindingType::Uniform,
        };
        wgpu::BindGroupLayoutEntry {
            binding: at.binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
            count: None,
        }
    };
    let mut entries: Vec<_> = bound.map(entry).collect();
    entries.sort_by_key(|entry| entry.binding);
    entries
}

/// In the child process: makes every pipeline.
fn compile() {
    let adapters = pollster::block_on(adapters());
    let Some(adapter) = adapters.iter().find(|adapter| adapter.get_info().driver == "radv") else { return };
    eprintln!("{MESA}{}", adapter.get_info().driver_info);
    // SAFETY: nothing of the adapter is destroyed.
    let raw = unsafe { adapter.as_hal::<Vulkan>() }.expect("a Vulkan adapter");
    // SAFETY: the features and limits are the adapter's own.
    let opened =
        unsafe { raw.open(required_features(adapter), &required_limits(adapter), &wgpu::MemoryHints::default()) };
    // The process ends soon: nothing is destroyed.
    let device = &std::mem::ManuallyDrop::new(opened.unwrap()).device;
    for (name, (program, own)) in variants() {
        let module = naga::front::wgsl::parse_str(&own.source(program.source().into())).unwrap();
        let info = naga::valid::Validator::new(naga::valid::ValidationFlags::all(), naga::valid::Capabilities::empty())
            .validate(&module)
            .unwrap();
        let entries = bindings(program, &module, &info);
        let constants = own.set().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        eprintln!("{VARIANT}{name}");
        // SAFETY: the device is open, the module is valid, and the layout has its bindings.
        unsafe {
            let group = device.create_bind_group_layout(&hal::BindGroupLayoutDescriptor {
                label: None,
                flags: hal::BindGroupLayoutFlags::empty(),
                entries: &entries,
            });
            let layout = device.create_pipeline_layout(&hal::PipelineLayoutDescriptor {
                label: None,
                flags: hal::PipelineLayoutFlags::empty(),
                bind_group_layouts: &[Some(&group.unwrap())],
                immediate_size: 0,
            });
            let shader = hal::NagaShader { module: Cow::Owned(module), info, debug_source: None };
            let checked = wgpu::ShaderRuntimeChecks::checked();
            let shader = device.create_shader_module(
                &hal::ShaderModuleDescriptor { label: None, runtime_checks: checked },
                hal::ShaderInput::Naga(shader),
            );
            let pipeline = device.create_compute_pipeline(&hal::ComputePipelineDescriptor {
                label: None,
                layout: &layout.unwrap(),
                stage: hal::ProgrammableStage {
                    module: &shader.unwrap(),
                    entry_point: "main",
                    constants: &constants,
                    zero_initialize_workgroup_memory: false,
                },
                cache: None,
            });
            pipeline.unwrap_or_else(|e| panic!("{name}: {e}"));
        }
    }
}

/// Compiles for a family in a child process. Returns Mesa's version, and a row of the table for each variant; None if there is no adapter,
/// or if Mesa has another version than `recorded` and fails.
fn compiled(family: &str, drivers: &str, recorded: &str) -> Option<(String, Vec<String>)> {
    let (_, module) = module_path!().split_once("::").unwrap();
    let done = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("{module}::{TEST}"), "--nocapture", "--test-threads=1"])
        .envs([(CHILD, "1"), ("RADV_FORCE_FAMILY", family), ("RADV_DEBUG", "nocache,shaderstats")])
        // The second name is that of older loaders.
        .envs([("VK_DRIVER_FILES", drivers), ("VK_ICD_FILENAMES", drivers), ("NODEVICE_SELECT", "1")])
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&done.stderr);
    if !done.status.success() {
        assert!(!printed.contains(recorded), "{family}: {}\n{printed}", String::from_utf8_lossy(&done.stdout));
        return None;
    }
    let (_, printed) = printed.split_once(MESA)?;
    let mut parts = printed.split(VARIANT);
    let mesa = parts.next().unwrap().lines().next().unwrap().to_owned();
    let row = |part: &str| {
        let value = |name: &str| part.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        let values = STATISTICS.map(|(statistic, _)| value(statistic).unwrap_or("?"));
        format!("{family}\t{}\t{}", part.lines().next().unwrap(), values.join("\t"))
    };
    Some((mesa, parts.map(row).collect()))
}

/// What differs between two tables, a line each.
fn differences(before: &str, now: &str) -> String {
    let rows = |table: &str| -> BTreeMap<String, Vec<String>> {
        let cells = table.lines().skip(2).map(|line| line.split('\t').map(str::to_owned).collect::<Vec<_>>());
        cells.map(|cells| (cells[..2].join(", "), cells[2..].to_vec())).collect()
    };
    let (before, now) = (rows(before), rows(now));
    let mut different = String::new();
    for name in before.keys().chain(now.keys()).collect::<BTreeSet<_>>() {
        let what = match (before.get(name), now.get(name)) {
            (Some(before), Some(now)) => {
                let values = STATISTICS.iter().zip(before.iter().zip(now)).filter(|(_, (before, now))| before != now);
                let changes = values.map(|((_, column), (before, now))| format!("{column} {before} before, {now} now"));
                changes.collect::<Vec<_>>().join("; ")
            }
            (None, _) => "not in the table".into(),
            (_, None) => "in the table, but no program has this variant".into(),
        };
        if !what.is_empty() {
            different += &format!("  {name}: {what}\n");
        }
    }
    different
}

const TEST: &str = "no_kernel_changes_on_amd_gpus_unnoticed";

#[test]
fn no_kernel_changes_on_amd_gpus_unnoticed() {
    if std::env::var_os(CHILD).is_some() {
        return compile();
    }
    let not_tested = |why: &str| {
        // Written directly to stderr, which the test harness does not capture: a test that checks nothing must report this.
        let _ = writeln!(std::io::stderr(), "NOT TESTED: kernels on AMD GPUs, because {why}");
    };
    let missing = "Mesa's RADV is missing or fails (apt-get install mesa-vulkan-drivers libvulkan1)";
    let folders = ["/usr/share/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/etc/vulkan/icd.d"];
    let files = folders.into_iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten();
    let files = files.map(|file| file.unwrap().path().display().to_string());
    let drivers: Vec<String> = files.filter(|path| path.contains("/radeon_icd") && path.ends_with(".json")).collect();
    if drivers.is_empty() {
        return not_tested(missing);
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/gpu_compiler.tsv");
    let blesses = std::env::var_os("UMBRACAST_BLESS").is_some();
    if !path.exists() && !blesses {
        return not_tested("tests/data/gpu_compiler.tsv is not in the archive of the crate");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let recorded = kept.lines().next().unwrap_or_default();
    // The loader skips drivers of another architecture.
    let drivers = drivers.join(":");
    let families: Option<Vec<_>> = std::thread::scope(|scope| {
        let children =
            FAMILIES.map(|family| scope.spawn(|| compiled(family, &drivers, recorded.trim_start_matches("# "))));
        children.map(|child| child.join().unwrap()).into_iter().collect()
    });
    let Some(families) = families else { return not_tested(missing) };

    let columns = STATISTICS.map(|(_, column)| column).join("\t");
    let mut table = format!("# {}\nfamily\tvariant\t{columns}\n", families[0].0);
    table.extend(families.iter().flat_map(|(_, rows)| rows).map(|row| format!("{row}\n")));
    if blesses {
        return std::fs::write(&path, table).unwrap();
    }
    let different = differences(&kept, &table);
    if Some(recorded) != table.lines().next() {
        return not_tested(&format!("{} is for another version of Mesa:\n{different}", path.display()));
    }
    assert!(different.is_empty(), "the compiled kernels changed (see {}):\n{different}", file!());
}
