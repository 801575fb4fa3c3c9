//! Text as other programs write it: byte order marks, Latin-1, comments, separators, headers in any case and with units, blank rows.
//! The files of `tests/data/cases` that begin with `astropy`, `numpy` or `pandas` were written by these libraries.

use std::process::Stdio;

use umbracast_testing::folder::{Done, Folder, f32_bytes, npy, program};
use umbracast_testing::root;

/// Copies a file of `tests/data/cases`.
pub(super) fn case(folder: &Folder, name: &str) {
    folder.write(name, std::fs::read(root().join("tests/data/cases").join(name)).unwrap());
}

/// Two rays along +x at z = 0 and 10, from x = -10: `t` is 10 minus the radius of the sphere.
fn hits(spheres: &str, arguments: &str) -> Result<String, String> {
    let folder = Folder::new();
    case(&folder, "probe2.csv");
    case(&folder, spheres);
    hits_in(&folder, spheres, arguments)
}

fn hits_in(folder: &Folder, spheres: &str, arguments: &str) -> Result<String, String> {
    let done = folder.run(&format!("cast {spheres} probe2.csv -o - -q {arguments}"));
    if done.code == 0 { Ok(done.output.lines().skip(1).collect::<Vec<_>>().join(" ")) } else { Err(done.errors) }
}

#[track_caller]
fn refused<T: std::fmt::Debug>(found: Result<T, String>, words: &str) {
    let error = found.unwrap_err();
    assert!(error.contains(words), "expected '{words}' in: {error}");
}

#[test]
fn files_of_other_programs_are_read() {
    for (name, found) in [
        ("bom.pdb", "8.3,0 8.3,1"),
        ("latin1.xyz", "8.3,0 ,"),
        ("savetxt.csv", "9.0,0 ,"),
        ("sep.csv", "9.0,0 ,"),
        ("astropy_plain.csv", "9.0,0 8.0,1"),
        ("astropy_m.csv", "9.0,0 8.0,1"),
        ("numpy_footer.csv", "9.0,0 ,"),
        ("pandas_bom.csv", "9.0,0 ,"),
    ] {
        assert_eq!(hits(name, "").as_deref(), Ok(found), "{name}");
    }
    let ply = "ply\nformat ascii 1.0\ncomment \u{e9}\nelement vertex 1\nproperty float X\nproperty float Y\nproperty float Z\n\
               property float Radius\nend_header\n0 0 0 1\n";
    let folder = Folder::new();
    case(&folder, "probe2.csv");
    for bytes in [format!("\u{feff}{ply}").into_bytes(), ply.chars().map(|c| c as u8).collect()] {
        folder.write("s.ply", bytes);
        assert_eq!(hits_in(&folder, "s.ply", "").as_deref(), Ok("9.0,0 ,"));
    }
    assert_eq!(hits("pandas_index.csv", "--ignore-extra").as_deref(), Ok("9.0,0 ,"));
    for (name, words) in [
        (
            "astropy_km.csv",
            "line 11: column 'x [km]' has the unit 'km', expected m: convert the numbers, or name it 'x' if all",
        ),
        ("numpy_blank.csv", "columns are separated by ' ': expected commas"),
        (
            "pandas_index.csv",
            "line 2: cell 1 is '0', but its column has no name: name the column, or use --ignore-extra",
        ),
        ("pandas_utf16.csv", "line 1: the text is UTF-16"),
    ] {
        refused(hits(name, ""), words);
    }
}

#[test]
fn binary_data_are_not_called_utf_16() {
    let folder = Folder::new();
    case(&folder, "probe2.csv");
    let raw = f32_bytes(&[4.0, 0.5, 0.0, 1.0, 9.0, 0.5, 0.0, 1.0]);
    let text = "x,y,z,r\n0,0,0,1\n".encode_utf16();
    let little: Vec<u8> = text.clone().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = text.flat_map(u16::to_be_bytes).collect();
    for (bytes, words) in [
        (raw.clone(), "line 1: the file is binary, not text"),
        (npy("'<f4'", false, "(2, 4)", &raw), "the file is binary, not text"),
        (b"\x1f\x8b\x08\x00\x00\x00".to_vec(), "the file is binary, not text"),
        (b"PAR1\x15\x04,x\n".to_vec(), "the file is binary, not text"),
        ([b"\xff\xfe", &little[..]].concat(), "line 1: the text is UTF-16"),
        ([b"\xfe\xff", &big[..]].concat(), "the text is UTF-16"),
        (little, "the text is UTF-16"),
        (big, "the text is UTF-16"),
    ] {
        folder.write("s.csv", bytes);
        refused(hits_in(&folder, "s.csv", ""), words);
    }
    folder.write("s.raw", raw);
    let piped = |more: &str| {
        let mut command = program();
        command
            .args("cast - probe2.csv -o - -q".split(' '))
            .args(more.split_whitespace())
            .env("UMBRACAST_DEVICE", "cpu");
        command.stdin(std::fs::File::open(folder.path("s.raw")).unwrap()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Done::of(command.current_dir(folder.root()).spawn().unwrap())
    };
    let words = "row 1 (index 0): the input is binary, not text: raw records need --input-format f32";
    piped("").says(2, &["standard input", words]);
    assert_eq!(piped("--input-format f32").code, 0);
}

#[test]
fn headers_may_have_any_case_and_units_and_rows_may_be_blank_at_the_end() {
    let folder = Folder::new();
    case(&folder, "probe2.csv");
    for text in [
        "X [m],Y (m),z/m,RADIUS (metres)\n0,0,0,1\n",
        "sep=;\nx;y;z;r\n0;0;0;1\n",
        "\"sep=\t\"\r\nx\ty\tz\tr\r\n0\t0\t0\t1\r\n",
        "# a file\n# x,y,z,r\n# of spheres\n0,0,0,1\n",
        "# x,y,z,Scalar_Radius\r0,0,0,1\r",
        "x,y,z,r,,\n0,0,0,1,,\n,,,,,\n,,,,,\n",
        "x,y,z,r\n0,0,0,1\n , , , \n",
        "x,y,z,r\n# 9,9,9,9\n0,0,0,1\n",
        "Mask,X,Y,Z,R\n1,0,0,0,1\n",
    ] {
        folder.write("s.csv", text);
        assert_eq!(hits_in(&folder, "s.csv", "").as_deref(), Ok("9.0,0 ,"), "{text:?}");
    }
    // No spheres.
    folder.write("s.csv", "# x,y,z,r\n");
    assert_eq!(hits_in(&folder, "s.csv", "").as_deref(), Ok(", ,"));
    for (text, words) in [
        ("x [ft],y [ft],z [ft],r [ft]\n", "line 1: column 'x [ft]' has the unit 'ft', expected m"),
        (
            "x,y,z,r (mm)\n",
            "column 'r (mm)' has the unit 'mm', expected m: convert the numbers, or name it 'r' if all files",
        ),
        ("x,y,z,r,mask (bits)\n", "column 'mask (bits)' has the unit 'bits', but mask has none: name it 'mask'"),
        ("x,y,z,r,radius\n", "columns 'r' and 'radius' have the same meaning: keep one of them"),
        ("x,X,y,z,r\n", "columns 'x' and 'X' have the same meaning"),
        ("x,y,z,r,g,b\n", "columns r, g and b are a colour, so r is not a radius: name the radius 'radius'"),
        ("x,y,z,r\n0,0,0,1\n,,,\n0,0,5,1\n", "line 3: x is empty"),
        ("x,y,z,r,\n0,0,0,1,7\n", "line 2: cell 5 is '7', but its column has no name"),
        ("sep=;\nx;y;z;r\n0;0;0;1,5\n", "line 3: r is '1,5': expected a number"),
        // A quotation mark swallows the rest.
        ("x,y,z,r\n0,0,5,1\n# a note,\"of two\n0,0,0,1\n", "line 3: a quotation mark is not closed"),
        ("x,y,z,r\n0,0,5,1\n#DIV/0!,0,0,1\n", "line 3: x is '#DIV/0!': expected a number"),
        ("x,y,z,r\n#N/A,0,5,1\n", "line 2: x is '#N/A': expected a number"),
    ] {
        folder.write("s.csv", text);
        refused(hits_in(&folder, "s.csv", ""), words);
        let ignored = hits_in(&folder, "s.csv", "--ignore-extra");
        assert!(ignored.is_err() || words.contains("no name"), "{text:?}");
    }
}

#[test]
fn no_column_is_lost_that_is_kept() {
    let folder = Folder::new();
    folder.write("s.csv", "x,y,z,r\n0,0,9,1\n").write("r.csv", ",ox,oy,oz,dx,dy,dz\nA,0,0,0,0,0,1\n");
    folder
        .refused("cast s.csv r.csv -o - --keep", "line 2: cell 1 is 'A', but its column has no name: name the column");
    folder.write("r.csv", ",ox,oy,oz,dx,dy,dz\n,0,0,0,0,0,1\n");
    assert_eq!(folder.run_ok("cast s.csv r.csv -o - --keep -q").output, "t,id\n8.0,0\n");
}

/// The same rules for the other tables.
#[test]
fn every_table_follows_the_same_rules() {
    let folder = Folder::new();
    case(&folder, "savetxt.csv");
    let system =
        "# \u{e9}\nunit = \"km\"\n[light]\ncenter = [0, 0, 100]\nradius = 1\n[[body]]\nspheres = \"cloud.csv\"\n";
    let latin: Vec<u8> = system.chars().map(|c| c as u8).collect();
    folder
        .write("cloud.csv", "# X [km],Y [km],Z [km],Radius (km)\n0,0,50,0.25\n")
        .write("bom.toml", format!("\u{feff}{system}"))
        .write("latin.toml", latin)
        .write("o.csv", "\u{feff}X [km],Y [km],Z [km],Town (1)\n0,0,0,M\u{e1}laga\n,,,\n")
        .write("far.csv", "x [m],y,z\n0,0,0\n")
        .write("poses.csv", "X [m],Y,Z,QW,QX,QY,QZ\n-10,0,0,1,0,0,0\n,,,,,,\n")
        .write("sensor.toml", "\u{feff}elevations_deg = [0]\nazimuths_deg = [0]\nposes = 'poses.csv'\n")
        .write("b.csv", "# X1,Y1,Z1,X2,Y2,Z2,Speed (m/s)\n-10,0,0,0,0,0,1\n")
        .write("seg.csv", "X1 (m),Y1,Z1,X2,Y2,Z2\n-10,0,0,0,0,0\n")
        .write("p.csv", "sep=,\nX,Y,Z\n0,0,0\n")
        .write("r.csv", "OX [m],OY,OZ,DX,DY,DZ,Town\n-10,0,0,1,0,0,Elche\n");
    // A text may contain line ends, but must be closed.
    folder
        .write("closed.csv", "x,y,z,town\n0,0,0,\"two\nlines\"\n")
        .run_ok("shadow closed.csv bom.toml -o - -q --keep");
    folder.write("open.csv", "x,y,z,town\n0,0,0,a\n1,0,0,\"b\n2,0,0,c\n\n");
    for option in ["--keep", "--ignore-extra"] {
        folder.refused(
            &format!("shadow open.csv bom.toml -o out.csv {option}"),
            "open.csv: line 3: a quotation mark is not closed",
        );
    }
    for system in ["bom.toml", "latin.toml"] {
        let done = folder.run_ok(&format!("shadow o.csv {system} -o - -q --keep"));
        assert!(done.output.starts_with("Town (1),fraction,kind\nM\u{e1}laga,0.75"), "{}", done.output);
        assert_eq!(done.output.lines().count(), 2);
    }
    let (far, unit) =
        (folder.run("shadow far.csv bom.toml -o out.csv"), "the unit 'm', expected km: convert the numbers\n");
    assert!(far.code == 2 && far.errors.contains(unit), "{}", far.errors);
    let run = |arguments: &str| folder.run_ok(&format!("{arguments} -q")).output;
    assert_eq!(run("cast savetxt.csv --sensor sensor.toml -o -"), "t,id\n9.0,0\n");
    assert_eq!(run("cast savetxt.csv r.csv -o - --keep"), "Town,t,id\nElche,9.0,0\n");
    assert_eq!(run("cast savetxt.csv seg.csv --segments -o -"), "t,id\n0.9,0\n");
    assert_eq!(run("contains savetxt.csv p.csv -o -"), "count,id\n1,0\n");
    assert!(run("bullets savetxt.csv b.csv -o -").contains("hit,0,9.0"));
}

#[test]
fn places_and_vectors_follow_them_too() {
    let folder = Folder::new();
    case(&folder, "pandas_cp1252.csv");
    let found = |text: &str| {
        folder.write("p.csv", text);
        let done = folder.run("circumstances 2024-04-08 --places p.csv -o -");
        if done.code == 0 { Ok(done.output) } else { Err(done.errors) }
    };
    let expected = found("latitude,longitude,height_m\n25,-104,5000\n").unwrap();
    assert_ne!(expected, found("latitude,longitude\n25,-104\n").unwrap());
    for text in [
        "LAT (\u{b0}),Lon [deg],Height (m)\n25,-104,5000\n",
        "\u{feff}Latitude (N),Longitude (E),Elevation (m a.s.l.)\r\n25,-104,5000\r\n,,\r\n",
        "# lat,lon,alt_m\n25,-104,5000\n",
        "sep=;\nlat_deg;lon_deg;altitude [metres]\n25;-104;5000\n",
        "lat,lon,Height / m,Source (URL)\n25,-104,5000,a\n# 26,-104,0,b\n",
    ] {
        assert_eq!(found(text).as_ref(), Ok(&expected), "{text:?}");
    }
    for (text, words) in [
        ("lat,lon,Height (km)\n", "line 1: column 'Height (km)' has the unit 'km', expected m: convert the numbers\n"),
        ("lat,lon,alt_ft\n", "column 'alt_ft' has the unit 'ft', expected m"),
        ("lat,lon,elevation_feet\n", "has the unit 'feet', expected m"),
        ("lat,Longitude (W)\n", "has the unit 'W', expected deg"),
        ("lat (rad),lon\n", "has the unit 'rad', expected deg"),
        ("latitude,lat,lon\n", "columns 'latitude' and 'lat' have the same meaning: keep one of them"),
        ("lat,latitude,lon\n", "columns 'lat' and 'latitude' have the same meaning: keep one of them"),
        ("lat,lon,Name,city\n", "columns 'Name' and 'city' have the same meaning"),
        ("lat,lat,lon\n", "column 'lat' appears twice"),
        ("lat,lon\n1,2\n,\n3,4\n", "line 3: latitude is ''"),
        ("lat,lon,name\n1,2,\"a\n3,4,b\n", "line 2: a quotation mark is not closed"),
    ] {
        refused(found(text), words);
    }
    let named = found("name,lat,lon\n#1 Station,25,-104\n# a comment\nB,25,-104\n").unwrap();
    assert!(named.contains("#1 Station") && named.lines().count() == expected.lines().count() + 1, "{named}");
    let named = folder.run_ok("circumstances 2024-04-08 --places pandas_cp1252.csv -o -").output;
    assert!(named.contains("S\u{e3}o Paulo \u{2013} \u{201c}S\u{e9}\u{201d}"), "{named}");

    assert_eq!(found("lat,lon,height_m\n25,-104,5d3\n").as_ref(), Ok(&expected));
    assert_eq!(found("lat,lon,height_m\n25 N,104 W,5000\n").as_ref(), Ok(&expected));
    for (text, words) in [
        ("lat,lon,height_m\n25,-104,5D\n", "line 2: height_m is '5D': expected a number"),
        ("lat,lon\n25 D,-104\n", "line 2: latitude is '25 D': expected a number"),
        ("lat,lon\n51.5,0d30\n", "line 2: longitude is '0d30': expected a number"),
    ] {
        refused(found(text), words);
    }
    let row = "421800,0,0,0,17,0\n2460409.1,400000,90000,0,-3,16,0\n";
    let system_of = |head: &str, row: &str| {
        folder.write("v.csv", format!("{head}\n2460409,{row}"));
        let done =
            folder.run("system 2024-04-08T13:00:00Z --bodies sun,jupiter,io --vectors io@jupiter=v.csv -o s.toml -q");
        if done.code == 0 { Ok(folder.text("s.toml")) } else { Err(done.errors) }
    };
    let system = |head: &str| system_of(head, row);
    let expected = system("jd_tdb,x,y,z,vx,vy,vz").unwrap();
    let fortran = row.replace("421800", "4.218D+05").replace("90000", "9*^4").replace("2460409.1", "2.4604091d6");
    assert_eq!(system_of("jd_tdb,x,y,z,vx,vy,vz", &fortran).as_ref(), Ok(&expected));
    refused(system_of("jd_tdb,x,y,z,vx,vy,vz", &row.replace("421800", "")), "line 2: x is '': expected a number");
    assert_eq!(system("JD_TDB,X (km),Y (km),Z (km),VX (km/s),VY (km/s),VZ (km/s)").as_ref(), Ok(&expected));
    for (head, words) in [
        ("jd_tdb,x [au],y,z,vx,vy,vz", "column 'x [au]' has the unit 'au', expected km"),
        ("jd_tdb,x,y,z,vx (km/day),vy,vz", "has the unit 'km/day', expected km/s"),
        ("jd_tdb,x,y,z,X,vy,vz", "columns 'x' and 'X' have the same meaning"),
        ("jd_tdb,x,y,z,vx,vy,time", "v.csv: both time and jd_tdb are given: leave one of them out"),
        ("jd_tdb,x,y,z,vx,vy,jdtdb", "columns 'jd_tdb' and 'jdtdb' have the same meaning"),
    ] {
        refused(system(head), words);
    }
}
