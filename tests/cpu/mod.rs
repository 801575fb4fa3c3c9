//! The CPU engine.

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod instructions;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod kernels;
#[cfg(target_arch = "x86_64")]
mod lanes;
mod levels;
mod threads;
