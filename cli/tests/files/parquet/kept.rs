//! Columns of Parquet files that the program does not know: ignored, or kept as text.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, ListArray, RecordBatch};
use parquet::arrow::ArrowWriter;
use parquet::data_type::{ByteArrayType, DoubleType, Int64Type, Int96, Int96Type};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::Field;
use parquet::schema::parser::parse_message_type;

use umbracast_testing::folder::Folder;

/// Two rays with a name, which may be null, and a time of this type.
fn rays(type_of_when: &str) -> Vec<u8> {
    let schema = format!(
        "message rays {{ optional binary name (UTF8); required double ox; required double oy; required double oz;
        required double dx; required double dy; required double dz; required {type_of_when} when; }}"
    );
    let schema = Arc::new(parse_message_type(&schema).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    // Nanoseconds of the day, low word first, and the Julian day number of 0001-01-01.
    let instant = |nanoseconds| Int96::from(vec![nanoseconds, 0, 1_721_426]);
    for index in 0..8 {
        let mut column = group.next_column().unwrap().unwrap();
        match index {
            0 => column.typed::<ByteArrayType>().write_batch(&["a, b".into()], Some(&[1, 0]), None),
            7 if type_of_when == "int96" => {
                column.typed::<Int96Type>().write_batch(&[500, 501].map(instant), None, None)
            }
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
    folder.write("s.csv", "x,y,z,r\n4,0,0,1\n").write("r.parquet", rays("int64"));
    folder.refused("cast s.csv r.parquet -o out.csv", "unknown column 'name'");
    folder.run_ok("cast s.csv r.parquet -o out.csv -q --ignore-extra");
    assert_eq!(folder.text("out.csv"), "t,id\n3.0,0\n,\n");
    folder.run_ok("cast s.csv r.parquet -o out.csv -q --keep");
    assert_eq!(folder.text("out.csv"), "name,when,t,id\n\"a, b\",-7,3.0,0\n,1152921504606846976,,\n");
    folder.run_ok("cast s.csv r.parquet -o out.parquet -q --keep");
    let bytes = bytes::Bytes::from(folder.bytes("out.parquet"));
    let reader = SerializedFileReader::new(bytes).unwrap();
    let rows: Vec<Vec<Field>> = reader
        .get_row_iter(None)
        .unwrap()
        .map(|row| row.unwrap().get_column_iter().map(|(_, field)| field.clone()).collect())
        .collect();
    assert_eq!(rows[0], [Field::Str("a, b".into()), Field::Str("-7".into()), Field::Float(3.0), Field::UInt(0)]);
    assert_eq!(rows[1][2..], [Field::Null, Field::Null]);
}

#[test]
fn truth_values_of_any_page_version_are_kept_and_lists_are_ignored() {
    let flag: ArrayRef = Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)]));
    let list: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>([None, Some([Some(1)]), None]));
    let folder = Folder::new();
    folder.write("s.csv", "x,y,z,r\n4,0,0,1\n");
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        let write = |name: &str, extra: &ArrayRef, columns: &[(&str, [f64; 3])]| {
            let array = |values: &[f64; 3]| -> ArrayRef { Arc::new(Float64Array::from(values.to_vec())) };
            let columns = columns.iter().map(|(name, values)| (*name, array(values)));
            let batch = RecordBatch::try_from_iter(columns.chain([("extra", extra.clone())])).unwrap();
            let properties = WriterProperties::builder().set_writer_version(version).build();
            let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
            writer.write(&batch).unwrap();
            folder.write(name, writer.into_inner().unwrap());
        };
        let ray = [("ox", 0.0), ("oy", 0.0), ("oz", 0.0), ("dx", 1.0), ("dy", 0.0), ("dz", 0.0)];
        let ray = ray.map(|(name, value)| (name, [value; 3]));
        let orbit = [("unix_s", [0.0, 60.0, 120.0]), ("x", [7000.0; 3]), ("y", [0.0, 450.0, 900.0]), ("z", [0.0; 3])];
        write("r.parquet", &flag, &ray);
        folder.run_ok("cast s.csv r.parquet -o out.csv -q --keep");
        assert_eq!(folder.text("out.csv"), "extra,t,id\ntrue,3.0,0\n,3.0,0\nfalse,3.0,0\n");
        write("o.parquet", &list, &orbit);
        folder.refused("sunlight o.parquet --frame gcrs -o out.csv", "column 'extra' is nested");
        folder.run_ok("sunlight o.parquet --frame gcrs -o out.csv -q --ignore-extra");
    }
}

/// The nanoseconds of the year 1 exceed 64 bits.
#[test]
fn instants_beyond_64_bits_of_nanoseconds_are_right() {
    let folder = Folder::new();
    folder.write("s.csv", "x,y,z,r\n4,0,0,1\n").write("r.parquet", rays("int96"));
    let found = folder.run_ok("cast s.csv r.parquet -o - -q --keep").output;
    assert_eq!(found, "name,when,t,id\n\"a, b\",0001-01-01T00:00:00.0000005,3.0,0\n,0001-01-01T00:00:00.000000501,,\n");
}
