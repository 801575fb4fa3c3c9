//! Names of columns as other programs and people write them: in any case, with a unit, with a prefix. Every table uses these rules.

use crate::escape::quoted;

/// What the columns of a table mean.
pub(crate) trait Meanings {
    /// Index of the meaning with this name, in lower case.
    fn named(&self, name: &str) -> Option<usize>;
    /// Units that a heading may have, the first for messages. Empty for numbers without a unit, `None` for text.
    fn units(&self, meaning: usize) -> Option<Vec<String>>;
    /// A name of the meaning, for advice.
    fn name(&self, meaning: usize) -> &str;
    /// Whether numbers without a unit may have any unit that all files share.
    fn shares_units(&self) -> bool;
}

/// Units at the end of a name, such as `height_m`.
const SUFFIXES: [&str; 22] = [
    "m", "km", "cm", "mm", "um", "nm", "mi", "au", "pc", "ft", "feet", "foot", "yd", "miles", "metres", "meters",
    "deg", "degrees", "rad", "radians", "s", "d",
];

/// The meaning of each heading; `None` for an unknown one.
///
/// # Errors
/// A message if two headings have the same meaning, or a heading has another unit.
pub(crate) fn meanings_of(headings: &[&str], table: &dyn Meanings) -> Result<Vec<Option<usize>>, String> {
    let found = headings.iter().map(|heading| meaning_of(heading, table)).collect::<Result<Vec<_>, _>>()?;
    for (at, meaning) in found.iter().enumerate().filter(|(_, meaning)| meaning.is_some()) {
        let Some(first) = found[..at].iter().position(|other| other == meaning) else { continue };
        let (first, second) = (quoted(headings[first]), quoted(headings[at]));
        return Err(match first == second {
            true => format!("column '{first}' appears twice"),
            false => format!("columns '{first}' and '{second}' have the same meaning: keep one of them"),
        });
    }
    Ok(found)
}

fn meaning_of(heading: &str, table: &dyn Meanings) -> Result<Option<usize>, String> {
    if let Some(meaning) = table.named(heading) {
        return Ok(Some(meaning));
    }
    let (name, unit) = split(heading);
    let suffix = || {
        let (name, unit) =
            name.rsplit_once('_').filter(|(_, unit)| !table.shares_units() && SUFFIXES.contains(unit))?;
        Some((table.named(name)?, unit))
    };
    let Some((meaning, unit)) = table.named(&name).map(|meaning| (meaning, unit)).or_else(suffix) else {
        return Ok(None);
    };
    let Some(units) = table.units(meaning) else { return Ok(Some(meaning)) };
    if unit.is_empty() || units.contains(&plain_unit(unit)) {
        return Ok(Some(meaning));
    }
    let (name, heading, unit) = (table.name(meaning), quoted(heading), quoted(unit));
    let shared =
        if table.shares_units() { format!(", or name it '{name}' if all files have this unit") } else { String::new() };
    Err(match units.first() {
        None => format!("column '{heading}' has the unit '{unit}', but {name} has none: name it '{name}'"),
        Some(known) => {
            let values = if known == "utc" { "times" } else { "numbers" };
            format!("column '{heading}' has the unit '{unit}', expected {known}: convert the {values}{shared}")
        }
    })
}

/// A heading without its unit: lower case, with `_` between words. And the unit in brackets or after a slash; empty if there is none.
pub(crate) fn split(heading: &str) -> (String, &str) {
    let heading = heading.trim();
    let bracket = heading.rfind(['(', '[', '{']).filter(|_| heading.ends_with([')', ']', '}']));
    let (name, unit) = match (bracket, heading.split_once('/')) {
        (Some(at), _) => (&heading[..at], &heading[at + 1..heading.len() - 1]),
        (None, Some((name, unit))) => (name, unit),
        (None, None) => (heading, ""),
    };
    let name = name.trim().to_lowercase().replace([' ', '-'], "_");
    // CloudCompare writes the names of numbers in this way.
    (name.strip_prefix("scalar_").map(str::to_owned).unwrap_or(name), unit.trim())
}

/// A unit as this program writes it.
fn plain_unit(unit: &str) -> String {
    let unit = unit.to_lowercase().replace([' ', '.'], "");
    // Heights above sea level.
    let unit = ["asl", "amsl", "msl", "abovesealevel"].iter().find_map(|end| unit.strip_suffix(end)).unwrap_or(&unit);
    let spellings: [(&str, &[&str]); 7] = [
        ("m", &["metre", "metres", "meter", "meters"]),
        ("km", &["kilometre", "kilometres", "kilometer", "kilometers"]),
        ("deg", &["°", "º", "degree", "degrees", "decimaldegrees"]),
        ("s", &["sec", "second", "seconds"]),
        ("um", &["µm", "μm"]),
        ("angstrom", &["å", "angstroms"]),
        ("d", &["day", "days"]),
    ];
    spellings.iter().find(|(_, others)| others.contains(&unit)).map_or(unit, |(plain, _)| *plain).into()
}
