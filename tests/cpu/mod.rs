//! The CPU engine.

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod instructions;
#[cfg(target_arch = "x86_64")]
mod lanes;
mod levels;
