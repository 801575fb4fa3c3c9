//! Chemical elements: symbols and van der Waals radii.

/// Symbols, ordered by atomic number from 1.
const SYMBOLS: [&str; 118] = [
    "H", "He", "Li", "Be", "B", "C", "N", "O", "F", "Ne", "Na", "Mg", "Al", "Si", "P", "S", "Cl", "Ar", "K", "Ca",
    "Sc", "Ti", "V", "Cr", "Mn", "Fe", "Co", "Ni", "Cu", "Zn", "Ga", "Ge", "As", "Se", "Br", "Kr", "Rb", "Sr", "Y",
    "Zr", "Nb", "Mo", "Tc", "Ru", "Rh", "Pd", "Ag", "Cd", "In", "Sn", "Sb", "Te", "I", "Xe", "Cs", "Ba", "La", "Ce",
    "Pr", "Nd", "Pm", "Sm", "Eu", "Gd", "Tb", "Dy", "Ho", "Er", "Tm", "Yb", "Lu", "Hf", "Ta", "W", "Re", "Os", "Ir",
    "Pt", "Au", "Hg", "Tl", "Pb", "Bi", "Po", "At", "Rn", "Fr", "Ra", "Ac", "Th", "Pa", "U", "Np", "Pu", "Am", "Cm",
    "Bk", "Cf", "Es", "Fm", "Md", "No", "Lr", "Rf", "Db", "Sg", "Bh", "Hs", "Mt", "Ds", "Rg", "Cn", "Nh", "Fl", "Mc",
    "Lv", "Ts", "Og",
];

/// Radius of elements without a consistent van der Waals radius, such as transition metals, in angstrom.
const OTHER_RADIUS: f64 = 2.0;

/// Atomic number of a symbol; case is ignored. Deuterium, `D`, is hydrogen. `None` for an unknown symbol.
pub(crate) fn atomic_number(symbol: &str) -> Option<u32> {
    let symbol = if symbol.eq_ignore_ascii_case("D") { "H" } else { symbol };
    (1..).zip(SYMBOLS).find(|(_, known)| known.eq_ignore_ascii_case(symbol)).map(|(number, _)| number)
}

/// Atomic number from a label: a symbol that may have a mass in front, and a suffix that begins with no letter, such as a charge or a
/// number. Examples are `Fe3+`, `13C` and `O1'`.
pub(crate) fn number_of_label(label: &str) -> Option<u32> {
    let label = label.trim_start_matches(|c: char| c.is_ascii_digit());
    let end = label.find(|c: char| !c.is_alphabetic()).unwrap_or(label.len());
    atomic_number(&label[..end])
}

/// Van der Waals radii in hundredths of an angstrom, ordered by atomic number from 1; 0 for elements without a consistent one.
const RADII: [u16; 88] = [
    110, 140, 181, 153, 192, 170, 155, 152, 147, 154, 227, 173, 184, 210, 180, 180, 175, 188, 275, 231, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 187, 211, 185, 190, 183, 202, 303, 249, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 193, 217, 206, 206, 198, 216,
    343, 268, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 196, 202, 207, 197, 202, 220,
    348, 283,
];

/// Van der Waals radius in angstrom, for main-group elements after Mantina et al., J. Phys. Chem. A 113 (2009) 5806, table 12.
pub(crate) fn radius(atomic_number: u32) -> f64 {
    match atomic_number.checked_sub(1).and_then(|i| RADII.get(i as usize)) {
        None | Some(0) => OTHER_RADIUS,
        Some(&hundredths) => f64::from(hundredths) / 100.0,
    }
}
