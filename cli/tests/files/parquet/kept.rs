//! Columns of Parquet files that the program does not know: ignored, or kept as text.

use std::sync::Arc;

use parquet::data_type::{ByteArrayType, DoubleType, Int64Type};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::Field;
use parquet::schema::parser::parse_message_type;

use umbracast_testing::folder::Folder;

const SCHEMA: &str =
    "message rays { optional binary name (UTF8); required double ox; required double oy; required double oz;
    required double dx; required double dy; required double dz; required int64 when; }";

/// Two rays with a name, which may be null, and a time as a whole number.
fn rays() -> Vec<u8> {
    let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for index in 0..8 {
        let mut column = group.next_column().unwrap().unwrap();
        match index {
            0 => column.typed::<ByteArrayType>().write_batch(&["a, b".into()], Some(&[1, 0]), None),
            7 => column.typed::<Int64Type>().write_batch(&[-7, 1 << 60], None, None),
            4 => column.typed::<DoubleType>().write_batch(&[1.0, -1.0], None, None),
            _ => column.typed::<DoubleType>().write_batch(&[0.0, 0.0], None, None),
        }
        .unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.finish().unwrap();
    writer.inner().clone()
}

#[test]
fn extra_columns_of_parquet_are_kept_or_ignored_on_request() {
    let folder = Folder::new();
    folder.write("s.csv", "x,y,z,r\n4,0,0,1\n").write("r.parquet", rays());
    let refused = folder.run("cast s.csv r.parquet -o out.csv");
    assert!(refused.code == 2 && refused.errors.contains("unknown column 'name'"), "{}", refused.errors);
    folder.run_ok("cast s.csv r.parquet -o out.csv -q --ignore-extra");
    assert_eq!(folder.text("out.csv"), "t,id\n3.0,0\n,\n");
    folder.run_ok("cast s.csv r.parquet -o out.csv -q --keep");
    assert_eq!(folder.text("out.csv"), "name,when,t,id\n\"a, b\",-7,3.0,0\n,1152921504606846976,,\n");
    folder.run_ok("cast s.csv r.parquet -o out.parquet -q --keep");
    let bytes = bytes::Bytes::from(std::fs::read(folder.path("out.parquet")).unwrap());
    let reader = SerializedFileReader::new(bytes).unwrap();
    let rows: Vec<Vec<Field>> = reader
        .get_row_iter(None)
        .unwrap()
        .map(|row| row.unwrap().get_column_iter().map(|(_, field)| field.clone()).collect())
        .collect();
    assert_eq!(rows[0], [Field::Str("a, b".into()), Field::Str("-7".into()), Field::Float(3.0), Field::UInt(0)]);
    assert_eq!(rows[1][2..], [Field::Null, Field::Null]);
}
