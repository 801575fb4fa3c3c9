//! Assigns named columns in any order to fields. Text, Parquet, `.ply` and structured `.npy` use it.

use std::path::Path;

use strsim::levenshtein;

use super::headings::{Meanings, meanings_of, split};
use super::kinds::{
    COLORS, ELEMENT, FROM_ID, ID, MASK, POINTS, RADII, RADIUS, RAYS, ROTATION, SEGMENTS, SKIP_ID, SPHERES, TIME,
    TRANSMITTANCE, TableSchema, VELOCITY,
};
use crate::error::{self, bad_file};
use crate::escape::quoted;

/// Columns of spheres and ellipsoids that points do not have.
const RADII_OR_R: [&str; 4] = ["r", RADII[0], RADII[1], RADII[2]];

/// A table, and the unit of its lengths.
struct Fields<'a> {
    kind: &'a TableSchema,
    unit: Option<&'a str>,
}

impl Meanings for Fields<'_> {
    fn named(&self, name: &str) -> Option<usize> {
        let name = if self.kind.plural == "spheres" && name == RADIUS { "r" } else { name };
        self.kind.fields.iter().chain(self.kind.optional).position(|known| *known == name)
    }

    fn units(&self, field: usize) -> Option<Vec<String>> {
        let (name, length) = (self.kind.name(field), self.unit.unwrap_or("m"));
        Some(match name {
            MASK | SKIP_ID | FROM_ID | ID | TRANSMITTANCE | ELEMENT | "t_min" | "t_max" => vec![],
            _ if ROTATION.contains(&name) || COLORS.contains(&name) => vec![],
            TIME => vec!["s".into()],
            "unix_s" => vec!["s".into(), "utc".into()],
            _ if VELOCITY.contains(&name) || name == "speed" => vec![format!("{length}/s")],
            _ => vec![length.into()],
        })
    }

    fn name(&self, field: usize) -> &str {
        self.kind.name(field)
    }

    fn shares_units(&self) -> bool {
        self.unit.is_none()
    }
}

/// The field that each column fills; `None` for an unknown column, if `others` are allowed. Errors begin with `place`, the position of the
/// names in the file. `unit` is the unit of lengths that names may have: metres if it is not set.
pub(crate) fn columns(
    path: &Path,
    place: &str,
    kind: &TableSchema,
    names: &[&str],
    others: bool,
    unit: Option<&str>,
) -> error::Result<Vec<Option<usize>>> {
    let wanted = required(kind).join(",");
    let optional = kind.fields.iter().enumerate().filter(|(i, _)| (kind.default)(*i).is_some()).map(|(_, name)| *name);
    let optional = optional.chain(kind.optional.iter().copied()).collect::<Vec<_>>().join(",");
    let known = if optional.is_empty() { wanted.clone() } else { format!("{wanted}, optional {optional}") };
    let bad = |why: String| bad_file(path, format!("{place}{why}"));

    // Files that a system names are read without options.
    let is_of_picture = kind.is_of_picture();
    let plain: Vec<String> = names.iter().map(|name| split(name).0).collect();
    let has_name = |name: &str| plain.iter().any(|own| own == name);
    let r = kind.fields.iter().position(|name| *name == "r");
    let is_color = r.is_some() && ["r", "g", "b"].into_iter().all(has_name);
    let has_radius = kind.is_of_one_radius() || [RADIUS, RADII[0]].into_iter().any(has_name);
    if is_color && !(has_radius && others) {
        let remedy = match (has_radius, is_of_picture) {
            (false, _) => ", so r is not a radius: name the radius 'radius'",
            (true, true) => ": name them red, green and blue",
            (true, false) => ": name them red, green and blue for a picture, or use --ignore-extra",
        };
        return Err(bad(format!("columns r, g and b are a colour{remedy}")));
    }
    let meant = names.iter().zip(&plain).map(|(name, own)| if is_color && own == "r" { "" } else { *name });
    let found = meanings_of(&meant.collect::<Vec<_>>(), &Fields { kind, unit }).map_err(bad)?;
    let is_points = POINTS.fields.iter().copied().all(has_name) && !RADII_OR_R.into_iter().any(has_name);
    for ((heading, name), field) in names.iter().zip(&plain).zip(&found) {
        let name = name.as_str();
        if field.is_none() && !others && !kind.ignored.contains(&name) {
            let other = if kind.plural == "spheres" { &RAYS } else { &SPHERES };
            if kind.plural == "points" && RAYS.fields.contains(&name) {
                return Err(bad(format!(
                    "column '{name}' belongs to rays, but this file must contain points, with the columns {known}"
                )));
            }
            let option = match kind.plural {
                "rays" if SEGMENTS.fields.contains(&name) => {
                    Some(("segments", "to cast segments, use cast --segments"))
                }
                "rays" if is_points && POINTS.fields.contains(&name) => {
                    Some(("points", "to cast rays from points, use cast --toward or --parallel"))
                }
                "segments" if RAYS.fields.contains(&name) => Some(("rays", "to cast rays, leave out --segments")),
                _ => None,
            };
            if let Some((plural, hint)) = option {
                return Err(bad(format!("column '{name}' belongs to {plural}; {hint}; known columns are {known}")));
            }
            if is_of_picture && SPHERES.optional.contains(&name) {
                let remedy = "remove the column; one spheroid is a body with `radius` and `polar_radius`";
                return Err(bad(format!(
                    "column '{name}': the spheres of a system are opaque balls at rest: {remedy}; known columns are {known}"
                )));
            }
            if (other.fields.contains(&name) || (other.optional.contains(&name) && name != RADIUS))
                && !matches!(kind.plural, "observers" | "poses")
            {
                let then = match kind.plural {
                    "bullets" => "BULLETS",
                    "points" => "POINTS",
                    _ => "RAYS",
                };
                let plural = other.plural;
                return Err(bad(format!(
                    "column '{name}' belongs to {plural}; the order of the files is SPHERES, then {then}; known columns are {known}"
                )));
            }
            if COLORS.contains(&name) || name == ELEMENT {
                let what = "belongs to pictures of system files";
                return Err(bad(format!("column '{name}' {what}; other columns need --ignore-extra")));
            }
            let absent: Vec<&str> =
                kind.fields.iter().chain(kind.optional).copied().filter(|known| !has_name(known)).collect();
            let guess = nearest(name, &absent).map(|f| format!(" (did you mean '{f}'?)")).unwrap_or_default();
            let option = match kind.plural {
                _ if is_of_picture => "",
                "rays" | "segments" | "points" | "observers" | "poses" => {
                    "; other columns need --ignore-extra or --keep"
                }
                _ => "; other columns need --ignore-extra",
            };
            return Err(bad(format!("unknown column '{}'{guess}; known columns are {known}{option}", quoted(heading))));
        }
    }
    let columns: Vec<usize> = found.iter().flatten().copied().collect();
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
                "states" => ", and `time` instead of unix_s as text; is the first row not a header?",
                "spheres" if *name != "r" => "",
                "spheres" => kind.radius_remedy(),
                _ => "",
            };
            return Err(bad(format!("column '{name}' is missing; {} need the columns {known}{points}", kind.plural)));
        }
    }
    Ok(found)
}

/// The column of the time among others, without a field.
pub(crate) fn time_column(names: &[&str]) -> Result<Option<usize>, String> {
    static ONLY_TIME: TableSchema = TableSchema { fields: &[], optional: &[TIME], ..RAYS };
    let found = meanings_of(names, &Fields { kind: &ONLY_TIME, unit: None })?;
    Ok(found.iter().position(Option::is_some))
}

/// Whether a name is that of a field or an optional column, with any unit.
pub(crate) fn is_known(kind: &TableSchema, heading: &str) -> bool {
    Fields { kind, unit: None }.named(&split(heading).0).is_some()
}

pub(crate) fn required(kind: &TableSchema) -> Vec<&'static str> {
    kind.fields.iter().enumerate().filter(|(i, _)| (kind.default)(*i).is_none()).map(|(_, name)| *name).collect()
}

/// The known name that is most similar to the unknown `name`: fewer than half of its letters differ, or one of two. A name of one letter
/// is similar to none.
fn nearest(name: &str, known: &[&'static str]) -> Option<&'static str> {
    if !(2..=64).contains(&name.len()) {
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
