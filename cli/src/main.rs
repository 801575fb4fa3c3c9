//! The program `umbracast`.

use std::process::ExitCode;

fn main() -> ExitCode {
    quiet_mesa();
    ExitCode::from(umbracast_cli::main_with(std::env::args_os()))
}

/// Switches off Mesa's layer that selects a GPU for desktops. Without a desktop it prints two errors per adapter. All adapters stay
/// available to `--device`.
fn quiet_mesa() {
    if std::env::var_os("XDG_RUNTIME_DIR").is_none() && std::env::var_os("NODEVICE_SELECT").is_none() {
        // SAFETY: no other thread is running yet, so none reads the environment.
        unsafe { std::env::set_var("NODEVICE_SELECT", "1") };
    }
}
