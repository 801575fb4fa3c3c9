//! Elements of the atoms of a PDB file that has no column of elements. The names of atoms have four columns, 13 to 16. The symbol of the
//! element is right-justified in the first two (wwPDB format version 3.30), but many programs justify names to the left.

use super::elements::atomic_number;

/// Amino acids with their protonation states and caps, nucleotides, and water: all atoms are H, C, N, O, P, S or Se.
const POLYMERS: &str = "ALA ARG ASN ASP CYS GLN GLU GLY HIS ILE LEU LYS MET PHE PRO SER THR TRP TYR VAL ASX GLX SEC PYL MSE UNK \
    HID HIE HIP HSD HSE HSP HISA HISB HISD HISE HISH CYX CYM CYS2 ASH ASPH GLH GLUH LYN LYSH ACE NME NMA NHE NH2 FOR \
    A C G U T I N DA DC DG DT DU DI DN RA RC RG RU A3 C3 G3 U3 A5 C5 G5 U5 DA3 DC3 DG3 DT3 DA5 DC5 DG5 DT5 RA3 RC3 RG3 RU3 RA5 RC5 RG5 RU5 \
    ADE CYT GUA THY URA HOH WAT SOL H2O DOD D2O TIP TIP3 TIP4 TIP5 TP3 TP4 TP5 T3P T4P T5P SPC";

/// Ions whose name is not the symbol.
const IONS: [(&str, &str); 9] = [
    ("LIT", "LI"),
    ("SOD", "NA"),
    ("POT", "K"),
    ("RUB", "RB"),
    ("CES", "CS"),
    ("CAL", "CA"),
    ("BAR", "BA"),
    ("CAD", "CD"),
    ("CLA", "CL"),
];

/// Symbols that begin with the letter of a common element, but are unlikely to be that element with a letter for its position, as CA is.
const TWO_LETTERS: [&str; 10] = ["CL", "CO", "CR", "CU", "NI", "PT", "SE", "SI", "SN", "SR"];

/// Whether a residue has only elements that are common in biopolymers.
pub(crate) fn is_polymer(residue: &str) -> bool {
    !residue.is_empty() && POLYMERS.split(' ').any(|known| known.eq_ignore_ascii_case(residue))
}

/// Elements of biopolymers.
pub(crate) fn is_common(element: u32) -> bool {
    matches!(element, 1 | 6 | 7 | 8 | 15 | 16 | 34)
}

/// Atomic number of a common element with a symbol of one letter.
fn common(letter: &str) -> Option<u32> {
    atomic_number(letter).filter(|element| is_common(*element))
}

/// The first letters of a name, in upper case.
fn letters(name: &str) -> String {
    let name = name.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
    name.chars().take_while(char::is_ascii_alphabetic).collect::<String>().to_ascii_uppercase()
}

/// Name of an atom.
pub(crate) struct Name<'a> {
    /// The four columns of the name.
    pub(crate) columns: &'a str,
    pub(crate) residue: &'a str,
    /// Whether the residue is one of a biopolymer.
    pub(crate) is_polymer: bool,
}

impl Name<'_> {
    /// Whether the columns begin with this number of letters.
    fn begins_with_letters(&self, count: usize) -> bool {
        self.columns.len() >= count && self.columns.bytes().take(count).all(|byte| byte.is_ascii_alphabetic())
    }

    fn is_full(&self) -> bool {
        self.columns.trim_ascii_end().len() == 4
    }

    /// Whether a name of less than four letters cannot be right-justified, so that the file justifies names to the left.
    pub(crate) fn is_left_justified(&self) -> bool {
        let letters = letters(self.columns);
        if !self.begins_with_letters(1) || self.is_full() || letters.starts_with("SE") {
            return false;
        }
        match self.is_polymer {
            true => common(&letters[..1]).is_some(),
            false => !self.begins_with_letters(2) || atomic_number(&letters[..2]).is_none(),
        }
    }

    /// Atomic number. `left` says that the file justifies names to the left. `None` if it is unknown.
    pub(crate) fn element(&self, left: bool) -> Option<u32> {
        let letters = letters(self.columns);
        let first = letters.get(..1)?;
        // An ion has the name of its residue, even that of a nucleotide: ruthenium is RU.
        if self.residue == "ION" || letters == self::letters(self.residue) {
            let symbol = IONS.iter().find(|(name, _)| *name == letters).map_or(&*letters, |(_, symbol)| *symbol);
            if let Some(element) = atomic_number(symbol) {
                return Some(element);
            }
        }
        if self.is_polymer {
            return if letters.starts_with("SE") { atomic_number("SE") } else { common(first) };
        }
        // Dummy atoms, and atoms that were not identified.
        if ["DUM", "UNX"].contains(&self.residue) {
            return None;
        }
        let two = &letters[..letters.len().min(2)];
        // Structures contain neither helium and neon, nor elements that live for hours.
        let found = |symbol| atomic_number(symbol).filter(|n| !matches!(n, 2 | 10 | 84..=89 | 91 | 93 | 95..));
        let one = atomic_number(first).filter(|element| is_common(*element) || matches!(element, 5 | 9 | 53));
        let is_one = match common(first) {
            Some(_) => (left || self.is_full() || !self.begins_with_letters(2)) && !TWO_LETTERS.contains(&two),
            // A position may have two letters: FAA is fluorine, but FE is iron, and so is FEA, whose symbol fills the first columns.
            None => letters.len() == 3 && !(self.begins_with_letters(2) && found(two).is_some()),
        };
        if is_one && one.is_some() {
            return one;
        }
        found(two).or(one)
    }
}
