//! Assigns named columns in any order to fields. Text, Parquet and structured `.npy` use it.

use std::path::Path;

use strsim::levenshtein;

use super::kinds::{COLORS, ELEMENT, POINTS, RADII, RADIUS, RAYS, ROTATION, SEGMENTS, SPHERES, TableSchema, VELOCITY};
use crate::error::Result;
use crate::escape::quoted;
use crate::io::errors::bad_file;

/// Columns of spheres and ellipsoids that points do not have.
const RADII_OR_R: [&str; 4] = ["r", RADII[0], RADII[1], RADII[2]];

/// The field that each column fills. Errors begin with `place`, the position of the names in the file.
pub(crate) fn columns<'a>(
    path: &Path,
    place: &str,
    kind: &TableSchema,
    names: impl Iterator<Item = &'a str>,
) -> Result<Vec<usize>> {
    let wanted = required(kind).join(",");
    let optional = kind.fields.iter().enumerate().filter(|(i, _)| (kind.default)(*i).is_some()).map(|(_, name)| *name);
    let optional = optional.chain(kind.optional.iter().copied()).collect::<Vec<_>>().join(",");
    let known = if optional.is_empty() { wanted.clone() } else { format!("{wanted}, optional {optional}") };
    let bad = |why: String| bad_file(path, format!("{place}{why}"));

    // Files that a system names are read without options.
    let is_of_picture = kind.plural == "spheres" && kind.optional.contains(&ELEMENT);
    let names: Vec<&str> = names.collect();
    let is_points =
        POINTS.fields.iter().all(|field| names.contains(field)) && !names.iter().any(|name| RADII_OR_R.contains(name));
    let mut columns = Vec::new();
    for &name in &names {
        let mut all = kind.fields.iter().chain(kind.optional);
        let Some(field) = all.position(|f| *f == name) else {
            let other = if kind.plural == "spheres" { &RAYS } else { &SPHERES };
            if kind.plural == "points" && RAYS.fields.contains(&name) {
                return Err(bad(format!(
                    "column '{name}' belongs to rays, but this file must contain points, with the columns {known}"
                )));
            }
            let option = match kind.plural {
                "rays" if SEGMENTS.fields.contains(&name) => Some(("segments", "to cast segments, add --segments")),
                "rays" if is_points && POINTS.fields.contains(&name) => {
                    Some(("points", "to cast rays from points, add --toward or --parallel"))
                }
                "segments" if RAYS.fields.contains(&name) => Some(("rays", "to cast rays, leave out --segments")),
                _ => None,
            };
            if let Some((plural, hint)) = option {
                return Err(bad(format!("column '{name}' belongs to {plural}; {hint}; known columns are {known}")));
            }
            if (other.fields.contains(&name) || (other.optional.contains(&name) && name != RADIUS))
                && !matches!(kind.plural, "observers" | "poses")
            {
                let (plural, then) = (other.plural, if kind.plural == "bullets" { "BULLETS" } else { "RAYS" });
                return Err(bad(format!(
                    "column '{name}' belongs to {plural}; the order of the files is SPHERES, then {then}; known columns are {known}"
                )));
            }
            if COLORS.contains(&name) || name == ELEMENT {
                let what = "belongs to pictures of system files";
                return Err(bad(format!("column '{name}' {what}; other columns need --ignore-extra")));
            }
            let absent: Vec<&str> =
                kind.fields.iter().chain(kind.optional).copied().filter(|known| !names.contains(known)).collect();
            let guess = nearest(name, &absent).map(|f| format!(" (did you mean '{f}'?)")).unwrap_or_default();
            let option = match kind.plural {
                _ if is_of_picture => "",
                "rays" | "segments" | "points" | "observers" | "poses" => {
                    "; other columns need --ignore-extra or --keep"
                }
                _ => "; other columns need --ignore-extra",
            };
            return Err(bad(format!("unknown column '{}'{guess}; known columns are {known}{option}", quoted(name))));
        };
        if columns.contains(&field) {
            return Err(bad(format!("column '{name}' appears twice")));
        }
        columns.push(field);
    }
    let has = |name: &str| kind.place(name).is_some_and(|field| columns.contains(&field));
    for (what, together) in [
        ("a velocity needs three columns", &VELOCITY[..]),
        ("an ellipsoid needs three semi-axes", &RADII),
        ("a rotation needs four columns", &ROTATION),
        ("a colour needs three columns", &COLORS),
    ] {
        let there = together.iter().filter(|name| has(name)).count();
        if (1..together.len()).contains(&there) {
            return Err(bad(format!("{what}: {}", together.join(","))));
        }
    }
    let ellipsoids = has(RADII[0]);
    if has(ROTATION[0]) && !ellipsoids {
        return Err(bad(
            "the rotation qw,qx,qy,qz is only for ellipsoids, but the semi-axes rx,ry,rz are missing".into()
        ));
    }
    let radius = ellipsoids.then(|| kind.fields.iter().position(|name| *name == "r")).flatten();
    if radius.is_some_and(|radius| columns.contains(&radius)) {
        return Err(bad("column 'r' is for spheres, and rx,ry,rz are for ellipsoids: use only one of the two".into()));
    }
    for (field, name) in kind.fields.iter().enumerate() {
        if (kind.default)(field).is_none() && !columns.contains(&field) && radius != Some(field) {
            let points = match kind.plural {
                "spheres" if *name != "r" => "",
                "spheres" if is_of_picture => {
                    "; points need a column with a radius, or `radius` in the table of the body"
                }
                "spheres" => "; points need a column with a radius, or --sphere-radius",
                _ => "",
            };
            return Err(bad(format!("column '{name}' is missing; {} need the columns {known}{points}", kind.plural)));
        }
    }
    Ok(columns)
}

/// Whether a table has a field or an optional column of this name.
pub(crate) fn is_known(kind: &TableSchema, name: &str) -> bool {
    kind.fields.iter().chain(kind.optional).any(|known| *known == name)
}

pub(crate) fn required(kind: &TableSchema) -> Vec<&'static str> {
    kind.fields.iter().enumerate().filter(|(i, _)| (kind.default)(*i).is_none()).map(|(_, name)| *name).collect()
}

/// The known name that is most similar to the unknown `name`: fewer than half of its letters differ, or one of two.
fn nearest(name: &str, known: &[&'static str]) -> Option<&'static str> {
    if name.len() > 64 {
        return None;
    }
    let name = name.to_ascii_lowercase();
    let initials: String = name.split(['_', ' ', '.', '-']).filter_map(|word| word.chars().next()).collect();
    let near = known.iter().map(|k| (levenshtein(&name, k), *k)).filter(|(edits, k)| 2 * edits < k.len().max(3)).min();
    near.map(|(_, k)| k)
        .or_else(|| known.iter().copied().find(|k| *k == initials))
        .or_else(|| known.iter().copied().find(|k| k.len() > 1 && (name.starts_with(k) || name.ends_with(k))))
        .or_else(|| known.iter().copied().find(|k| *k == "r" && name.starts_with("rad")))
}
