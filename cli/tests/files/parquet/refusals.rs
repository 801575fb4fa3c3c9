//! Invalid Parquet files are refused, and damaged bytes neither crash nor hang.

use std::path::Path;

use super::tables::{PLAIN, WriteOptions, columns, deep, footer, schema, table};
use super::with::{RAYS, SPHERES};
use parquet::basic::Compression;
use parquet::file::properties::WriterVersion;
use umbracast::glam::DVec3;
use umbracast_files::read_spheres;
use umbracast_testing::folder::Folder;

#[test]
fn invalid_files_are_refused_and_no_file_changes() {
    let folder = Folder::new();
    let right = table(PLAIN, &columns(SPHERES));
    let snappy = WriteOptions { compression: Compression::SNAPPY, ..PLAIN };
    let nullable = WriteOptions { nullable: true, ..PLAIN };
    let of = |how: WriteOptions, text: &str| table(how, &columns(text));
    let mut encrypted = right.clone();
    let end = encrypted.len();
    encrypted[end - 1] = b'E';
    let mut long = right.clone();
    long[end - 8..end - 4].copy_from_slice(&u32::MAX.to_le_bytes());
    // The number of rows of the file, 2 · 8191 in 7 bits per byte, follows the schema; one less.
    let mut claims = table(PLAIN, &["x", "y", "z", "r"].map(|name| (name, vec![1.0; 8191])));
    let footer_end = claims.len() - 8;
    let begin = footer_end - u32::from_le_bytes(claims[footer_end..][..4].try_into().unwrap()) as usize;
    let at = claims[begin..].windows(3).position(|bytes| bytes == [0x16, 0xfe, 0x7f]).unwrap();
    claims[begin + at + 1] = 0xfc;
    // The header of the first page: its type, then its uncompressed size.
    let mut bomb = of(snappy, SPHERES);
    assert_eq!(bomb[4..7], [0x15, 0x00, 0x15]);
    let head: Vec<u8> = [&bomb[4..7], &[0xfe, 0xff, 0xff, 0xff, 0x0f], &bomb[8..]].concat();
    bomb.truncate(4);
    bomb.extend(head);
    for (name, bytes, words) in [
        ("empty", vec![], "not a readable .parquet file: it is empty (0 bytes)"),
        ("garbage", b"x,y,z,r\n1,2,3,4\n".to_vec(), "not a readable .parquet file: it does not begin with PAR1"),
        ("start", b"PAR1".to_vec(), "it does not end with PAR1 after 4 bytes: the file is truncated"),
        ("cut", right[..end - 1].to_vec(), "the file is truncated"),
        ("half", right[..end / 2].to_vec(), "the file is truncated"),
        ("encrypted", encrypted, "it is encrypted"),
        ("long", long, "its footer claims 4294967295 bytes, but the file has"),
        ("nonsense", footer(&[0xff; 100]), "the file is damaged: "),
        ("deep", deep(100_000), "unknown column 'a'"),
        ("claims", claims, "it claims 8190 rows, but its row groups have 8191"),
        (
            "map",
            schema(
                "message m { required float x; required float y; required float z; required group r (MAP) {
                    repeated group key_value { required binary key; optional float value; } } }",
            ),
            "column 'r' is nested: expected a number",
        ),
        ("missing", of(PLAIN, "x,y,z\n1,2,3\n"), "column 'r' is missing; spheres need the columns x,y,z,r"),
        ("unknown", of(PLAIN, "x,y,z,r,masks\n1,2,3,4,5\n"), "unknown column 'masks' (did you mean 'mask'?)"),
        ("rays", of(PLAIN, RAYS), "column 'ox' belongs to rays; the order of the files is SPHERES, then RAYS"),
        (
            "slim",
            of(PLAIN, "x,y,z,rx,ry,rz\n1,2,3,4,5,0\n"),
            "row 1 (index 0): rz is 0: a semi-axis must be finite and larger",
        ),
        (
            "half",
            schema(
                "message m { required float x; required float y; required float z; required float r; required float mask; }",
            ),
            "column 'mask' is FLOAT: expected an integer type",
        ),
        (
            "nomask",
            of(nullable, "x,y,z,r,mask\n1,2,3,4,null\n"),
            "row 1 (index 0): mask is null: it must be a whole number",
        ),
        (
            "half_float",
            schema(
                "message m { required float x; required fixed_len_byte_array(2) y (FLOAT16); required float z; \
                    required float r; }",
            ),
            "column 'y' is FIXED_LEN_BYTE_ARRAY (Float16): expected a number",
        ),
        (
            "text",
            schema("message m { required float x; required float y; required float z; required binary r (STRING); }"),
            "column 'r' is BYTE_ARRAY (String): expected a number",
        ),
        (
            "nested",
            schema(
                "message m { required group x { required float a; } required float y; required float z; \
                    required float r; }",
            ),
            "column 'x' is nested: expected a number",
        ),
        (
            "list",
            schema("message m { required float x; repeated float y; required float z; required float r; }"),
            "column 'y' is a list: expected a number",
        ),
        (
            "twice",
            schema("message m { required float x; required float x; required float z; required float r; }"),
            "column 'x' appears twice",
        ),
        ("null", of(nullable, "x,y,z,r\n1,2,3,4\n1,2,null,4\n"), "row 2 (index 1): z is null: a centre must be finite"),
        ("negative", of(PLAIN, "x,y,z,r\n1,2,3,4\n1,2,3,-4\n"), "row 2 (index 1): r is -4"),
        ("bomb", bomb, "a page claims to decompress to 2147483647 bytes"),
    ] {
        let (name, out) = (format!("{name}.parquet"), "out.csv");
        folder.write(&name, bytes).write("r.csv", RAYS).write(out, "before").write("out.parquet", "before");
        for out in ["out.csv", "out.parquet"] {
            let done = folder.fails(&format!("cast {name} r.csv -o {out}"), 2, &[words]);
            assert!(done.errors.contains(&name) && !done.errors.contains("panicked"), "{}", done.errors);
        }
    }
    // A file of rays whose error is found while results are being written.
    folder
        .write("s.csv", SPHERES)
        .write("bad.parquet", of(nullable, "ox,oy,oz,dx,dy,dz\n0,0,0,1,0,0\n0,0,0,null,0,0\n"));
    folder.refused("cast s.csv bad.parquet -o out.parquet", "bad.parquet: row 2 (index 1): d");
    assert_eq!(folder.text("out.parquet"), "before");
    folder.write("r.parquet", of(PLAIN, RAYS));
    folder.refused("cast s.csv r.parquet -o r.parquet", "is also an input");
}

#[test]
#[cfg(unix)]
fn parquet_from_a_pipe_is_refused() {
    let folder = Folder::new();
    folder.write("s.csv", SPHERES).make_pipe("r.parquet");
    let child = folder.start("cast s.csv r.parquet -o out.csv");
    drop(folder.open_pipe("r.parquet"));
    let done = umbracast_testing::folder::Done::of(child);
    assert!(done.code == 2 && done.errors.contains("cannot be read from a pipe"), "{}", done.errors);
}

/// A changed byte gives an error or other numbers, never a panic or an allocation for data that does not exist.
#[test]
fn damaged_bytes_are_errors_or_numbers() {
    let folder = Folder::new();
    let path = folder.path("s.parquet");
    let text = "x,y,z,r\n".to_owned() + &"1,2,3,4\n5,6,7,8\nnull,1,1,1\n1,2,3,0.5\n".repeat(20);
    // Removed first: ext4 writes a file that was truncated to disk when it is closed, which takes 10 ms.
    let replace = |path: &Path, bytes: &[u8]| {
        let _ = std::fs::remove_file(path);
        std::fs::write(path, bytes).unwrap();
    };
    let (mut refused, mut read) = (0, 0);
    for (compression, dictionary, version) in [
        (Compression::UNCOMPRESSED, false, WriterVersion::PARQUET_2_0),
        (Compression::SNAPPY, true, WriterVersion::PARQUET_1_0),
    ] {
        let how = WriteOptions { nullable: true, compression, dictionary, version, group: 50, ..PLAIN };
        let right = table(how, &columns(&text.replace("null", "1")));
        for at in 0..right.len() {
            for value in [0xff, right[at] ^ 0x01] {
                let mut bytes = right.clone();
                bytes[at] = value;
                replace(&path, &bytes);
                match read_spheres(&path, DVec3::ZERO) {
                    Ok(table) => read += usize::from(table.records.len() == 80),
                    Err(_) => refused += 1,
                }
            }
        }
        for end in 0..right.len() {
            replace(&path, &right[..end]);
            assert!(read_spheres(&path, DVec3::ZERO).is_err(), "{end} bytes");
        }
    }
    assert!(refused > 500 && read > 500, "{refused} refused, {read} read");
}
