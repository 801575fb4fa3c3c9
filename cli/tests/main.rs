//! All tests of the command line in one program: the commands, and every format of files through them.

mod cli;
mod files;
