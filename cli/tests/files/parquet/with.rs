//! Reading and writing Parquet files, in a build with Parquet.

use super::tables::{NumberType, PLAIN, WriteOptions, columns, table};
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::WriterVersion;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use umbracast_testing::folder::Folder;

pub(super) const SPHERES: &str = "x,y,z,r\n4,0,0,1\n0,5,0,2\n0.1,0,9,3\n";
pub(super) const RAYS: &str = "ox,oy,oz,dx,dy,dz\n0,0,0,1,0,0\n0,0,0,0,2,0\n0,0,0,-1,0,0\n0,0,0,0,0.3,1\n";

/// Converts a Parquet table of results to CSV.
pub(in crate::files) fn as_csv(bytes: Vec<u8>) -> String {
    let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
    let names = reader.metadata().file_metadata().schema().get_fields().iter().map(|f| f.name()).collect::<Vec<_>>();
    let mut text = names.join(",") + "\n";
    for row in reader.get_row_iter(None).unwrap() {
        let row = row.unwrap();
        let cells = row.get_column_iter().map(|(_, field)| match field {
            Field::Null => String::new(),
            Field::Float(x) => format!("{x:?}"),
            Field::UInt(id) => id.to_string(),
            Field::ULong(number) => number.to_string(),
            Field::Bool(flag) => flag.to_string(),
            Field::Double(x) => format!("{x:?}"),
            Field::Str(word) => format!("{word:?}"),
            other => panic!("{other:?} in a table of results"),
        });
        text += &(cells.collect::<Vec<_>>().join(",") + "\n");
    }
    text
}

/// Returns spheres and `rows` rays in CSV; every 7th ray is a miss.
fn many(rows: usize) -> (String, String) {
    let mut rays = "oz,oy,ox,dx,dy,dz,t_max,t_min\n".to_owned();
    for i in 0..rows {
        let dx = if i % 7 == 0 { -1.0 } else { 1.0 + (i % 13) as f32 / 8.0 };
        rays += &format!("0,{},0,{dx},0,0,100,{}\n", (i % 3) as f32 * 0.25, (i % 5) as f32 * 0.125);
    }
    (SPHERES.into(), rays)
}

#[test]
fn files_of_every_writer_give_the_same_results() {
    let (spheres, rays) = many(5000);
    let folder = Folder::new();
    folder.write("s.csv", &spheres).write("r.csv", &rays);
    folder.run_ok("cast s.csv r.csv -o text.csv -q");
    let expected = folder.text("text.csv");
    assert_eq!(expected.lines().filter(|line| *line == ",").count(), 715);
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::ZSTD(ZstdLevel::default()),
        Compression::GZIP(GzipLevel::default()),
        Compression::LZ4,
        Compression::LZ4_RAW,
    ] {
        for (of, nullable) in
            [(NumberType::F32, false), (NumberType::F32, true), (NumberType::F64, false), (NumberType::F64, true)]
        {
            for (dictionary, version) in [(false, WriterVersion::PARQUET_1_0), (true, WriterVersion::PARQUET_2_0)] {
                for group in [1 << 16, 1234] {
                    let how = WriteOptions { of, nullable, compression, dictionary, version, group };
                    let mut shuffled = columns(&spheres);
                    shuffled.rotate_left(1);
                    folder.write("s.parquet", table(how, &shuffled)).write("r.parquet", table(how, &columns(&rays)));
                    folder.run_ok("cast s.parquet r.parquet -o out.csv -q");
                    assert!(folder.text("out.csv") == expected, "{how:?}");
                }
            }
        }
    }
}

#[test]
fn every_query_gives_the_same_results_as_csv() {
    let folder = Folder::new();
    folder.write("s.csv", SPHERES).write("r.parquet", table(PLAIN, &columns(RAYS)));
    for query in ["closest", "occluded", "interval", "approach"] {
        folder.run_ok(&format!("cast s.csv r.parquet -o out.csv -q --query {query}"));
        folder.run_ok(&format!("cast s.csv r.parquet -o out.parquet -q --query {query}"));
        assert_eq!(as_csv(folder.bytes("out.parquet")), folder.text("out.csv"), "{query}");
    }
    folder.run_ok("cast s.csv r.parquet -o out.csv -q --with distance,normal");
    folder.run_ok("cast s.csv r.parquet -o out.parquet -q --with distance,normal");
    let text = folder.text("out.csv");
    assert!(text.starts_with("t,id,distance,nx,ny,nz\n3.0,0,3.0,-1.0,") && text.contains("\n,,,,,\n"), "{text}");
    assert_eq!(as_csv(folder.bytes("out.parquet")), text);
    // Files without rays or spheres are valid.
    folder.write("s0.parquet", table(PLAIN, &columns("x,y,z,r\n")));
    folder.write("r0.parquet", table(PLAIN, &columns("ox,oy,oz,dx,dy,dz\n")));
    folder.run_ok("cast s0.parquet r0.parquet -o out.parquet -q");
    assert_eq!(as_csv(folder.bytes("out.parquet")), "t,id\n");
    folder.run_ok("cast s0.parquet r.parquet -o out.parquet -q");
    assert_eq!(as_csv(folder.bytes("out.parquet")), "t,id\n,\n,\n,\n,\n");
}

/// Converts a Parquet table of hit lists to CSV.
fn lists_as_csv(bytes: Vec<u8>) -> String {
    let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
    let mut text = "ray,t_enter,t_exit,id\n".to_owned();
    for (ray, row) in reader.get_row_iter(None).unwrap().enumerate() {
        let row = row.unwrap();
        let lists = row.get_column_iter().map(|(name, field)| match field {
            Field::ListInternal(list) => (name.as_str(), list.elements()),
            other => panic!("{other:?} in a table of hit lists"),
        });
        let lists: Vec<_> = lists.collect();
        assert_eq!(lists.iter().map(|list| list.0).collect::<Vec<_>>(), ["t_enter", "t_exit", "id"]);
        for i in 0..lists[0].1.len() {
            let [Field::Float(enter), Field::Float(exit), Field::UInt(id)] = [0, 1, 2].map(|k| lists[k].1[i].clone())
            else {
                panic!("{lists:?}")
            };
            text += &format!("{ray},{enter:?},{exit:?},{id}\n");
        }
        assert!(lists.iter().all(|list| list.1.len() == lists[0].1.len()));
    }
    text
}

#[test]
fn lists_are_columns_of_lists() {
    let (spheres, rays) = many(5000);
    let folder = Folder::new();
    folder.write("s.csv", spheres + "5,0,0,3\n6,0,0,1\n").write("r.csv", rays).write("none.csv", "ox,oy,oz,dx,dy,dz\n");
    for query in ["all", "nearest --k 2"] {
        folder.run_ok(&format!("cast s.csv r.csv -o out.csv -q --query {query}"));
        folder.run_ok(&format!("cast s.csv r.csv -o out.parquet -q --query {query}"));
        let (lists, text) = (lists_as_csv(folder.bytes("out.parquet")), folder.text("out.csv"));
        assert!(lists == text && text.lines().count() > 5000, "{query}: {}", text.lines().count());
        folder.run_ok(&format!("cast s.csv none.csv -o out.parquet -q --query {query}"));
        assert_eq!(lists_as_csv(folder.bytes("out.parquet")), "ray,t_enter,t_exit,id\n");
    }
    // Several row groups: the number of rays per group is limited (2¹⁸), and so is the number of hits per group (about 2²⁰).
    for (spheres, rays, groups) in [(1, 300_000, vec![1 << 18, 300_000 - (1 << 18)]), (700, 2000, vec![1498, 502])] {
        let balls: String = (0..spheres).map(|_| "4,0,0,1\n").collect();
        folder.write("s.csv", format!("x,y,z,r\n{balls}"));
        let columns =
            ["ox", "oy", "oz", "dx", "dy", "dz"].map(|name| (name, vec![f64::from(u8::from(name == "dx")); rays]));
        folder.write("r.parquet", table(PLAIN, &columns));
        folder.run_ok("cast s.csv r.parquet -o out.parquet -q --query all");
        let bytes = folder.bytes("out.parquet");
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes.clone())).unwrap();
        let found = reader.metadata().row_groups().iter().map(|group| group.num_rows()).collect::<Vec<_>>();
        assert_eq!(found, groups);
        let text = lists_as_csv(bytes);
        let expected = |(i, line): (usize, &str)| line == format!("{},3.0,5.0,{}", i / spheres, i % spheres);
        assert!(text.lines().skip(1).enumerate().all(expected));
        assert_eq!(text.lines().count(), 1 + spheres * rays);
    }
}

#[test]
fn many_rays_are_streamed_by_row_group() {
    let count = 600_000;
    let column = |period: usize| (0..count).map(|i| (i % period) as f64).collect::<Vec<_>>();
    let rays = ["ox", "oy", "oz", "dx", "dy", "dz"].map(|name| (name, column(if name == "dx" { 2 } else { 1 })));
    let folder = Folder::new();
    let mut rays = rays.to_vec();
    // Rays along z hit nothing.
    rays[5].1 = (0..count).map(|i| f64::from(u8::from(i % 2 == 0))).collect();
    folder
        .write("s.csv", "x,y,z,r\n4,0,0,1\n")
        .write("r.parquet", table(WriteOptions { group: 250_000, ..PLAIN }, &rays));
    let json = folder.json("cast s.csv r.parquet -o out.parquet --json");
    assert_eq!((&json["rays"], &json["rays_hit"]), (&count.into(), &(count / 2).into()));
    let bytes = folder.bytes("out.parquet");
    let reader = SerializedFileReader::new(bytes::Bytes::from(bytes.clone())).unwrap();
    let groups = reader.metadata().row_groups().iter().map(|group| group.num_rows()).collect::<Vec<_>>();
    assert_eq!(groups, [1 << 18, 1 << 18, count as i64 - (2 << 18)]);
    let text = as_csv(bytes);
    assert!(text.lines().skip(1).enumerate().all(|(i, line)| line == [",", "3.0,0"][i % 2]));
    // The same results give the same bytes.
    folder.run_ok("cast s.csv r.parquet -o again.parquet -q");
    assert!(folder.bytes("out.parquet") == folder.bytes("again.parquet"));
}

#[test]
fn doubles_are_rounded_once_and_counted() {
    let folder = Folder::new();
    let far = "x,y,z,r\n50000000.25,7000000.5,0,0.125\n";
    let rays = "ox,oy,oz,dx,dy,dz\n49999990.25,7000000.5,0,1,0,0\n";
    let wide = WriteOptions { of: NumberType::F64, ..PLAIN };
    folder.write("s.parquet", table(wide, &columns(far))).write("r.parquet", table(wide, &columns(rays)));
    folder.write("s.csv", far).write("r.csv", rays);
    for origin in ["", "--origin auto", "--origin 50000000,7000000,0"] {
        let json = |spheres: &str, rays: &str| {
            let json = folder.json(&format!("cast {spheres} {rays} -o out.csv --json {origin}"));
            (json["rounded"].clone(), folder.text("out.csv"))
        };
        let expected = json("s.csv", "r.csv");
        assert_eq!(expected.0, if origin.is_empty() { 2 } else { 0 });
        assert_eq!(json("s.parquet", "r.parquet"), expected, "{origin}");
    }
    folder.write("big.parquet", table(wide, &columns("x,y,z,r\n1,2,3,4\n1,2,1e39,4\n")));
    let done = folder.run("cast big.parquet r.csv -o out.csv");
    let words =
        "big.parquet: row 2 (index 1): z is 1000000000000000000000000000000000000000: it exceeds the largest f32";
    assert!(done.code == 2 && done.errors.contains(words), "{}", done.errors);
}

#[test]
fn points_poses_and_bullets_are_read_from_columns() {
    let folder = Folder::new();
    folder.write("s.csv", SPHERES).write("p.parquet", table(PLAIN, &columns("z,y,x\n0,0,0\n3,0,4\n")));
    folder.run_ok("cast s.csv p.parquet -o out.csv -q --parallel 0,0,-2");
    assert_eq!(folder.text("out.csv"), "t,id\n,\n1.0,0\n");
    folder.write("b.parquet", table(PLAIN, &columns("speed,z2,y2,x2,x1,y1,z1\n2,0,0,1,0,0,0\n1,9,0,0,0,0,0\n")));
    folder.run_ok("bullets s.csv b.parquet -o out.csv -q --bounces 2");
    let rows = folder.text("out.csv");
    assert!(rows.contains("\n0,0,hit,0,3.0,1.5,3.0,0.0,0.0,1.5707964,-2.0,"), "{rows}");
    folder.write("poses.parquet", table(PLAIN, &columns("x,y,z,qw,qx,qy,qz\n0,0,0,1,0,0,0\n")));
    folder.write("l.toml", "elevations_deg = [0]\nazimuths_deg = [0, 90]\nposes = 'poses.parquet'\n");
    folder.run_ok("cast s.csv --sensor l.toml -o out.csv -q");
    assert_eq!(folder.text("out.csv"), "t,id\n3.0,0\n3.0,1\n");
}

#[test]
fn masks_and_skipped_ids_are_integers() {
    let spheres = "x,y,z,r,mask\n5,0,0,1,2147483648\n9,0,0,1,4294967295\n";
    let rays =
        "ox,oy,oz,dx,dy,dz,mask,skip_id\n0,0,0,1,0,0,2147483648,null\n0,0,0,1,0,0,1,null\n0,0,0,1,0,0,4294967295,0\n";
    let folder = Folder::new();
    let nullable = WriteOptions { nullable: true, ..PLAIN };
    folder.write("s.csv", spheres).write("r.csv", rays.replace("null", ""));
    folder.write("s.parquet", table(PLAIN, &columns(spheres))).write("r.parquet", table(nullable, &columns(rays)));
    for (s, r) in [("s.csv", "r.csv"), ("s.parquet", "r.parquet")] {
        folder.run_ok(&format!("cast {s} {r} -o out.csv"));
        assert_eq!(folder.text("out.csv"), "t,id\n4.0,0\n8.0,1\n8.0,1\n");
    }
}

#[test]
fn nulls_are_bad_rays_and_can_be_skipped() {
    let nullable = WriteOptions { nullable: true, ..PLAIN };
    let folder = Folder::new();
    let rays = "ox,oy,oz,dx,dy,dz\n0,0,0,1,0,0\n0,null,0,1,0,0\n0,0,0,null,0,0\n0,0,0,0,1,0\n";
    folder.write("s.csv", SPHERES).write("r.parquet", table(nullable, &columns(rays)));
    let done = folder.run_ok("cast s.csv r.parquet -o out.csv --on-bad skip");
    assert!(done.errors.contains("2 bad rays skipped"), "{}", done.errors);
    assert_eq!(folder.text("out.csv"), "t,id\n3.0,0\n,\n,\n3.0,1\n");
}
