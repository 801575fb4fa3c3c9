//! Line numbers in errors about `.csv` files.

use umbracast_files::read_spheres;

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
    }
}
