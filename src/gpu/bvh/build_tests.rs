//! Tests that shaders build the same BVH as the CPU, byte for byte, on every adapter of this machine.

use std::sync::atomic::Ordering;

use bytemuck::Pod;
use wgpu::Buffer;

use super::resident::GpuBvh;
use crate::batch::input::Spheres;
use crate::batch::sphere_set::{SphereAttributes, SphereSet};
use crate::bvh::gpu_frame::GpuFrame;
use crate::bvh::qbvh4::node::{QBvh4, QNode4};
use crate::bvh::qbvh4::tests::{built, scenes};
use crate::error::Error;
use crate::gpu::context::adapters;
use crate::gpu::context::device::GpuContext;
use crate::gpu::engine::GpuEngine;
use crate::gpu::programs::ShaderEdit;
use crate::gpu::scene::GpuScene;
use crate::numbers::Numbers;
use crate::records::Sphere;
use crate::runtime::Limits;
use crate::runtime::cancel::CancelToken;

/// Opens the adapters that pass the probe: their arithmetic rounds like the CPU's.
async fn devices() -> Vec<GpuEngine> {
    let mut opened = Vec::new();
    for adapter in adapters::adapters().await {
        opened.push(GpuEngine::open(&adapter, Limits::default(), None).await.unwrap());
    }
    opened.into_iter().filter(|gpu| gpu.probe.failure.is_none()).collect()
}

async fn fetch<T: Pod>(gpu: &GpuEngine, from: &Buffer, count: usize) -> Vec<T> {
    let mut list = vec![T::zeroed(); count];
    let staging = gpu.staging_buffer("staging", size_of_val(&list[..]) as u64).await.unwrap();
    gpu.read(from, &staging, &mut list).await.unwrap();
    list
}

async fn tree_of(gpu: &GpuEngine, bvh: &GpuBvh, spheres: &[Sphere]) -> QBvh4 {
    let order: Vec<u32> = fetch(gpu, &bvh.order, spheres.len()).await;
    let leaves: Vec<Sphere> = fetch(gpu, &bvh.leaves, spheres.len()).await;
    assert!(order.iter().zip(&leaves).all(|(place, leaf)| spheres.get(*place as usize) == Some(leaf)), "leaves");
    let nodes: Vec<QNode4> = fetch(gpu, &bvh.nodes, bvh.node_count as usize).await;
    QBvh4 { nodes, order, levels: bvh.levels.clone() }
}

fn same(name: &str, gpu: &QBvh4, cpu: &QBvh4) {
    assert!(gpu.order == cpu.order, "{name}: the order differs");
    assert_eq!(gpu.levels, cpu.levels, "{name}");
    for (number, (gpu, cpu)) in gpu.nodes.iter().zip(&cpu.nodes).enumerate() {
        assert_eq!(gpu, cpu, "{name}: node {number}");
    }
}

fn more_scenes() -> Vec<(&'static str, Vec<Sphere>)> {
    let mut n = Numbers(7);
    let mut sphere = |size: f32| {
        let mut place = || size * (n.unit() - 0.5);
        Sphere::new([place(), place(), place()], 0.003 * size)
    };
    let mut all = scenes();
    all.extend((1..=70).map(|count| ("few", (0..count).map(|_| sphere(1.0)).collect())));
    all.push(("a tile and one", (0..2049).map(|_| sphere(1.0)).collect()));
    all.push(("100,000", (0..100_000).map(|_| sphere(1.0)).collect()));
    let heap = |i: usize, s: Sphere| Sphere { center: s.center * 0.01 + (i % 17) as f32, ..s };
    all.push(("heaps", (0..50_000).map(|i| heap(i, sphere(1.0))).collect()));
    all.push(("each twice", (0..30_000).map(|_| sphere(1.0)).flat_map(|s| [s, s]).collect()));
    // Morton codes that share more and more bits: a path on which every node goes down two levels of the radix tree.
    all.push(("a deep corner", (0..20_000).map(|i| Sphere::new([0.9f32.powi(i % 300); 3], 0.0)).collect()));
    all.retain(|(_, spheres)| !spheres.is_empty());
    all
}

#[test]
fn shaders_build_the_same_tree_as_the_cpu() {
    pollster::block_on(async {
        for gpu in devices().await {
            for (name, spheres) in more_scenes() {
                let frame = GpuFrame::of(&spheres);
                let buffer = gpu.filled("spheres", &spheres).await.unwrap();
                let (count, cancel) = (spheres.len() as u32, CancelToken::new());
                let bvh = GpuBvh::build(&gpu, &buffer, count, &frame, None, &cancel).await.unwrap();
                let found = tree_of(&gpu, &bvh, &spheres).await;
                same(name, &found, &built(&spheres, &frame));
                assert_eq!(found.check(&spheres, &frame), Ok(()), "{name}");
            }
        }
    });
}

#[test]
fn shaders_build_trees_of_parts_that_fill_a_binding() {
    pollster::block_on(async {
        for adapter in adapters::adapters().await {
            let limits = Limits { binding: 1 << 19, ..Limits::default() };
            let gpu = GpuEngine::open(&adapter, limits, None).await.unwrap();
            let mut n = Numbers(11);
            let spheres: Vec<Sphere> = (0..32_768).map(|_| Sphere::new([n.unit(), n.unit(), n.unit()], 0.01)).collect();
            let frame = GpuFrame::of(&spheres);
            let buffer = gpu.filled("spheres", &spheres).await.unwrap();
            let bvh = GpuBvh::build(&gpu, &buffer, 32_768, &frame, None, &CancelToken::new()).await.unwrap();
            same("a part", &tree_of(&gpu, &bvh, &spheres).await, &built(&spheres, &frame));
        }
    });
}

#[test]
fn shaders_refit_a_tree_to_moved_spheres() {
    pollster::block_on(async {
        for gpu in devices().await {
            for (name, spheres) in more_scenes() {
                let frame = GpuFrame::of(&spheres);
                let mut tree = built(&spheres, &frame);
                let bvh = GpuBvh::upload(&gpu, &tree, &spheres).await.unwrap();
                let (cost, built) = (bvh.cost(&gpu).await.unwrap(), tree.cost());
                assert!((cost / built - 1.0).abs() < 1e-4, "{name}: {cost} {built}");
                let count = spheres.len() as u32;
                let buffer = gpu.filled("spheres", &spheres).await.unwrap();
                let unmoved = bvh.refit(&gpu, &buffer, count, &frame, None).await.unwrap();
                same(name, &tree_of(&gpu, &unmoved, &spheres).await, &tree);
                let largest = frame.corners[1].into_iter().fold(0.0, f32::max);
                let mut n = Numbers(3);
                let moved: Vec<Sphere> =
                    spheres.iter().map(|s| Sphere { center: s.center + largest * 0.1 * n.unit(), ..*s }).collect();
                let frame = GpuFrame::of(&moved);
                let buffer = gpu.filled("spheres", &moved).await.unwrap();
                let refitted = bvh.refit(&gpu, &buffer, count, &frame, None).await.unwrap();
                let found = tree_of(&gpu, &refitted, &moved).await;
                tree.refit(&moved, &frame);
                same(name, &found, &tree);
                assert_eq!(found.check(&moved, &frame), Ok(()), "{name}");
            }
        }
    });
}

#[test]
fn a_device_that_cannot_compile_the_builder_gets_the_same_tree_from_the_cpu() {
    let n = &mut Numbers(13);
    // As many as a GPU builds.
    let spheres: Vec<Sphere> = (0..70_000).map(|_| Sphere::new([n.unit(), n.unit(), n.unit()], 0.01)).collect();
    let frame = GpuFrame::of(&spheres);
    let edit = ShaderEdit::Text("nodes[", "nodes_that_do_not_exist[");
    pollster::block_on(async {
        for adapter in adapters::adapters().await {
            let mut context = GpuContext::open(&adapter, Limits::default(), Some(edit.clone())).await.unwrap();
            // On a software adapter, the CPU builds.
            context.info.device_type = wgpu::DeviceType::DiscreteGpu;
            let gpu = GpuEngine::new(context);
            let buffer = gpu.filled("spheres", &spheres).await.unwrap();
            let cancel = CancelToken::new();
            let given = Spheres::from(&spheres);
            let mut set = SphereSet::new(&given, SphereAttributes::NONE, [0.0; 2], &cancel).unwrap();
            set.tree_on_gpu = Some(true);
            let error =
                GpuBvh::new(&gpu, &buffer, &spheres, &frame, None, &set).await.err().expect("the program is wrong");
            assert!(matches!(error, Error::DeviceFailed { .. }), "{error:?}");
            set.tree_on_gpu = None;
            for _ in 0..2 {
                let bvh = GpuBvh::new(&gpu, &buffer, &spheres, &frame, None, &set).await.unwrap();
                same("the CPU's", &tree_of(&gpu, &bvh, &spheres).await, &built(&spheres, &frame));
            }
            assert!(gpu.builder_failed.load(Ordering::Relaxed));
        }
    });
}

#[test]
fn deep_bvhs_get_the_long_stack() {
    let n = &mut Numbers(17);
    let spheres: Vec<Sphere> = (0..3000).map(|_| Sphere::new([n.unit(), n.unit(), n.unit()], 0.01)).collect();
    let cancel = CancelToken::new();
    let mut set = SphereSet::new(&Spheres::from(&spheres), SphereAttributes::NONE, [0.0; 2], &cancel).unwrap();
    set.tree_from = Some(1);
    pollster::block_on(async {
        for gpu in devices().await {
            let mut scene = GpuScene::new(&gpu, &set, false).await.unwrap();
            let levels = &mut scene.parts[0].bvh.as_mut().unwrap().levels;
            // No scene is known that is deep enough. Traversals read nothing of the levels.
            levels.resize(QBvh4::SHALLOW_LEVELS, 0);
            assert!(scene.is_shallow());
            scene.parts[0].bvh.as_mut().unwrap().levels.push(0);
            assert!(!scene.is_shallow());
        }
    });
}
