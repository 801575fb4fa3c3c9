//! All integration tests, in one program: the library is linked once.
//!
//! Folders are subjects; `support` holds what tests share. `architecture` checks that every file here is a module.
//! Tests run in threads of one process. A test that changes what holds for the whole process runs in a child: see
//! [`support::child`].

mod architecture;
mod bullets;
mod bvh;
mod cli;
mod cpu;
mod files;
mod gpu;
mod primitives;
mod queries;
mod raygen;
mod shadow;
mod support;
