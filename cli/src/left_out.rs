//! Says what was left out of files of atoms.

use std::path::Path;

use umbracast_files::LeftOut;
use umbracast_files::SystemFiles;

use super::say;
use super::summary::counted;

/// What keeps unknown atoms and further models.
const OPTIONS: [&str; 2] = ["--unknown-atoms RADIUS", "--models all"];

/// The same in the table of a body.
const KEYS: [&str; 2] = ["unknown_atoms = RADIUS", "models = \"all\""];

/// Says what was left out of a file that the command line names.
pub(crate) fn say_of(path: &Path, left_out: &LeftOut, quiet: bool) {
    say_with(path, left_out, quiet, OPTIONS);
}

/// Says what was left out of the files that a system file names.
pub(crate) fn say_all(files: &SystemFiles, quiet: bool) {
    files.left_out.iter().for_each(|(path, left_out)| say_with(path, left_out, quiet, KEYS));
}

fn say_with(path: &Path, left_out: &LeftOut, quiet: bool, [radius, all]: [&str; 2]) {
    let path = path.display();
    // Alternatives are left out of most files. The warnings are printed even with `--quiet`.
    if left_out.alternate_locations > 0 && !quiet {
        let count = counted(left_out.alternate_locations, "alternate location");
        say(&format!("note: {path}: left out {count}; each atom is read at its first one"));
    }
    if left_out.unknown_atoms > 0 {
        let count = counted(left_out.unknown_atoms, "atom");
        let first = &left_out.first_unknown;
        say(&format!(
            "warning: {path}: left out {count} of unknown element, such as {first}; {radius} gives them a radius"
        ));
    }
    if left_out.models > 0 {
        let count = counted(left_out.models, "model");
        say(&format!("warning: {path}: left out {count} after the first; {all} reads them"));
    }
}
