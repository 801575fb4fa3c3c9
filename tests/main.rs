//! All integration tests in one program, so that the library is linked once.
//!
//! There is one folder per subject, and `support` has the shared helpers. `architecture` checks that every file here is a module.
//! Tests run in threads of one process. A test that changes the state of the whole process runs in a child process: see
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
mod sky;
mod support;
