//! Measures a GPU and checks its answers, on a machine without a compiler, a network or this repository.
//!
//! `measure_gpu [DEVICE]` takes the index of an adapter or a part of its name; without it, the first. It prints one page, which ends with what
//! to change in the library for this GPU, and writes `umbracast-gpu.json`, the file to send. It takes a few minutes.

mod gpu;
mod page;
mod variants;

use std::error::Error;
use std::time::Instant;

use serde_json::{Value, json};
use umbracast::{Precision, Query, QueryKind, Ray, Scene, SceneOptions, Sphere, wgpu};
use umbracast_testing::{corpus, cpu, scenes};

use gpu::{Gpu, RaysOnGpu, median};

/// After this many seconds no further variant is measured.
const BUDGET: f64 = 480.0;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// A scene with rays. The families are those of `crates/testing/src/scenes.rs`.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) spheres: Vec<Sphere>,
    pub(crate) rays: Vec<Ray>,
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let choice = match &arguments[..] {
        [] => "0".to_owned(),
        [one] if !one.starts_with('-') => one.clone(),
        _ => {
            println!(
                "usage: measure_gpu [DEVICE]\n\nMeasures a GPU, and writes umbracast-gpu.json. DEVICE is an index or a part of a name:"
            );
            for (index, adapter) in gpu::adapters().iter().enumerate() {
                println!("  {index}  {}", adapter.get_info().name);
            }
            return Ok(());
        }
    };
    let start = Instant::now();
    let adapter = gpu::choose(&choice)?;
    let info = adapter.get_info();
    println!("{} ({:?}, {:?}, {} {})", info.name, info.device_type, info.backend, info.driver, info.driver_info);
    let own = Gpu::open(&adapter, None)?;
    let software = info.device_type == wgpu::DeviceType::Cpu;
    // A software adapter shows that the program works; its scenes are small.
    let (large, rays) = if software { (20_000, 1 << 14) } else { (1_000_000, 1 << 21) };
    let case = |name, family, kind, spheres| {
        let spheres = scenes::spheres(family, spheres);
        Case { name, rays: scenes::rays(kind, &spheres, rays), spheres }
    };
    let cases = [
        case("dense, primary rays", "uniform", "primary", large),
        case("sparse, random rays", "sparse", "random", large),
        case("planet and satellites, shadow rays", "planet", "shadow", large),
    ];
    let mut report = json!({
        "commit": option_env!("UMBRACAST_COMMIT"), "os": std::env::consts::OS,
        "processor": std::env::consts::ARCH, "cores": rayon::current_num_threads(),
        "device": info.name, "kind": own.device.kind(), "backend": format!("{:?}", info.backend),
        "driver": format!("{} {}", info.driver, info.driver_info), "vendor": info.vendor, "id": info.device,
        "subgroup": [info.subgroup_min_size, info.subgroup_max_size], "kernels_timed_by": own.timed_by(),
    });
    let mut add = |key: &str, value: Value| {
        page::print(key, &value);
        report[key] = value;
    };
    add("probe", probe(&own));
    add("answers", answers(&own, &cases)?);
    add("transfers", transfers(&own, if software { 16 << 20 } else { 256 << 20 })?);
    add("builds", builds(&own, software)?);
    add("tree_from", crossover(&own, rays)?);
    add("rates", rates(&own, &cases)?);
    add("order", order(&own, &cases[..2])?);
    add("host_alone", host_alone(&adapter, &cases[1])?);
    add("variants", variants::measure(&adapter, &cases[..2], start, BUDGET)?);
    report["seconds"] = json!(start.elapsed().as_secs_f64());
    report["advice"] = json!(page::advice(&report));
    std::fs::write("umbracast-gpu.json", serde_json::to_vec_pretty(&report)?)?;
    println!("\nWhat to change for this GPU:");
    for line in report["advice"].as_array().into_iter().flatten() {
        println!("* {}", line.as_str().unwrap_or_default());
    }
    println!("\numbracast-gpu.json has all figures: please send it. {:.0} s.", start.elapsed().as_secs_f64());
    Ok(())
}

fn probe(gpu: &Gpu) -> Value {
    let probe = gpu.device.probe().cloned().unwrap_or_default();
    json!({
        "division_ulp": probe.division_ulp, "root_ulp": probe.root_ulp, "sums_wrong": probe.sums_wrong,
        "products_wrong": probe.products_wrong, "expression_fused": probe.expression_fused, "fma_fused": probe.fma_fused,
        "subnormals": probe.subnormals, "flags_wrong": probe.flags_wrong, "roots_of_bound": probe.roots_of_bound, "pair_roots_of_bound": probe.pair_roots_of_bound,
        "fast_of_bound": probe.fast_of_bound, "standard_refused": probe.failure, "all_refused": probe.broken,
    })
}

/// Compares answers with the truth of the corpus, and with the CPU engine.
fn answers(gpu: &Gpu, cases: &[Case]) -> Result<Value> {
    let mut rows = Vec::new();
    let truth = corpus();
    let (rays, spheres): (Vec<Ray>, Vec<Sphere>) = truth.iter().map(|row| (row.ray, row.sphere)).unzip();
    let exact = Query::at(Precision::Exact);
    let reference = cpu().pairwise(&spheres, &SceneOptions::default())?.closest(&rays, &exact)?.records;
    let pairs = gpu.device.pairwise(&spheres, &SceneOptions::default())?;
    for precision in Precision::ALL {
        let Ok(found) = pairs.closest(&rays, &Query::at(precision)) else { continue };
        let differing = found.records.iter().zip(&reference).filter(|(a, b)| a != b).count();
        let mut row = json!({
            "what": "corpus of 10,000 pairs, closest", "precision": precision.word(), "count": rays.len(),
            "records_unlike_exact": differing,
        });
        // Many rays of the corpus end on a root, or within one f32 of it: only `exact` promises their hits.
        if precision == Precision::Exact {
            let expected = truth.iter().map(|row| row.flags[1] && row.crossing >= 0);
            let wrong = expected.zip(&found.records).filter(|(expected, hit)| *expected != hit.is_hit());
            row["hits_wrong"] = json!(wrong.count());
        }
        rows.push(row);
    }
    for case in cases {
        let rays = &case.rays[..case.rays.len().min(1 << 16)];
        let [own, host] = [&gpu.device, &cpu()].map(|device| device.scene(&case.spheres, &SceneOptions::default()));
        let (own, host) = (own?, host?);
        let all = |scene: &Scene| -> Result<Vec<u8>> {
            let lists = scene.all(&rays[..rays.len() / 16], &exact)?;
            let mut bytes = bytemuck::cast_slice::<_, u8>(&lists.records).to_vec();
            bytes.extend(bytemuck::cast_slice::<_, u8>(&scene.closest(rays, &exact)?.records));
            bytes.extend(bytemuck::cast_slice::<_, u8>(&scene.occluded(rays, &exact)?.words));
            bytes.extend(scene.count(rays, &exact)?.iter().flat_map(|count| count.to_le_bytes()));
            Ok(bytes)
        };
        let (own, host) = (all(&own)?, all(&host)?);
        let differing =
            if own.len() == host.len() { own.iter().zip(&host).filter(|(a, b)| a != b).count() } else { usize::MAX };
        rows.push(json!({
            "what": format!("{}: closest, occluded, count, all", case.name), "precision": "exact", "count": rays.len(),
            "bytes_unlike_cpu": differing,
        }));
    }
    Ok(json!(rows))
}

/// Gigabytes per second between the host and the device, and on the device.
fn transfers(gpu: &Gpu, bytes: u64) -> Result<Value> {
    let mut all = json!({ "bytes": bytes });
    for (name, rate) in gpu.transfers(bytes)? {
        all[format!("{name}_gb_s")] = json!(rate);
    }
    Ok(all)
}

fn builds(gpu: &Gpu, software: bool) -> Result<Value> {
    let mut rows = Vec::new();
    for count in [10_000, 100_000, 1_000_000, 10_000_000].into_iter().take(if software { 2 } else { 4 }) {
        let spheres = scenes::spheres("uniform", count);
        for (on_gpu, word) in [(false, "cpu"), (true, "gpu")] {
            let options = SceneOptions::default().tree_on_gpu(on_gpu).tree_from(1);
            rows.push(match median(3, || Ok(gpu.device.scene(&spheres, &options)?)) {
                Ok(seconds) => json!({ "spheres": count, "builder": word, "seconds": seconds }),
                Err(error) => json!({ "spheres": count, "builder": word, "error": error.to_string() }),
            });
        }
    }
    Ok(json!(rows))
}

/// Kernels for rays in other orders: pixels in tiles of 8 by 4, and unordered rays sorted by octant and origin.
fn order(gpu: &Gpu, cases: &[Case]) -> Result<Value> {
    let mut rows = Vec::new();
    for case in cases {
        let side = (case.rays.len() as f64).sqrt().ceil() as usize;
        let spread = |x: usize| (0..10).fold(0, |all, bit| all | (x >> bit & 1) << (3 * bit));
        let tile = |at: usize| {
            let (x, y) = (at % side, at / side);
            (y / 4 * side.div_ceil(8) + x / 8) * 32 + y % 4 * 8 + x % 8
        };
        let [low, high] = [f32::min, f32::max].map(|of| {
            let all = case.rays.iter().flat_map(|ray| ray.origin.to_array());
            all.reduce(of).unwrap_or(0.0)
        });
        let place = |at: usize| {
            let ray = &case.rays[at];
            let octant = (0..3).map(|k| usize::from(ray.direction[k] < 0.0) << k).sum::<usize>();
            let cell = |x: f32| (((x - low) / (high - low)).clamp(0.0, 1.0) * 1023.0) as usize;
            octant << 30 | (0..3).map(|k| spread(cell(ray.origin[k])) << k).sum::<usize>()
        };
        let scene = gpu.device.scene(&case.spheres, &SceneOptions::default())?;
        for (name, key) in [("tiles", &tile as &dyn Fn(usize) -> usize), ("octant and origin", &place)] {
            let mut order: Vec<usize> = (0..case.rays.len()).collect();
            order.sort_by_key(|at| key(*at));
            let rays: Vec<Ray> = order.into_iter().map(|at| case.rays[at]).collect();
            let on_gpu = RaysOnGpu::new(gpu, &rays)?;
            for (kind, word) in [(QueryKind::Closest, "closest"), (QueryKind::Occluded, "occluded")] {
                let seconds = gpu.cast(&scene, kind, Precision::Standard, &on_gpu)?.seconds;
                rows.push(json!({ "scene": case.name, "order": name, "query": word, "kernel_seconds": seconds }));
            }
        }
    }
    Ok(json!(rows))
}

/// Whole calls on a device whose kernels do nothing: what the host and the transfers reach.
fn host_alone(adapter: &wgpu::Adapter, case: &Case) -> Result<Value> {
    let gpu = Gpu::open(adapter, Some(variants::without_work()))?;
    let scene = gpu.device.scene(&case.spheres, &SceneOptions::default())?;
    let mut rows = Vec::new();
    for cores in [1, 2, rayon::current_num_threads()] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(cores).build()?;
        let seconds = pool.install(|| {
            median(5, || Ok(scene.closest(&case.rays, &Query::at(Precision::Standard))?.report.rays_hit))
        })?;
        rows.push(json!({ "cores": cores, "rays_per_second": case.rays.len() as f64 / seconds }));
    }
    let on_gpu = RaysOnGpu::new(&gpu, &case.rays)?;
    let seconds = gpu.cast(&scene, QueryKind::Closest, Precision::Standard, &on_gpu)?.seconds;
    rows.push(json!({ "kernel_seconds_without_traversal": seconds }));
    Ok(json!(rows))
}

/// Times of `closest` with a BVH and by brute force, for few spheres.
fn crossover(gpu: &Gpu, rays: usize) -> Result<Value> {
    let mut rows = Vec::new();
    for count in [64, 128, 256, 512, 1024, 2048, 4096] {
        let spheres = scenes::spheres("uniform", count);
        let rays = RaysOnGpu::new(gpu, &scenes::rays("random", &spheres, rays))?;
        let mut times = [0.0; 2];
        for (from, time) in [1, usize::MAX].into_iter().zip(&mut times) {
            let scene = gpu.device.scene(&spheres, &SceneOptions::default().tree_from(from))?;
            *time = gpu.cast(&scene, QueryKind::Closest, Precision::Fast, &rays)?.seconds;
        }
        rows.push(json!({ "spheres": count, "traversal_seconds": times[0], "brute_force_seconds": times[1] }));
    }
    Ok(json!(rows))
}

/// Rates of kernels, and of whole calls from records of the host to records of the host.
fn rates(gpu: &Gpu, cases: &[Case]) -> Result<Value> {
    let mut rows = Vec::new();
    for case in cases {
        let scene = gpu.device.scene(&case.spheres, &SceneOptions::default())?;
        let on_gpu = RaysOnGpu::new(gpu, &case.rays)?;
        for precision in Precision::ALL {
            let query = Query::at(precision);
            for (kind, word) in [(QueryKind::Closest, "closest"), (QueryKind::Occluded, "occluded")] {
                let call = median(5, || match kind {
                    QueryKind::Closest => Ok(scene.closest(&case.rays, &query)?.report.rays_hit),
                    _ => Ok(scene.occluded(&case.rays, &query)?.report.rays_hit),
                });
                let (Ok(call), mut row) =
                    (call, json!({ "scene": case.name, "query": word, "precision": precision.word() }))
                else {
                    continue;
                };
                row["rays"] = json!(case.rays.len());
                row["call_seconds"] = json!(call);
                // `exact` has no kernel of its own: the host resolves what a kernel leaves undecided.
                if let Ok(cast) = gpu.cast(&scene, kind, precision, &on_gpu) {
                    row["kernel_seconds"] = json!(cast.seconds);
                    row["hits"] = json!(cast.status[3]);
                }
                rows.push(row);
            }
        }
    }
    Ok(json!(rows))
}
