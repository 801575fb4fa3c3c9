//! Line numbers in errors about `.csv` files of every kind.

use umbracast_files::{read_places, read_spheres, read_vectors};
use umbracast_sky::DeltaT;

use umbracast_testing::folder::Folder;

/// Blank lines and lines within quotation marks are counted. `\n`, `\r\n` and `\r` end a line.
#[test]
fn lines_are_counted_as_editors_do() {
    let folder = Folder::new();
    for end in ["\n", "\r\n", "\r"] {
        for (text, said) in [
            ("x,y,z,r\n\n\n1,2,3,4\n\n1,2,x,4\n", "a.csv: line 6: z is 'x': expected a number"),
            ("x,y,z,r\n\n1,2,3,-4\n", "a.csv: line 3: r is -4: "),
            ("x,y,z,r\n\n1,2,3,4\n\n\n1,2\n", "a.csv: line 6: found 2 cells"),
            ("# a, b\nx,y,z,r\n\n# spheres\n1,2,3,-4\n", "a.csv: line 5: r is -4"),
            ("x,y,z,r\n\n1,2,3,\"4\n5,6,7,8\n", "a.csv: line 3: "),
            ("\n\nx,y,q,r\n1,2,3,4\n", "a.csv: line 3: unknown column 'q'"),
            ("\n1,2,3,4\n", "a.csv: line 2: found only numbers"),
            ("\n\nx,y,z,\"r\n1,2,3,4\n", "a.csv: line 3: "),
        ] {
            folder.write("a.csv", text.replace('\n', end));
            let error = read_spheres(&folder.path("a.csv"), [0.0; 3].into()).unwrap_err().to_string();
            assert!(error.contains(said), "{text:?} with {end:?}: {error}");
        }
        for (text, said) in [
            ("# a\n\nlat,lon\n\n1,2\n\n1,x\n", "a.csv: line 7: longitude is 'x'"),
            ("lat,lon,name\n1,2,\"a\nb\"\n\n91,2,\n", "a.csv: line 5: latitude is 91"),
        ] {
            folder.write("a.csv", text.replace('\n', end));
            let error = read_places(&folder.path("a.csv")).unwrap_err().to_string();
            assert!(error.contains(said), "{text:?} with {end:?}: {error}");
        }
        let good = "jd_tdb,x,y,z,vx,vy,vz\n2460409.0,421800,0,0,0,17,0\n# noon\n\n2460409.1,400000,90000,0,-3,16,0\n";
        for (from, to, said) in [
            ("90000", "far", "a.csv: line 5: y is 'far'"),
            ("09.1", "08.9", "a.csv: line 5: time is"),
            ("421800", "nan", "a.csv: line 2: x is NaN"),
        ] {
            folder.write("a.csv", good.replace(from, to).replace('\n', end));
            let found = read_vectors("io@jupiter", &folder.path("a.csv"), None, DeltaT::Table);
            let error = found.unwrap_err().to_string();
            assert!(error.contains(said), "{from} {to} with {end:?}: {error}");
        }
    }
}
