//! `umbracast devices`: what work can run on here, and what each can promise.

use clap::Args;
use serde_json::{Value, json};
use umbracast::{DeviceInfo, DeviceOptions, Precision, Probe, Result, blocking};

/// What follows `umbracast devices`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  umbracast devices                  every adapter, opened and probed, and the CPU engine
  umbracast devices --json           the same for programs
  umbracast devices --report         what to paste into a bug report

--device, wherever it is offered, takes auto, gpu, cpu, a number from this list, or part of a name;
the environment variable UMBRACAST_DEVICE stands in for it.")]
pub(crate) struct DevicesArgs {
    /// Print JSON on stdout
    #[arg(long, conflicts_with = "report")]
    json: bool,
    /// Print everything a bug report needs
    #[arg(long)]
    report: bool,
}

pub(crate) fn run(args: &DevicesArgs) -> Result<()> {
    let list = blocking::list();
    let auto = blocking::open(&DeviceOptions::new("auto"))?;
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
        text += "no GPU driver was found; mesa-vulkan-drivers would add a software one\n";
    }
    super::print(&text)
}

/// The program, the system, and the settings that change what is found.
fn system() -> String {
    let mut text = format!(
        "umbracast {} ({} {}, {} threads)\n",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::OS,
        std::env::consts::ARCH,
        std::thread::available_parallelism().map_or(1, usize::from),
    );
    let spoken = |text: std::ffi::OsString| umbracast::printable(&text.to_string_lossy()).into_owned();
    let mut settings: Vec<String> = std::env::vars_os()
        .map(|(name, value)| (spoken(name), spoken(value)))
        .filter(|(name, _)| ["UMBRACAST_", "WGPU_", "VK_", "LP_", "MESA_"].iter().any(|start| name.starts_with(start)))
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
        text += &format!("   limits    {mebibytes} MiB a buffer, {} workgroups a dispatch\n", info.largest_dispatch);
        text += &format!("   probe     {}\n", verdict(probe));
        text += &format!("             {}\n", arithmetic(probe));
    }
    text + &format!("   promises  {}\n", words(&info.precisions))
}

fn verdict(probe: &Probe) -> String {
    match &probe.failure {
        Some(why) => format!("failed: {why}"),
        None => format!(
            "passed: {} error terms exact, {} hard rays right, roots within {:.2} of their bound",
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
        _ => format!("rounds once in {:.0} %", 100.0 * share),
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
        })),
    })
}
