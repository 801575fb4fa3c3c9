//! `umbracast devices`: the devices of this machine, their probes, and the precisions that they guarantee.

use crate::error::Result;
use clap::Args;
use serde_json::{Value, json};
use umbracast::{DeviceInfo, DeviceOptions, Precision, Probe};

/// Arguments of `umbracast devices`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  umbracast devices            all adapters, probed, and the CPU engine
  umbracast devices --json     the list as JSON
  umbracast devices --report   the list, the system and the settings

The option --device of other subcommands accepts auto, gpu, cpu, a number from
this list, or part of a name. Its default is the environment variable
UMBRACAST_DEVICE.")]
pub(crate) struct DevicesArgs {
    /// Print JSON on stdout
    #[arg(long, conflicts_with = "report")]
    json: bool,
    /// Print program, system, settings and devices, to keep with a description of a fault
    #[arg(long)]
    report: bool,
}

pub(crate) fn run(args: &DevicesArgs) -> Result<()> {
    let list = umbracast::Device::list();
    let auto = umbracast::Device::open(&DeviceOptions::new("auto"))?;
    if args.json {
        let devices: Vec<Value> = list.iter().map(as_json).collect();
        return super::print_json(&json!({ "auto": auto.name(), "devices": devices }));
    }
    let mut text = String::new();
    if args.report {
        text += &system();
    }
    for info in &list {
        text += &describe(info);
    }
    text += &format!("auto chooses {}\n", auto.name());
    if list.len() == 1 {
        text += no_adapter_hint();
        text += "\n";
    }
    super::print(&text)
}

/// Starts of the names of environment variables that affect drivers or threads.
const VARIABLES: &str = "UMBRACAST_ WGPU_ VK_ LP_ MESA_ LIBGL_ GALLIUM_ DRI_PRIME CUDA_VISIBLE_DEVICES NVIDIA_ \
    NODEVICE_SELECT RAYON_NUM_THREADS";

/// The version of the program, the system, and the environment variables that affect the devices.
fn system() -> String {
    let mut text = format!(
        "umbracast {} ({} {}, {} threads)\n",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::OS,
        std::env::consts::ARCH,
        std::thread::available_parallelism().map_or(1, usize::from),
    );
    // All but the version, which is there already.
    for line in crate::LONG_VERSION.lines().skip(1) {
        text += &format!("  {line}\n");
    }
    // Files that describe a Linux system; other systems do not have them.
    let value = |path: &str, key: &str| {
        let lines = std::fs::read_to_string(path).unwrap_or_default();
        let line = lines.lines().find(|line| line.starts_with(key))?;
        let value = line.split_once(['=', ':'])?.1.trim().trim_matches('"');
        Some(umbracast_files::escape::printable(value).into_owned())
    };
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").ok();
    for (name, value) in [
        ("system", value("/etc/os-release", "PRETTY_NAME")),
        ("kernel", kernel.map(|text| umbracast_files::escape::printable(text.trim()).into_owned())),
        ("cpu", value("/proc/cpuinfo", "model name")),
    ] {
        text += &value.map(|value| format!("  {name:9} {value}\n")).unwrap_or_default();
    }
    let spoken = |text: std::ffi::OsString| umbracast_files::escape::printable(&text.to_string_lossy()).into_owned();
    let mut settings: Vec<String> = std::env::vars_os()
        .map(|(name, value)| (spoken(name), spoken(value)))
        .filter(|(name, _)| VARIABLES.split(' ').any(|start| name.starts_with(start)))
        .map(|(name, value)| format!("  {name}={value}\n"))
        .collect();
    settings.sort();
    text += &settings.concat();
    text
}

fn words(precisions: &[Precision]) -> String {
    precisions.iter().map(|precision| precision.word()).collect::<Vec<_>>().join(", ")
}

fn describe(info: &DeviceInfo) -> String {
    let mut text = format!("{}  {} ({}, {})\n", info.index, info.name, info.kind, info.backend);
    if !info.driver.is_empty() {
        text += &format!("   driver    {}\n", info.driver);
    }
    if let Some(error) = &info.failure {
        return text + &format!("   failed    {error}\n");
    }
    if let Some(probe) = &info.probe {
        let mebibytes = info.largest_binding >> 20;
        text +=
            &format!("   limits    {mebibytes} MiB per buffer, {} workgroups per dispatch\n", info.largest_dispatch);
        text += &format!("   probe     {}\n", verdict(probe));
        text += &format!("             {}\n", arithmetic(probe));
    }
    text + &format!("   supports  {}\n", words(&info.precisions))
}

fn verdict(probe: &Probe) -> String {
    match &probe.failure {
        Some(why) => format!("failed: {why}"),
        None => format!(
            "passed: {} error terms exact, {} hard rays correct, root errors at most {:.2} of their bound",
            2 * probe.pairs,
            probe.rays,
            probe.roots_of_bound
        ),
    }
}

fn arithmetic(probe: &Probe) -> String {
    let fused = |share: f64| match share {
        0.0 => "rounds twice".to_owned(),
        1.0 => "rounds once".to_owned(),
        _ => format!("rounds once in {:.0} % of cases", 100.0 * share),
    };
    format!(
        "a*b+c {}, fma {}; division {:.2} ulp, root {:.2} ulp; subnormals {}",
        fused(probe.expression_fused),
        fused(probe.fma_fused),
        probe.division_ulp,
        probe.root_ulp,
        if probe.subnormals { "kept" } else { "flushed to zero" }
    )
}

fn as_json(info: &DeviceInfo) -> Value {
    json!({
        "index": info.index,
        "name": info.name,
        "kind": info.kind,
        "backend": info.backend,
        "driver": info.driver,
        "largest_binding_bytes": info.probe.as_ref().map(|_| info.largest_binding),
        "largest_dispatch_workgroups": info.probe.as_ref().map(|_| info.largest_dispatch),
        "precisions": info.precisions.iter().map(|precision| precision.word()).collect::<Vec<_>>(),
        "failure": info.failure.as_ref().map(ToString::to_string),
        "probe": info.probe.as_ref().map(|probe| json!({
            "passed": probe.failure.is_none(),
            "failure": probe.failure,
            "pairs": probe.pairs,
            "sums_wrong": probe.sums_wrong,
            "products_wrong": probe.products_wrong,
            "expression_fused": probe.expression_fused,
            "fma_fused": probe.fma_fused,
            "division_ulp": probe.division_ulp,
            "root_ulp": probe.root_ulp,
            "subnormals_kept": probe.subnormals,
            "hard_rays": probe.rays,
            "hard_rays_wrong": probe.flags_wrong,
            "roots_of_bound": probe.roots_of_bound,
            "pair_roots_of_bound": probe.pair_roots_of_bound,
        })),
    })
}

/// What to do on a machine without adapters. A software adapter is suggested only where there is no GPU: otherwise a driver is missing.
pub(crate) fn no_adapter_hint() -> &'static str {
    // Linux lists each GPU for which its kernel has a driver.
    let has_gpu = std::fs::read_dir("/dev/dri").is_ok_and(|mut nodes| nodes.next().is_some())
        || std::path::Path::new("/dev/nvidia0").exists();
    match (cfg!(target_os = "linux"), has_gpu) {
        (true, true) => {
            "this machine has a GPU, but no Vulkan driver for it was found: install the Vulkan driver of the GPU; until then use \
             --device cpu"
        }
        (true, false) => {
            "no GPU was found; use --device cpu, or install the package mesa-vulkan-drivers, a software Vulkan adapter"
        }
        (false, _) => "no GPU driver was found: use --device cpu",
    }
}
