//! The GPU engine, on wgpu. Only this folder and `shadow/gpu` name wgpu.

pub(crate) mod bvh;
pub(crate) mod cast;
#[cfg(all(test, feature = "shadow"))]
mod compiler_tests;
pub(crate) mod context;
pub(crate) mod encode;
pub(crate) mod engine;
pub(crate) mod probe;
pub(crate) mod programs;
pub(crate) mod scene;
#[cfg(all(test, feature = "shadow"))]
mod shader_tests;
pub(crate) mod sphere_attributes;
pub(crate) mod uniforms;
