//! Columns that are computed from hits, and the column of transmittances.

use umbracast_testing::folder::{Folder, npz_array};

const SPHERES: &str = "x,y,z,r\n4,0,0,1\n0,5,0,2\n";
const RAYS: &str = "ox,oy,oz,dx,dy,dz\n0,0,0,2,0,0\n0,0,0,0,0,1\n0,0,2,0,1,0\n";

#[test]
fn columns_are_written_in_the_requested_order() {
    let folder = Folder::new();
    folder.write("s.csv", SPHERES).write("r.csv", RAYS);
    for device in ["cpu", "gpu"] {
        folder.run_ok(&format!(
            "cast s.csv r.csv -o o.csv -q --device {device} --compare --with distance,point,normal,incidence"
        ));
        let expected = "t,id,distance,px,py,pz,nx,ny,nz,incidence_rad\n1.5,0,3.0,3.0,0.0,0.0,-1.0,0.0,0.0,0.0\n\
                        ,,,,,,,,,\n5.0,1,5.0,0.0,5.0,2.0,0.0,0.0,1.0,1.5707964\n";
        assert_eq!(folder.text("o.csv").replace("-0.0", "0.0"), expected);
    }
    folder.run_ok("cast s.csv r.csv -o o.npz -q --with incidence,point");
    let path = folder.path("o.npz");
    assert_eq!(npz_array::<f32>(&path, "t"), [1.5, f32::INFINITY, 5.0]);
    assert_eq!(without_nan(npz_array::<f32>(&path, "px")), [3.0, -1.0, 0.0]);
    assert_eq!(without_nan(npz_array::<f32>(&path, "incidence_rad")), [0.0, -1.0, std::f32::consts::FRAC_PI_2]);
    let archive = zip::ZipArchive::new(std::fs::File::open(&path).unwrap()).unwrap();
    assert_eq!(archive.len(), 6, "only the requested arrays");
}

/// Replaces NaN by −1, because NaN is not equal to itself.
fn without_nan(list: Vec<f32>) -> Vec<f32> {
    list.into_iter().map(|x| if x.is_nan() { -1.0 } else { x }).collect()
}

#[test]
fn invalid_attribute_options_are_refused() {
    let folder = Folder::new();
    folder.write("s.csv", SPHERES).write("r.csv", RAYS).write("o.csv", "before");
    for (arguments, words) in [
        ("s.csv r.csv -o o.csv --with color", "invalid value 'color' for '--with <WHAT,…>'"),
        ("s.csv r.csv -o o.csv --with point,", "a value is required for '--with <WHAT,…>'"),
        ("s.csv r.csv -o o.csv --with point,incidence,point", "--with lists point twice"),
        ("s.csv r.csv -o o.csv --with point --query occluded", "--with is only for --query closest, not for occluded"),
        (
            "s.csv r.csv -o o.csv --with incidence --query approach",
            "--with is only for --query closest, not for approach",
        ),
        ("s.csv r.csv -o o.csv --with normal --query interval", "--with is only for --query closest, not for interval"),
        ("--sphere 4,0,0,1 --ray 0,0,0,1,0,0 --with point", "cannot be used with"),
    ] {
        folder.fails(&format!("cast {arguments}"), 2, &[words]);
    }
}

#[test]
fn files_have_the_column_of_transmittances() {
    let folder = Folder::new();
    folder.write("dust.csv", "x,y,z,r,transmittance\n5,0,0,1,0.5\n9,0,0,1,0.25\n12,0,0,1,0\n");
    folder
        .write("light.csv", "ox,oy,oz,dx,dy,dz,t_max\n0,0,0,1,0,0,7\n0,0,0,1,0,0,10\n0,0,0,1,0,0,inf\n0,0,0,0,1,0,9\n");
    for device in ["cpu", "0"] {
        let options = format!("--query transmittance --device {device} --precision exact --compare");
        folder.run_ok(&format!("cast dust.csv light.csv -o left.csv {options}"));
        assert_eq!(folder.text("left.csv"), "transmittance\n0.5\n0.125\n0.0\n1.0\n");
    }
    for (value, why) in [("1.5", "from 0 (opaque) to 1 (invisible)"), ("-0.5", "from 0"), ("nan", "must be finite")] {
        folder.write("bad.csv", format!("x,y,z,r,transmittance\n5,0,0,1,0.5\n9,0,0,1,{value}\n"));
        let done = folder.refused(
            "cast bad.csv light.csv -o left.csv --query transmittance",
            &format!("bad.csv: line 3: transmittance is {value}: "),
        );
        assert!(done.errors.contains(why), "{}", done.errors);
    }
}
