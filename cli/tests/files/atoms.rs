//! Atoms of PDB and XYZ files as spheres: elements, alternate locations, models and frames, and the counts of atoms that are left out.

use umbracast_testing::folder::{Done, Folder, npy_array};

/// Copies a file of `tests/data/cases`.
fn copy(folder: &Folder, name: &str) {
    let cases = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/cases");
    folder.write(name, std::fs::read(format!("{cases}/{name}")).unwrap());
}

/// Casts `rays` rays along +x at z = 0, 10, 20, … from x = −10. Returns `t,id` of each; `t` is 10 less the radius.
fn probe(folder: &Folder, file: &str, rays: usize, options: &str) -> (String, Done) {
    let rays: String = (0..rays).map(|i| format!("-10,0,{},1,0,0\n", 10 * i)).collect();
    folder.write("probe.csv", format!("ox,oy,oz,dx,dy,dz\n{rays}"));
    let done = folder.run(&format!("cast {file} probe.csv -o out.csv -q {options}"));
    let found = if done.code == 0 {
        folder.text("out.csv").lines().skip(1).collect::<Vec<_>>().join(" ")
    } else {
        String::new()
    };
    (found, done)
}

/// Whether results have the same ids, and `t` within the rounding of f32.
fn is_equal(found: &str, expected: &str) -> bool {
    let cells = |text: &str| text.split([' ', ',']).map(|cell| cell.parse().ok()).collect::<Vec<Option<f64>>>();
    let (found, expected) = (cells(found), cells(expected));
    let is_close = |pair: (&Option<f64>, &Option<f64>)| match pair {
        (Some(a), Some(b)) => (a - b).abs() < 2e-6,
        (a, b) => a == b,
    };
    found.len() == expected.len() && found.iter().zip(&expected).all(is_close)
}

#[track_caller]
fn check(folder: &Folder, file: &str, options: &str, expected: &str, warning: &str) {
    let (found, done) = probe(folder, file, expected.split(' ').count(), options);
    assert!(is_equal(&found, expected), "{file} {options}: {found} instead of {expected}; {}", done.errors);
    assert!(
        done.errors.contains(warning) && (!warning.is_empty() || done.errors.is_empty()),
        "{file}: {}",
        done.errors
    );
}

#[track_caller]
fn refuse(folder: &Folder, file: &str, options: &str, words: &[&str]) {
    let (_, done) = probe(folder, file, 1, options);
    done.says(2, words);
}

#[test]
fn real_files_give_the_right_radii_and_ids() {
    let folder = Folder::new();
    let models = "warning: assembly.pdb: left out 1 model after the first; --models all reads them";
    let site =
        "left out 1 atom of unknown element, such as 'EPW' in line 3; --unknown-atoms RADIUS gives them a radius";
    for (file, options, expected, warning) in [
        ("noelem_val.pdb", "", "8.45,0 8.3,1 8.3,2 8.9,3", ""),
        ("noelem_left.pdb", "", "8.45,0 8.3,1 8.3,2 8.48,3", ""),
        ("noelem_leu.pdb", "", "8.3,0 8.3,1 8.9,2", ""),
        ("altloc_bc.pdb", "", "8.3,0 8.3,1 8.3,3", ""),
        ("old1992.pdb", "", "8.45,0 8.3,1 8.3,2 8.48,3", ""),
        ("tip4p.pdb", "", "8.48,0 8.9,1 ,", site),
        ("tip4p.pdb", "--unknown-atoms 0.5", "8.48,0 8.9,1 9.5,2", ""),
        ("elem_x.pdb", "--unknown-atoms skip", "8.45,0 8.3,1 ,", "'XE1' in line 3"),
        ("assembly.pdb", "", "8.3,0 ,", models),
        ("assembly.pdb", "--models all", "8.3,0 8.3,1", ""),
        ("label_fe3.xyz", "", "8.3,0 8.0,1", ""),
        ("ext_id.xyz", "", "8.3,0 8.48,1", ""),
        ("ext_radius.xyz", "", "9.75,0 6.5,1", ""),
        ("lammps.xyz", "--unknown-atoms 1", "9.0,0 9.0,1 9.0,2", ""),
        ("dexp.xyz", "", "8.3,0", ""),
        // Written by gemmi; the columns of elements are cut off.
        ("gemmi_names.pdb", "", GEMMI, ""),
        // Written by ASE: two frames; species, positions, an index and radii, or numbers.
        ("ase_radii.xyz", "--models all", "9.25,0 8.5,1 9.25,2 8.5,3", ""),
        ("ase_numbers.xyz", "", "8.3,0 8.48,1", ""),
        // Written by Biopython: a point mutation, B SER and A VAL, a CA at B and A, and a CB at B and C.
        ("biopython_altloc.pdb", "", "8.45,0 , 8.3,2 , 8.3,3 , 8.3,5", ""),
    ] {
        copy(&folder, file);
        check(&folder, file, options, expected, warning);
    }
    refuse(&folder, "tip4p.pdb", "--unknown-atoms error", &["tip4p.pdb: line 3: 'EPW' is not a chemical element"]);
    refuse(
        &folder,
        "lammps.xyz",
        "",
        &["lammps.xyz: line 3: the element is 1", "dump_modify", "Properties=Z:I:1:pos:R:3"],
    );
    refuse(&folder, "tip4p.pdb", "--unknown-atoms -1", &["expected skip, error, or a radius"]);
    // No query finds an atom that is left out.
    folder.write("b.csv", "x1,y1,z1,x2,y2,z2,speed\n-10,0,20,0,0,20,1\n").write("p.csv", "x,y,z\n0,0,20\n0,0,10\n");
    folder.run_ok("bullets tip4p.pdb b.csv -o out.csv -q");
    assert!(folder.text("out.csv").lines().nth(1).unwrap().starts_with("miss"), "{}", folder.text("out.csv"));
    folder.run_ok("contains tip4p.pdb p.csv -o out.csv -q");
    assert_eq!(folder.text("out.csv"), "count,id\n0,\n1,1\n");
    let (found, _) = probe(&folder, "tip4p.pdb", 3, "--query approach");
    assert_eq!(found.split(' ').nth(2), Some("10.0,8.9,1"));
    // What the error advises works.
    folder.write("z.xyz", folder.text("lammps.xyz").replace("Atoms. Timestep: 0", "Properties=Z:I:1:pos:R:3"));
    check(&folder, "z.xyz", "", "8.9,0 8.6,1 8.6,2", "");
}

/// Radii of the atoms of `gemmi_names.pdb`.
const GEMMI: &str = "8.3,0 8.3,1 8.9,2 8.9,3 8.45,4 8.9,5 8.2,6 8.48,7 8.9,8 8.9,9 8.48,10 8.9,11 8.2,12 8.9,13 8.1,14 8.3,15 8.3,16 \
    8.2,17 8.48,18 8.9,19 8.3,20 8.45,21 8.45,22 8.0,23 8.9,24 8.2,25 8.48,26 8.2,27 8.9,28 8.25,29 8.17,30 8.3,31 8.9,32 8.9,33 \
    8.45,34 7.69,35 8.0,36 7.73,37 7.25,38 8.0,39";

/// A line of a PDB file. `name` has four columns, and `location` one.
fn line(record: &str, name: &str, location: char, residue: &str, [x, z]: [f64; 2], element: &str) -> String {
    format!(
        "{record:<6}    1 {name:4}{location}{residue:>3} A   1    {x:8.3}{:8.3}{z:8.3}  1.00  0.00          {element:>2}\n",
        0.0
    )
}

#[test]
fn names_give_elements_where_the_column_has_none() {
    const UNKNOWN: f64 = 0.0;
    let folder = Folder::new();
    for (record, name, residue, element, radius) in [
        ("ATOM", "HE21", "GLN", "", 1.1),
        ("ATOM", "HO5'", "DG", "", 1.1),
        ("ATOM", "HO2'", "A", "", 1.1),
        ("ATOM", "1HG1", "VAL", "", 1.1),
        ("ATOM", "DD11", "LEU", "", 1.1),
        ("ATOM", " D  ", "ALA", "D", 1.1),
        ("ATOM", "CD1 ", "TRP", "", 1.7),
        ("ATOM", "NE1 ", "TRP", "", 1.55),
        ("ATOM", "SG  ", "CYS", "", 1.8),
        ("ATOM", "SE  ", "MSE", "", 1.9),
        ("ATOM", "CE  ", "MSE", "", 1.7),
        ("ATOM", " OW ", "SOL", "", 1.52),
        ("ATOM", " MW ", "SOL", "", UNKNOWN),
        ("ATOM", " QB ", "ALA", "", UNKNOWN),
        // A column that contradicts the residue is not believed, and digits are no element.
        ("ATOM", " CA ", "GLY", "CA", 1.7),
        ("ATOM", " CA ", "GLY", "12", 1.7),
        ("ATOM", "CL1 ", "UNK", "CL", 1.75),
        ("HETATM", " F1 ", "UNK", "F", 1.47),
        ("ATOM", " CA ", "UNK", "", 1.7),
        ("HETATM", "RU  ", "RU", "RU", 2.0),
        ("HETATM", "RU  ", "RU", "", 2.0),
        ("HETATM", "PB  ", "PB", "PB", 2.02),
        ("HETATM", "BI  ", "BI", "BI", 2.07),
        ("HETATM", "CA  ", "CA", "", 2.31),
        ("HETATM", " CA ", "CA", "", 2.31),
        ("HETATM", "CA  ", "CA", "CA", 2.31),
        ("HETATM", "ZN  ", "ZN", "", 2.0),
        ("HETATM", "SOD ", "SOD", "", 2.27),
        ("HETATM", " K  ", "K", "", 2.75),
        ("HETATM", " K  ", "K", "K", 2.75),
        // Ions as CHARMM names them, in both places.
        ("HETATM", " CAL", "CAL", "", 2.31),
        ("HETATM", "CAL ", "CAL", "", 2.31),
        ("HETATM", " BAR", "BAR", "", 2.68),
        ("HETATM", " LIT", "LIT", "", 1.81),
        ("HETATM", " CAD", "CAD", "", 2.0),
        ("HETATM", " CL ", "ION", "", 1.75),
        ("HETATM", " NA ", "ION", "", 2.27),
        ("HETATM", " CL ", "CHL", "", 1.75),
        // An element of two letters in the place of one with a letter for its position.
        ("HETATM", " FE ", "HEM", "", 2.0),
        ("HETATM", " FE1", "SF4", "", 2.0),
        ("HETATM", " BR ", "BRO", "", 1.83),
        ("HETATM", " MG ", "CHL", "", 1.73),
        ("HETATM", "BRAE", "LIG", "", 1.83),
        ("HETATM", "BRA ", "LIG", "", 1.83),
        ("HETATM", "FEA ", "LIG", "", 2.0),
        ("HETATM", "INA ", "LIG", "", 1.93),
        ("HETATM", " BAA", "LIG", "", 1.92),
        ("HETATM", " FAA", "LIG", "", 1.47),
        ("HETATM", "FAA ", "LIG", "", 1.47),
        ("HETATM", " IAA", "LIG", "", 1.98),
        ("HETATM", " CD ", "LIG", "", 1.7),
        ("HETATM", " NE ", "LIG", "", 1.55),
        ("HETATM", " SD ", "LIG", "", 1.8),
        ("HETATM", " HG ", "LIG", "", 1.1),
        ("HETATM", "FE  ", "HEM", "", 2.0),
        ("HETATM", " NA ", "HEM", "", 1.55),
        ("HETATM", " PB ", "ATP", "", 1.8),
        ("HETATM", "HO5'", "ATP", "", 1.1),
        ("HETATM", "CL1 ", "LIG", "", 1.75),
        ("HETATM", "C10A", "LIG", "", 1.7),
        ("HETATM", "HE11", "LIG", "", 1.1),
        ("HETATM", "UNK ", "UNX", "X", UNKNOWN),
        ("HETATM", "UNK ", "UNX", "", UNKNOWN),
        ("HETATM", "FE  ", "FE", "FE3+", 2.0),
        ("HETATM", " LP1", "LIG", "", UNKNOWN),
    ] {
        folder.write("a.pdb", line(record, name, ' ', residue, [0.0, 0.0], element));
        let (found, done) = probe(&folder, "a.pdb", 1, "");
        let expected = if radius == UNKNOWN { ",".into() } else { format!("{},0", 10.0 - radius) };
        assert!(is_equal(&found, &expected), "{record} {name} {residue} {element}: {found}; {}", done.errors);
        assert_eq!(done.errors.contains("unknown element"), radius == UNKNOWN, "{name}: {}", done.errors);
    }
    // One name that cannot be right-justified shows how the others of the file are meant.
    let names = ["C1  ", "CA  ", "NA  ", "PB  ", "HG  ", "CL  ", "FE  "];
    let text: String = (0..7).map(|i| line("HETATM", names[i], ' ', "LIG", [0.0, 10.0 * i as f64], "")).collect();
    folder.write("a.pdb", text);
    check(&folder, "a.pdb", "", "8.3,0 8.3,1 8.45,2 8.2,3 8.9,4 8.25,5 8.0,6", "");
    let atoms = [("C1  ", "LIG"), ("CAL ", "CAL"), ("FAA ", "LIG"), ("IAB ", "LIG")];
    let text = (0..4).map(|i| line("HETATM", atoms[i].0, ' ', atoms[i].1, [0.0, 10.0 * i as f64], ""));
    folder.write("a.pdb", text.collect::<String>());
    check(&folder, "a.pdb", "", "8.3,0 7.69,1 8.53,2 8.02,3", "");
    // As CHARMM-GUI writes them, with the name of a segment.
    folder.write(
        "a.pdb",
        "ATOM      1  CAL CAL H   1       0.000   0.000   0.000  1.00  0.00      HETA\n\
         ATOM      2  BAR BAR H   2       0.000   0.000  10.000  1.00  0.00      HETA\n\
         ATOM      3  FE  HEMEH   3       0.000   0.000  20.000  1.00  0.00      HETA\n",
    );
    check(&folder, "a.pdb", "", "7.69,0 7.32,1 8.0,2", "");
}

#[test]
fn every_atom_has_one_location() {
    let folder = Folder::new();
    // Name, location and residue of each row, and the rows that are read.
    for (rows, read) in [
        // The first of B and C, whatever other atoms have; A or blank, wherever it is.
        (&[" CA AVAL", " CB BVAL", " CB CVAL", " CA BVAL"][..], &[0, 1][..]),
        (&[" CA BVAL", " CA AVAL"], &[1]),
        (&[" CA  VAL", " CA BVAL"], &[0]),
        (&[" CA 1VAL", " CA 2VAL"], &[0]),
        // Two residues as alternatives: the one with A, or else the first one.
        (&[" CA ASER", " OG ASER", " CA BTHR", " CG2BTHR"], &[0, 1]),
        (&[" CA BTHR", " CG2BTHR", " CA ASER"], &[2]),
        (&[" CA BTHR", " CG2BTHR", " CA CSER", " OG CSER"], &[0, 1]),
        // Two residues that only share a number.
        (&[" CA AVAL", " CA BVAL", " O1 ALIG", " O1 BLIG"], &[0, 2]),
        (&[" CA  VAL", " C1 BLIG", " C1 CLIG"], &[0, 1]),
    ] {
        let text: String = (0..rows.len())
            .map(|i| {
                let (name, location, residue) = (&rows[i][..4], rows[i].as_bytes()[4] as char, &rows[i][5..]);
                line("ATOM", name, location, residue, [0.0, 10.0 * i as f64], "")
            })
            .collect();
        folder.write("a.pdb", &text);
        let (found, _) = probe(&folder, "a.pdb", rows.len(), "");
        let ids: Vec<usize> = found.split(' ').filter_map(|cell| cell.split(',').nth(1)?.parse().ok()).collect();
        assert_eq!(ids, read, "{rows:?}");
        let done = folder.run("cast a.pdb probe.csv -o out.csv");
        let count = rows.len() - read.len();
        assert!(done.errors.contains(&format!("note: a.pdb: left out {count} alternate location")), "{}", done.errors);
        // The centre of the spheres is that of the atoms that are read.
        let (same, _) = probe(&folder, "a.pdb", rows.len(), "--origin auto");
        assert_eq!(same, found, "{rows:?}");
        // Points keep all rows, so that each row has a result.
        folder.run_ok("contains a.pdb a.pdb -o in.csv -q");
        assert_eq!(folder.text("in.csv").lines().count(), 1 + rows.len());
    }
    // A location that stands far from the first one.
    let mut text = line("ATOM", " CA ", 'A', "VAL", [0.0, 0.0], "C") + "TER\n";
    text += &line("ATOM", " CA ", ' ', "GLY", [0.0, 10.0], "C").replace("A   1", "A   2");
    text += &line("ATOM", " CA ", 'B', "VAL", [0.0, 20.0], "C");
    folder.write("a.pdb", text);
    check(&folder, "a.pdb", "", "8.3,0 8.3,1 ,", "");
}

#[test]
fn models_and_frames_are_told_apart() {
    let folder = Folder::new();
    let atom = |z: f64| line("ATOM", " CA ", ' ', "VAL", [0.0, z], "C");
    let warning = |count: &str| format!("left out {count} after the first; --models all reads them");
    for (start, end, rest) in [
        ("MODEL        1\n", "ENDMDL\n", ""),
        ("", "ENDMDL\n", "END\n"),
        ("", "END\n", ""),
        ("MODEL        1\n", "", "END   \n"),
        ("MODEL        1\r\n", "TER\r\nENDMDL\r\n", "END\r\n"),
    ] {
        let text =
            |models: usize| (0..models).map(|i| format!("{start}{}{end}", atom(10.0 * i as f64))).collect::<String>();
        folder.write("a.pdb", text(1) + rest).write("c.pdb", text(3) + rest);
        check(&folder, "a.pdb", "", "8.3,0 ,", "");
        check(&folder, "c.pdb", "", "8.3,0 , ,", &warning("2 models"));
        check(&folder, "c.pdb", "--models all", "8.3,0 8.3,1 8.3,2", "");
    }
    folder
        .write("a.xyz", "1\n\nC 0 0 0\n\n\n")
        .write("c.xyz", "1\na\nC 0 0 0\n\n1\nProperties=pos:R:3:species:S:1\n0 0 10 C\n \n");
    check(&folder, "a.xyz", "", "8.3,0 ,", "");
    check(&folder, "c.xyz", "", "8.3,0 ,", &warning("1 model"));
    check(&folder, "c.xyz", "--models all", "8.3,0 8.3,1", "");
    // Points: the same models, and the same warning.
    folder.write("s.csv", "x,y,z,r\n0,0,0,1\n");
    let done = folder.run_ok("cast s.csv c.xyz -o out.csv -q --toward 0,0,50 --query count");
    assert!(done.errors.contains(&format!("c.xyz: {}", warning("1 model"))), "{}", done.errors);
    assert_eq!(folder.text("out.csv").lines().count(), 2);
    folder.run_ok("contains s.csv c.pdb -o out.csv -q --models all");
    assert_eq!(folder.text("out.csv"), "count,id\n1,0\n0,\n0,\n");
    folder.write("s.toml", "unit = \"angstrom\"\n[light]\ncenter = [0, 0, 99]\nradius = 1\n");
    folder.refused("shadow c.pdb s.toml -o out.csv", "c.pdb: it has 3 models");
    folder.write("s.toml", "unit = \"km\"\n[light]\ncenter = [0, 0, 99]\nradius = 1\n");
    // The line of the first atom, where the comment is blank.
    for (observers, line) in [("a.pdb", 1), ("a.xyz", 3)] {
        let words =
            format!("{observers}: line {line}: atoms are in angstrom, but the unit of the system is km: write unit");
        folder.refused(&format!("shadow {observers} s.toml -o out.csv"), &words);
    }
}

#[test]
fn long_serial_numbers_do_not_hide_atoms() {
    let folder = Folder::new();
    // Written into column 6, into column 12, and with all other columns shifted.
    let rest = " CA  VAL A   1       0.000   0.000   0.000  1.00  0.00           C\n";
    for head in [
        "ATOM  99999 ",
        "ATOM 100000 ",
        "ATOM  100000",
        "ATOM  100000 ",
        "ATOM  1000000 ",
        "HETATM10000 ",
        "HETATM100000 ",
        "ATOM  A0000 ",
        "ATOM  ***** ",
    ] {
        folder.write("a.pdb", format!("{head}{rest}"));
        check(&folder, "a.pdb", "", "8.3,0", "");
    }
    // Other records, and a residue with an insertion code.
    let atom = |z: &str, at: &str| {
        format!("ATOM      1  CA  VAL A{at}      0.000   0.000  {z}.000\nANISOU    1  CA  VAL A{at}      1      1\n")
    };
    folder.write("a.pdb", format!("{}TER\n{}CONECT    1    2\nMASTER\n", atom(" 0", "   1 "), atom("10", "   1A")));
    check(&folder, "a.pdb", "", "8.3,0 8.3,1", "");
}

#[test]
fn extended_xyz_is_read_by_its_properties() {
    let folder = Folder::new();
    let unknown = |label: &str| format!("left out 1 atom of unknown element, such as '{label}' in line 3");
    for (comment, atom, options, expected, warning) in [
        ("Properties=pos:R:3:species:S:1", "0 0 0 C", "", "8.3,0", ""),
        ("Properties=\"species:S:1:pos:R:3:vel:R:3\" pbc=\"F F F\"", "C 0 0 0 9 9 9", "", "8.3,0", ""),
        ("title=\"a Properties=x:S:1 b\" properties = id:I:1:pos:R:3:element:S:1", "7 0 0 0 O", "", "8.48,0", ""),
        ("it's Properties=species:S:1:pos:R:3:fixed:L:1", "\"N\" 0 0 0 T", "", "8.45,0", ""),
        ("Properties=Z:I:1:pos:R:3", "8 0 0 0", "", "8.48,0", ""),
        ("Properties=species:S:1:pos:R:3:name:S:1", "O 0 0 0 C=O", "", "8.48,0", ""),
        ("Properties=species:S:1:pos:R:3:Z:I:1", "CA1 0 0 0 6", "", "8.3,0", ""),
        ("Properties=pos:R:3:Radius:R:1", "0 0 0 2.5", "", "7.5,0", ""),
        ("Properties=species:S:1:pos:R:3:radii:R:1", "1 0 0 0 2.5", "", "7.5,0", ""),
        ("Properties=pos:R:3", "0 0 0", "--unknown-atoms 2", "8.0,0", ""),
        ("Properties=Z:I:1:pos:R:3", "0 0 0 0", "", ",", &unknown("0")),
        ("", "c\t0\t 0  0\r", "", "8.3,0", ""),
        ("", "D 0 0 0", "", "8.9,0", ""),
        ("", "13C 0 0 0", "", "8.3,0", ""),
        ("", "O2- 0 0 0", "", "8.48,0", ""),
        ("", "Fe+3 0 0 0", "", "8.0,0", ""),
        ("", "OW 0 0 0", "", ",", &unknown("OW")),
        ("", "X 0 0 0", "--unknown-atoms 1", "9.0,0", ""),
        ("", "C 1.5d-1 -1.5D-1 6.5*^-6", "", "8.456631,0", ""),
    ] {
        folder.write("a.xyz", format!("1\n{comment}\n{atom}\n"));
        check(&folder, "a.xyz", options, expected, warning);
    }
    for (text, words) in [
        (
            "1\nProperties=species:S:1:pos:R:3:id:I:1\nC 0 0 0\n",
            "line 3: found 4 cells, expected 5, as Properties in the comment says",
        ),
        ("1\nProperties=species:S:1:pos:R:3\nC 0 0 0 1\n", "line 3: found 5 cells, expected 4"),
        ("1\nProperties=species:S:1\nC\n", "line 2: Properties has no column pos:R:3"),
        ("1\nProperties=pos:R:2\n0 0\n", "line 2: Properties has pos with 2 cells: expected 3"),
        ("1\nProperties=pos:R:3\n0 0 0\n", "line 2: Properties has neither species:S:1, nor Z:I:1, nor radius:R:1"),
        (
            "1\nProperties=pos:R:3:radius:R:1:radii:R:1\n0 0 0 1 1\n",
            "Properties has radius and radii, which mean the same",
        ),
        ("1\nProperties=pos:R\n0 0 0\n", "Properties has 'pos:R': expected name:type:count"),
        ("1\nProperties=species:S:1:pos:R:3\n2 0 0 0\n", "line 3: the element is 2, a number"),
        ("1\nProperties=pos:R:3:radius:R:1\n0 0 0 -1\n", "line 3: r is -1: a radius must not be negative"),
        ("2\n\nC 0 0 0\nC 0 0 1\nC 0 0 2\n", "line 5: expected the number of atoms of another frame, or the end"),
        ("2\n\nC 0 0 0\n", "line 1: it claims 2 atoms, but the file has 1"),
        ("1\n\n6 0 0 0\n", "line 3: the element is 6, a number"),
        ("1\n\nO 0 0\n", "line 3: expected an element and x, y, z"),
        ("0 0 0\n", "line 1: expected the number of atoms"),
        ("1\n\nC 0 0 1.5D\n", "line 3: z is '1.5D': expected a number"),
        ("1\r\rC 0 0 0\r", r"found \r alone"),
    ] {
        folder.write("a.xyz", text);
        refuse(&folder, "a.xyz", "", &[words]);
    }
    for (text, words) in [
        ("REMARK\n", "no line that begins with ATOM"),
        ("ATOM\nATOM      1  C   GLY A   1       1.000   x.000   0.000\n", "line 2: y is 'x.000': expected a number"),
    ] {
        folder.write("b.pdb", text);
        refuse(&folder, "b.pdb", "", &[words]);
    }
    let done = folder.write("s.csv", "x,y,z,r\n0,0,0,1\n").run("cast s.csv a.xyz -o out.csv");
    assert!(done.code == 2 && done.errors.contains("a.xyz: cannot read rays from '.xyz'"), "{}", done.errors);
    // Numbers of Fortran and Mathematica in other text.
    folder.write("s.csv", "x,y,z,r\n0.0D+00,0d0,0*^0,1.5D+00\n");
    check(&folder, "s.csv", "", "8.5,0", "");
}

#[test]
fn bodies_of_system_files_are_read_with_the_same_options() {
    let folder = Folder::new();
    for file in ["tip4p.pdb", "assembly.pdb", "altloc_bc.pdb"] {
        copy(&folder, file);
    }
    let site =
        "left out 1 atom of unknown element, such as 'EPW' in line 3; unknown_atoms = RADIUS gives them a radius";
    for (file, keys, z, expected, warning) in [
        ("assembly.pdb", "", 0, 8.3, "assembly.pdb: left out 1 model after the first; models = \"all\" reads them"),
        ("assembly.pdb", "models = \"all\"", 10, 8.3, ""),
        ("tip4p.pdb", "", 20, f32::INFINITY, site),
        ("tip4p.pdb", "unknown_atoms = 0.5", 20, 9.5, ""),
        ("altloc_bc.pdb", "", 20, 8.3, ""),
    ] {
        folder.write(
            "s.toml",
            format!(
                "unit = \"angstrom\"\n[light]\ndirection = [-1, 0, 0]\n[[body]]\nspheres = \"{file}\"\n{keys}\n[camera]\n\
                 kind = \"orthographic\"\nposition = [-10, 0, {z}]\ntarget = [0, 0, {z}]\nup = [0, 1, 0]\nwidth = 0.1\n\
                 [picture]\nsize = [1, 1]\n"
            ),
        );
        let done = folder.run_ok("render s.toml -o p.png --t t.npy -q");
        let [t] = npy_array::<f32>(std::fs::File::open(folder.path("t.npy")).unwrap()).1[..] else {
            panic!("one pixel")
        };
        assert!(t == expected || (t - expected).abs() < 1e-4, "{file} {keys}: {t}");
        assert!(done.errors.contains(warning), "{file} {keys}: {}", done.errors);
    }
    let scene = |unit: &str, file: &str, key: &str| {
        format!("unit = \"{unit}\"\n[light]\ndirection = [1, 0, 0]\n[[body]]\nspheres = \"{file}\"\n{key}\n")
    };
    for (unit, key, words) in [
        ("angstrom", "unknown_atoms = \"error\"", "'EPW' is not a chemical element"),
        ("angstrom", "models = \"last\"", "models"),
        (
            "nm",
            "",
            "tip4p.pdb: line 1: atoms are in angstrom, but the unit of the system is nm: write unit = \"angstrom\"",
        ),
    ] {
        folder.write("s.toml", scene(unit, "tip4p.pdb", key)).refused("render s.toml -o p.png", words);
    }
    // Balls with radii of their own may have any unit, but not those of the frames after them.
    let frames = "1\nProperties=species:S:1:pos:R:3:radius:R:1\nC 0 0 0 2.5\n1\nplain\nC 0 0 10\n";
    folder.write("two.xyz", frames).write("s.toml", scene("km", "two.xyz", "models = \"all\""));
    folder
        .refused("render s.toml -o p.png", "two.xyz: line 5: atoms are in angstrom, but the unit of the system is km");
    copy(&folder, "ext_radius.xyz");
    folder.write("p.csv", "x,y,z\n0,0,99\n").write("s.toml", scene("m", "ext_radius.xyz", ""));
    folder.run_ok("shadow p.csv s.toml -o out.csv");
}

#[test]
fn rows_that_are_left_out_and_skipped_keep_their_ids() {
    let folder = Folder::new();
    // An unknown atom comes first, a skipped one second.
    folder.write("a.xyz", "5\n\nX 9 9 9\nC nan 0 0\nC 0 0 20\nX 0 0 30\nC 0 0 40\n");
    let unknown = "left out 2 atoms of unknown element, such as 'X' in line 3";
    for device in ["cpu", "gpu"] {
        let options = format!("--on-bad skip --device {device}");
        check(&folder, "a.xyz", &options, ", , 8.3,2 , 8.3,4", unknown);
        check(&folder, "a.xyz", &format!("{options} --origin auto"), ", , 8.3,2 , 8.3,4", unknown);
    }
    let done = folder.run_ok("cast a.xyz probe.csv -o out.csv --on-bad skip");
    assert!(done.errors.contains(", 1 bad spheres skipped"), "{}", done.errors);
    refuse(&folder, "a.xyz", "", &["a.xyz: line 4: x is nan"]);
}

#[test]
fn columns_of_pdb_files_are_characters() {
    let folder = Folder::new();
    let text = line("ATOM", " CA ", ' ', "GLY", [1.25, 0.0], " C").replace("GLY A", "GLY å");
    let latin_1 = text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect::<Vec<_>>();
    folder.write("utf_8.pdb", &text).write("latin_1.pdb", latin_1);
    for file in ["utf_8.pdb", "latin_1.pdb"] {
        check(&folder, file, "", "9.55,0", "");
    }
    // One digit too many in each coordinate: each begins in the columns of the one before.
    let long = "HETATM    1  C1  LIG A   1    10000.1231234.5671234.567  1.00  0.00           C\n";
    folder.write("long.pdb", long);
    refuse(&folder, "long.pdb", "", &["long.pdb: line 1: x is '10000.1231234.5671234.567'"]);
}
