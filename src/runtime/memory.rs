//! Available memory, checked before it is used: a system that has overcommitted its memory kills programs without a message.

use std::collections::TryReserveError;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use bytemuck::Zeroable;
use bytemuck::allocation::try_zeroed_vec;
use rayon::iter::IndexedParallelIterator;

use crate::error::{Error, Result};

/// The limit of [`set_limit`]; `u64::MAX` if there is none.
static LIMIT: AtomicU64 = AtomicU64::new(u64::MAX);

/// Replaces what the system reports as available by a number of bytes, for this process.
pub fn set_limit(bytes: u64) {
    LIMIT.store(bytes, Ordering::Relaxed);
}

/// Calls [`set_limit`] with the number of bytes in the environment variable `UMBRACAST_MEMORY`, if it is set and not empty.
///
/// # Errors
/// [`Error::InvalidArgument`] if the variable is not a number of bytes.
pub fn set_limit_from_env() -> Result<()> {
    let Some(value) = std::env::var_os("UMBRACAST_MEMORY").filter(|value| !value.is_empty()) else { return Ok(()) };
    let bytes = value.to_str().and_then(|text| text.parse().ok()).ok_or_else(|| {
        Error::InvalidArgument(format!("UMBRACAST_MEMORY is '{}': expected a number of bytes", value.to_string_lossy()))
    })?;
    set_limit(bytes);
    Ok(())
}

/// Checks that `asked` more bytes fit into the [available](available_bytes) memory. `what` are the data, for the error.
///
/// # Errors
/// [`Error::TooLarge`] with both figures.
pub fn check(what: &'static str, asked: u64) -> Result<()> {
    // Up to this many bytes are granted without asking the system.
    const ALWAYS: u64 = 1 << 20;
    let allowed = (asked > ALWAYS).then(available_bytes).flatten();
    allowed.map_or(Ok(()), |allowed| check_within(what, asked, allowed, "this machine"))
}

/// Returns [`Error::TooLarge`] if `asked` bytes are more than a device allows.
pub(crate) fn check_within(what: &'static str, asked: u64, allowed: u64, device: &str) -> Result<()> {
    if asked <= allowed { Ok(()) } else { Err(Error::TooLarge { what, asked, allowed, device: device.into() }) }
}

/// An empty list with capacity for `count` records. If the allocation fails, this returns an error and does not abort.
pub(crate) fn try_with_capacity<T>(count: usize) -> Result<Vec<T>> {
    let mut list = Vec::new();
    list.try_reserve_exact(count).map_err(out_of_memory)?;
    Ok(list)
}

fn out_of_memory(error: TryReserveError) -> Error {
    Error::OutOfMemory { device: "this machine".into(), message: error.to_string() }
}

/// Appends a record. If the allocation fails, this returns an error and does not abort.
pub(crate) fn try_append<T>(list: &mut Vec<T>, record: T) -> Result<()> {
    list.try_reserve(1).map_err(out_of_memory)?;
    list.push(record);
    Ok(())
}

/// `count` records of zeros, which take memory when they are written. If the allocation fails, this returns an error and does not abort.
pub(crate) fn try_zeroed<T: Zeroable>(count: usize) -> Result<Vec<T>> {
    let failed =
        |()| Error::OutOfMemory { device: "this machine".into(), message: format!("cannot allocate {count} records") };
    try_zeroed_vec(count).map_err(failed)
}

/// The records of an iterator. If the allocation fails, this returns an error and does not abort.
pub(crate) fn try_collect<T>(records: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>> {
    let mut list = try_with_capacity(records.len())?;
    list.extend(records);
    Ok(list)
}

/// [`try_collect`] in parallel.
pub(crate) fn try_collect_parallel<T: Send>(records: impl IndexedParallelIterator<Item = T>) -> Result<Vec<T>> {
    let mut list = try_with_capacity(records.len())?;
    records.collect_into_vec(&mut list);
    Ok(list)
}

/// The results of `work` for each item, or the first error.
pub(crate) fn try_map<I, T>(
    items: impl ExactSizeIterator<Item = I>,
    work: impl FnMut(I) -> Result<T>,
) -> Result<Vec<T>> {
    let mut list = try_with_capacity(items.len())?;
    for record in items.map(work) {
        list.push(record?);
    }
    Ok(list)
}

/// `count` copies of a record.
pub(crate) fn try_repeat<T: Clone>(record: T, count: usize) -> Result<Vec<T>> {
    try_collect(std::iter::repeat_n(record, count))
}

/// Reserves capacity for `more` records in a list, if the machine has the memory. `what` are the records, for the error.
///
/// # Errors
/// Those of [`check`], and [`Error::OutOfMemory`].
pub fn try_reserve<T>(what: &'static str, list: &mut Vec<T>, more: u64) -> Result<()> {
    check(what, more.saturating_mul(size_of::<T>() as u64))?;
    let failed =
        |_| Error::OutOfMemory { device: "this machine".into(), message: format!("cannot allocate memory for {what}") };
    list.try_reserve_exact(usize::try_from(more).unwrap_or(usize::MAX)).map_err(failed)
}

/// Appends a record to a list of unknown length. The capacity grows by half each time, if the machine has the memory.
///
/// # Errors
/// As [`try_reserve`].
pub fn try_push<T>(what: &'static str, list: &mut Vec<T>, record: T) -> Result<()> {
    if list.len() == list.capacity() {
        try_reserve(what, list, (list.len() as u64 / 2).max(1 << 12))?;
    }
    list.push(record);
    Ok(())
}

#[cfg(feature = "shadow")]
/// A list of `count` copies of a value, if the machine has the memory.
pub(crate) fn try_filled<T: Clone>(what: &'static str, count: usize, value: T) -> Result<Vec<T>> {
    let mut list = Vec::new();
    try_reserve(what, &mut list, count as u64)?;
    list.resize(count, value);
    Ok(list)
}

/// Bytes that this program can allocate without harm to others: those of [`set_limit`], or else those that the system reports, within the
/// limits of its control groups. `None` if the system does not report them.
pub fn available_bytes() -> Option<u64> {
    match LIMIT.load(Ordering::Relaxed) {
        u64::MAX => {}
        limit => return Some(limit),
    }
    let machine = field(&std::fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")?.saturating_mul(1024);
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    Some(cgroup_available(&groups, Path::new("/sys/fs/cgroup")).map_or(machine, |left| left.min(machine)))
}

/// Bytes that are left within the limits of this program's control groups; `None` without a limit.
fn cgroup_available(groups: &str, root: &Path) -> Option<u64> {
    let found = groups.lines().filter_map(|line| match line.splitn(3, ':').collect::<Vec<_>>()[..] {
        ["0", "", path] => Some((root.to_path_buf(), path, ["memory.max", "memory.current", "inactive_file"])),
        [_, "memory", path] => {
            let names = ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"];
            Some((root.join("memory"), path, names))
        }
        _ => None,
    });
    // A container often sees its own group as the root, whatever path is listed. So the ancestors of the path are read, too.
    let left = found.filter_map(|(root, path, names)| {
        let own = root.join(path.trim_start_matches('/'));
        own.ancestors()
            .take_while(|group| group.starts_with(&root))
            .filter_map(|group| group_available(group, names))
            .min()
    });
    left.min()
}

/// Bytes that are left within one group's limit. Its inactive file pages count as free: the system reclaims them first.
fn group_available(group: &Path, [limit, used, files]: [&str; 3]) -> Option<u64> {
    let read = |name: &str| std::fs::read_to_string(group.join(name)).ok();
    let limit: u64 = read(limit)?.trim().parse().ok()?;
    let used: u64 = read(used)?.trim().parse().ok()?;
    let files = read("memory.stat").and_then(|text| field(&text, files)).unwrap_or(0);
    Some(limit.saturating_sub(used.saturating_sub(files)))
}

/// The number after `name` at the beginning of a line.
fn field(text: &str, name: &str) -> Option<u64> {
    let mut words =
        text.lines().map(str::split_whitespace).find_map(|mut words| (words.next()? == name).then_some(words))?;
    words.next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::cgroup_available;

    #[test]
    fn the_tightest_cgroup_limit_applies() {
        let root = tempfile::tempdir().unwrap();
        let group = |path: &str, files: [(&str, &str); 3]| {
            std::fs::create_dir_all(root.path().join(path)).unwrap();
            for (name, text) in files {
                std::fs::write(root.path().join(path).join(name), text).unwrap();
            }
        };
        let second = |limit, used, files| [("memory.max", limit), ("memory.current", used), ("memory.stat", files)];
        assert_eq!(cgroup_available("0::/a/b\n", root.path()), None);
        group("a", second("max\n", "900\n", "anon 800\ninactive_file 0\n"));
        assert_eq!(cgroup_available("0::/a/b\n", root.path()), None, "no limit");
        group("a/b", second("1000\n", "900\n", "anon 600\ninactive_file 300\n"));
        assert_eq!(cgroup_available("0::/a/b\n", root.path()), Some(400));
        group("a", second("700\n", "900\n", "anon 600\ninactive_file 300\n"));
        assert_eq!(cgroup_available("0::/a/b\n", root.path()), Some(100), "what is around it is tighter");
        assert_eq!(cgroup_available("0::/../../elsewhere\n", root.path()), None);
        let first = [("memory.limit_in_bytes", "50"), ("memory.usage_in_bytes", "60"), ("memory.stat", "")];
        group("memory", first);
        assert_eq!(cgroup_available("5:cpu:/\n4:memory:/not/seen/here\n", root.path()), Some(0));
    }
}
