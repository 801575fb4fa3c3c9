//! Logical types of Parquet as coordinates and as kept columns. Each file of `tests/data/cases` was written by the library of its name.

use super::encodings::case;
use umbracast_testing::folder::Folder;

fn kept(rays: &str) -> String {
    let folder = Folder::new();
    folder.write("s.csv", "x,y,z,r\n0,0,0,1\n0,0,10,2\n");
    case(&folder, rays);
    folder.run_ok(&format!("cast s.csv {rays} -o again.parquet -q --keep"));
    folder.run_ok(&format!("cast s.csv {rays} -o - -q --keep")).output
}

#[test]
fn decimals_dates_and_times_are_kept_as_text() {
    let folder = Folder::new();
    case(&folder, "p_ok.parquet");
    case(&folder, "p_rays.parquet");
    let given = folder.run_ok("cast p_ok.parquet p_rays.parquet -o - -q --keep").output;
    assert!(
        given.contains("12.34") && given.contains("2024-04-08,") && given.contains("2024-04-08T18:17:20Z"),
        "{given}"
    );
    let names = "d4,d8,d16,d32,day,t3,t6,t9,s3,s6,s9,u8,u4,i1,flag,none,word,t,id\n";
    let first = "-12.34,12345678901.5,1234567890123456789012345.678,-1234567890123456789012345678901234567890.1,2024-04-08,\
                 18:17:20.5,18:17:20.000001,00:00:00.000000001,2024-04-08T18:17:20,2024-04-08T18:17:20.123456Z,\
                 2024-04-08T18:17:20.000000001Z,18446744073709551615,4294967295,-128,true,,a,9.0,0\n";
    let second = ",-0.5,0.005,0.0,1582-10-15,00:00:00,23:59:59.999999,23:59:59.999999999,1969-12-31T23:59:59,,\
                  1969-12-31T23:59:59.999999999Z,0,0,127,false,,b,8.0,1\n";
    for name in ["pyarrow_fixed.parquet", "pyarrow_ints.parquet"] {
        assert_eq!(kept(name), format!("{names}{first}{second}"), "{name}");
    }
    for (name, found) in [
        (
            "pyarrow_int96.parquet",
            "when,t,id\n2024-04-08T18:17:20.000000001,9.0,0\n1969-12-31T23:59:59.999999999,8.0,1\n",
        ),
        ("fastparquet_rays.parquet", "stamp,t,id\n2024-04-08T18:17:20,9.0,0\n"),
        (
            "polars_rays.parquet",
            "day,clock,stamp,cost,name,t,id\n2024-04-08,18:17:20,2024-04-08T18:17:20.123Z,12.34,\u{e9},9.0,0\n",
        ),
        (
            "duckdb_rays.parquet",
            "day,clock,stamp,utc,secs,cost,small,id2,t,id\n2024-04-08,18:17:20,2024-04-08T18:17:20.25,2024-04-08T18:17:20Z,\
             2024-04-08T18:17:20,12.34,0.001,12345678-9abc-def0-1234-56789abcdef0,9.0,0\n",
        ),
    ] {
        assert_eq!(kept(name), found, "{name}");
    }
}

#[test]
fn decimals_and_integers_are_coordinates() {
    let folder = Folder::new();
    case(&folder, "probe2.csv");
    case(&folder, "polars_spheres.parquet");
    assert_eq!(folder.run_ok("cast polars_spheres.parquet probe2.csv -o - -q").output, "t,id\n9.0,0\n,\n");
}
