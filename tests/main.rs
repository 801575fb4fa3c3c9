//! All integration tests of the library in one program, so that it is linked once.
//!
//! There is one folder per subject. Tests run in threads of one process. A test that changes the state of the whole process runs in a
//! child process: see `umbracast_testing::child`.

mod bullets;
mod bvh;
mod cpu;
mod gpu;
mod primitives;
mod queries;
mod raygen;
mod shadow;
