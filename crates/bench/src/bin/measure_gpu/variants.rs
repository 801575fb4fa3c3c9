//! Variants of the traversal: what the library could be built with for a GPU.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use umbracast::wgpu::{self, naga};
use umbracast::{Precision, QueryKind, SceneOptions, ShaderEdit};

use crate::gpu::{Cast, Gpu, RaysOnGpu};
use crate::{Case, Result};

/// The stack for BVHs as flat as those of the cases.
const STACK: &str = "var<private> stack: array<Siblings, 36>;";

/// Text replacements in the programs that traverse a BVH.
fn edits(changes: Vec<(&'static str, String)>) -> ShaderEdit {
    ShaderEdit::Module(Arc::new(move |pipeline, source| {
        let mut source = source.to_owned();
        if source.contains(STACK) {
            for (from, to) in &changes {
                assert!(source.contains(from), "{pipeline} has no '{from}'");
                source = source.replace(from, to);
            }
        }
        naga::front::wgsl::parse_str(&source).unwrap_or_else(|error| panic!("{}", error.emit_to_string(&source)))
    }))
}

/// A stack of `entries` per thread in private memory.
fn private_stack(entries: u32) -> ShaderEdit {
    edits(vec![(STACK, format!("var<private> stack: array<Siblings, {entries}>;"))])
}

/// A stack of `entries` per thread in workgroup memory; threads are next to each other.
fn workgroup_stack(entries: u32) -> ShaderEdit {
    let at = format!("stack[min(top, {}u) * 64u + lane]", entries - 1);
    let main = "fn main(@builtin(global_invocation_id) invocation: vec3<u32>) {";
    edits(vec![
        (STACK, format!("var<workgroup> stack: array<Siblings, {}>;\nvar<private> lane: u32;", 64 * entries)),
        ("stack[top] = siblings;", format!("{at} = siblings;")),
        ("siblings = stack[top];", format!("siblings = {at};")),
        (main, "fn main(@builtin(global_invocation_id) invocation: vec3<u32>, @builtin(local_invocation_index) place: u32) {\n  lane = place;".into()),
    ])
}

/// The bytes of a node's faces become floats by operations on bits, which the arithmetic units have at full rate.
fn by_bits() -> (&'static str, String) {
    let from = "return vec4<f32>((vec4<u32>(word) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(255u));";
    let to = "let b = vec4<u32>(word << 15u, word << 7u, word >> 1u, word >> 9u) & vec4<u32>(0x007f8000u);\n  return bitcast<vec4<f32>>(b | vec4<u32>(0x3f800000u)) * 256.0 - vec4<f32>(256.0);";
    (from, to.into())
}

/// The library without traversal: every ray misses at once.
pub(crate) fn without_work() -> ShaderEdit {
    let change = |from, to: &str| (from, to.to_owned());
    edits(vec![
        change("if (prepare_ray(ray, ray_attributes_of(i))) {", "if (false) {"),
        change("} else if (ray.t_min <= ray.t_max) {", "} else if (false) {"),
    ])
}

/// The variants with their names. The first is the library as it is.
fn all() -> Vec<(String, Option<ShaderEdit>)> {
    let mut all = vec![("as it is".into(), None), ("loops bounded by wgpu".into(), Some(ShaderEdit::BoundedLoops))];
    all.push(("bytes to floats by bits".into(), Some(edits(vec![by_bits()]))));
    let keys = "(bitcast<vec4<u32>>(numbers) & vec4<u32>(0x7ffffffcu)) | vec4<u32>(0u, 1u, 2u, 3u)";
    all.push((
        "children in the order of the node".into(),
        Some(edits(vec![(keys, "vec4<u32>(0u, 1u, 2u, 3u)".into())])),
    ));
    all.extend([8, 16, 24, 32, 96].map(|n| (format!("private stack of {n}"), Some(private_stack(n)))));
    all.extend([8, 16, 24].map(|n| (format!("workgroup stack of {n}"), Some(workgroup_stack(n)))));
    all.extend([1, 2].map(|n| {
        let change = edits(vec![("const FULL: u32 = 3u;", format!("const FULL: u32 = {n}u;"))]);
        (format!("candidates of at most {n} leaves deferred"), Some(change))
    }));
    all.extend([("2", "2u"), ("8", "8u"), ("any number of", "NONE")].map(|(name, most)| {
        let limit = ("n < NODES_PER_TURN", format!("n < {most}"));
        (format!("{name} nodes per turn"), Some(edits(vec![limit])))
    }));
    all.push((AGAIN.into(), None));
    all
}

/// The last variant: the library as it is. What differs from the first is noise.
pub(crate) const AGAIN: &str = "as it is, again";

/// Measures every variant with every case: seconds relative to the library as it is, and rays with another result.
pub(crate) fn measure(adapter: &wgpu::Adapter, cases: &[Case], start: Instant, budget: f64) -> Result<Value> {
    let mut rows = Vec::new();
    let mut usual: Vec<Cast> = Vec::new();
    for (name, edit) in all() {
        if start.elapsed().as_secs_f64() > budget && !usual.is_empty() && name != AGAIN {
            rows.push(json!({ "variant": name, "skipped": "no time left" }));
            continue;
        }
        let casts = match casts(adapter, edit, cases) {
            Ok(casts) => casts,
            Err(error) if usual.is_empty() => return Err(error),
            Err(error) => {
                rows.push(json!({ "variant": name, "error": error.to_string() }));
                continue;
            }
        };
        if usual.is_empty() {
            usual = casts;
            continue;
        }
        let ratio = casts.iter().zip(&usual).map(|(cast, usual)| (usual.seconds / cast.seconds).ln()).sum::<f64>();
        let differing =
            |(cast, usual): (&Cast, &Cast)| cast.results.iter().zip(&usual.results).filter(|(a, b)| a != b).count();
        let words: usize = usual.iter().map(|cast| cast.results.len()).sum();
        rows.push(json!({
            "variant": name, "speed": (ratio / usual.len() as f64).exp(),
            "seconds": casts.iter().map(|cast| cast.seconds).collect::<Vec<_>>(),
            "undone": casts.iter().map(|cast| cast.status[1]).sum::<u32>(),
            "words_changed": casts.iter().zip(&usual).map(differing).sum::<usize>() as f64 / words as f64,
        }));
    }
    Ok(json!({ "seconds_as_it_is": usual.iter().map(|cast| cast.seconds).collect::<Vec<_>>(), "rows": rows }))
}

fn casts(adapter: &wgpu::Adapter, edit: Option<ShaderEdit>, cases: &[Case]) -> Result<Vec<Cast>> {
    let gpu = Gpu::open(adapter, edit)?;
    let mut casts = Vec::new();
    let refused = gpu.device.probe().is_some_and(|probe| probe.failure.is_some());
    let precision = if refused { Precision::Fast } else { Precision::Standard };
    for case in cases {
        let scene = gpu.device.scene(&case.spheres, &SceneOptions::default())?;
        let rays = RaysOnGpu::new(&gpu, &case.rays)?;
        for kind in [QueryKind::Closest, QueryKind::Occluded] {
            casts.push(gpu.cast(&scene, kind, precision, &rays)?);
        }
    }
    Ok(casts)
}
