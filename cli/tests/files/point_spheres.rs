//! Points that are read as spheres of one radius.

use umbracast_testing::folder::{Folder, f32_bytes, npy, npy_array};

const POINTS: [f32; 6] = [4.0, 0.0, 0.0, 0.0, 9.0, 0.0];
const PLY: &str = "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\nproperty float nx\n\
                   end_header\n4 0 0 1\n0 9 0 1\n";

#[test]
fn every_format_of_points_gives_spheres_of_one_radius() {
    let folder = Folder::new();
    folder
        .write("r.csv", "ox,oy,oz,dx,dy,dz\n0,0,0,1,0,0\n0,0,0,0,1,0\n")
        .write("p.csv", "x,y,z\n0,0,0\n4,0,0.9\n")
        .write("b.csv", "x1,y1,z1,x2,y2,z2,speed\n0,0,0,1,0,0,1\n")
        .write("c.csv", "z,mask,x,y\n0,1,4,0\n0,1,0,9\n")
        .write("c.npy", npy("'<f4'", false, "(2, 3)", &f32_bytes(&POINTS)))
        .write("c.f32", f32_bytes(&POINTS))
        .write("c.ply", PLY)
        // Colours are no radii.
        .write(
            "rgb.ply",
            PLY.replace("float nx", "uchar r\nproperty uchar g\nproperty uchar b").replace(" 1\n", " 7 8 9\n"),
        )
        .write("rgb.csv", "x,y,z,r,g,b\n4,0,0,7,8,9\n0,9,0,7,8,9\n");
    for file in ["c.csv", "c.npy", "c.f32", "c.ply", "rgb.ply", "rgb.csv --ignore-extra"] {
        for origin in ["", "--origin auto"] {
            folder.run_ok(&format!("cast {file} r.csv --sphere-radius 1 {origin} -o out.csv -q"));
            assert_eq!(folder.text("out.csv"), "t,id\n3.0,0\n8.0,1\n", "{file} {origin}");
        }
    }
    folder.run_ok("contains c.npy p.csv --sphere-radius 1 -o out.csv -q");
    assert_eq!(folder.text("out.csv"), "count,id\n0,\n1,0\n");
    folder.run_ok("bullets c.ply b.csv --sphere-radius 1 -o out.csv -q");
    assert!(folder.text("out.csv").lines().nth(1).unwrap().starts_with("hit,0,3.0,"), "{}", folder.text("out.csv"));
    // A picture: the distance of the sphere in the middle.
    let system = |radius: &str| {
        format!(
            "unit = \"m\"\n[light]\ndirection = [-1, 0, 0]\n[[body]]\nspheres = \"c.csv\"\n{radius}\n[camera]\nkind = \"orthographic\"\n\
             position = [0, 0, 0]\ntarget = [1, 0, 0]\nup = [0, 0, 1]\nwidth = 0.1\n[picture]\nsize = [1, 1]\n"
        )
    };
    folder.write("c.csv", "x,y,z\n4,0,0\n0,9,0\n").write("s.toml", system("radius = 1"));
    folder.run_ok("render s.toml -o p.png --t t.npy -q");
    assert_eq!(npy_array::<f32>(std::fs::File::open(folder.path("t.npy")).unwrap()).1, [3.0]);
    folder
        .write("s.toml", system(""))
        .write("own.csv", "x,y,z,r\n4,0,0,1\n")
        .write("e.csv", "x,y,z,rx,ry,rz\n4,0,0,1,1,1\n")
        .write("a.xyz", "1\n\nH 4 0 0\n");
    for (arguments, words) in [
        ("cast own.csv r.csv -o out.csv --sphere-radius 2", "own.csv: the spheres have their own radii (r)"),
        ("cast e.csv r.csv -o out.csv --sphere-radius 2", "e.csv: the spheres have their own radii (rx)"),
        ("cast a.xyz r.csv -o out.csv --sphere-radius 2", "a.xyz: the spheres have their own radii (r)"),
        (
            "cast rgb.csv r.csv -o out.csv --sphere-radius 1",
            "columns r, g and b are a colour: name them red, green and blue",
        ),
        ("cast c.csv r.csv -o out.csv --sphere-radius -1", "the radius for all spheres is -1: a radius must be finite"),
        ("cast c.csv r.csv -o out.csv --sphere-radius nan", "the radius for all spheres is NaN"),
        ("cast c.npy r.csv -o out.csv", "shape is (2, 3): expected (N, 4) with x y z r for spheres; points need"),
        ("cast --sphere 4,0,0,1 --ray 0,0,0,1,0,0 --sphere-radius 1", "cannot be used with"),
        ("render s.toml -o p.png", "c.csv: line 1: column 'r' is missing; spheres need the columns x,y,z,r"),
        ("render s.toml -o p.png", "; points need a column with a radius, or `radius` in the table of the body"),
    ] {
        folder.refused(arguments, words);
    }
}
