//! How much memory there is, asked before it is used: a system that has promised too much ends programs without a word.

use std::path::Path;

use crate::error::{Error, Result};

/// Checks that `asked` bytes more fit into what the machine has available.
///
/// # Errors
/// [`Error::TooLarge`] with both figures.
pub fn check_memory(what: &'static str, asked: u64) -> Result<()> {
    // So little is never worth asking for.
    const ALWAYS: u64 = 1 << 20;
    match available_bytes() {
        Some(allowed) if asked > allowed.max(ALWAYS) => {
            Err(Error::TooLarge { what, asked, allowed, device: "this machine".into() })
        }
        _ => Ok(()),
    }
}

/// The bytes that a program can still have without others being hurt; none where the system does not say.
pub fn available_bytes() -> Option<u64> {
    // For the tests, and for whoever knows better than the system.
    if let Some(bytes) = std::env::var("UMBRACAST_MEMORY").ok().and_then(|text| text.parse().ok()) {
        return Some(bytes);
    }
    let machine = field(&std::fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")?.saturating_mul(1024);
    Some(container().map_or(machine, |container| container.min(machine)))
}

/// What the limits of the control groups that this program is in leave over; none without a limit.
fn container() -> Option<u64> {
    let own = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let root = Path::new("/sys/fs/cgroup");
    let groups = root.join(own);
    groups.ancestors().take_while(|group| group.starts_with(root)).filter_map(left_in).min()
}

/// What one group's limit leaves over. What it holds of files counts as free: the system gives that up first.
fn left_in(group: &Path) -> Option<u64> {
    let read = |name: &str| std::fs::read_to_string(group.join(name)).ok();
    let limit: u64 = read("memory.max")?.trim().parse().ok()?;
    let used: u64 = read("memory.current")?.trim().parse().ok()?;
    let files = read("memory.stat").and_then(|text| field(&text, "inactive_file")).unwrap_or(0);
    Some(limit.saturating_sub(used.saturating_sub(files)))
}

/// The number after a name at the beginning of a line.
fn field(text: &str, name: &str) -> Option<u64> {
    let mut words =
        text.lines().map(str::split_whitespace).find_map(|mut words| (words.next()? == name).then_some(words))?;
    words.next()?.parse().ok()
}
