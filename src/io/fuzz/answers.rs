//! Fuzz target for result writers. Results are read back as they were written, and a writer that fails leaves its folder unchanged.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::record::Field;
use zip::ZipArchive;

use super::ROOM;
use crate::error::Result;
use crate::fuzz::bytes::{Bytes, Style};
use crate::fuzz::messages::check_message;
use crate::io::schema::answer_row::{AnswerRow, Number};
use crate::io::write::file_writer::FileWriter;
use crate::records::{Approach, Containment, Hit, Interval, NO_SPHERE};
use crate::runtime::cancel::CancelToken;
use crate::shadow::ball::{Shadow, ShadowKind};

/// `answers`: the input encodes the result type, the format, the disk space and the rows.
pub fn answers(data: &[u8]) {
    let mut bytes = Bytes(data);
    let kind = bytes.below(7);
    let plan = Plan {
        extension: ["csv", "npz", "parquet"][bytes.below(3)],
        piece: 1 + bytes.below(9),
        room: u64::from(bytes.byte()) * u64::from(bytes.byte() % 64),
        before: bytes.byte() % 2 == 1,
    };
    match kind {
        0 => plan.check(&rows(bytes, |b| Hit { t: float(b), id: id(b) })),
        1 => plan.check(&rows(bytes, |b| Interval { t_enter: float(b), t_exit: float(b), id: id(b) })),
        2 => plan.check(&rows(bytes, |b| Approach { t: float(b), clearance: float(b), id: id(b) })),
        3 => plan.check(&rows(bytes, |b| b.byte() % 2 == 1)),
        4 => plan.check(&rows(bytes, |b| b.word())),
        5 => plan.check(&rows(bytes, |b| Containment { count: b.word(), id: id(b) })),
        _ => plan.check(&rows(bytes, |b| Shadow { fraction: f64::from(float(b)) / 3.0, kind: kinds(b) })),
    }
}

fn rows<T>(mut bytes: Bytes<'_>, row: impl Fn(&mut Bytes<'_>) -> T) -> Vec<T> {
    let mut rows = Vec::new();
    while !bytes.is_empty() {
        rows.push(row(&mut bytes));
    }
    rows
}

fn float(bytes: &mut Bytes<'_>) -> f32 {
    match bytes.byte() % 8 {
        0 => f32::INFINITY,
        1 => f32::NEG_INFINITY,
        2 => -0.0,
        3 => bytes.number(Style::Lattice),
        _ => bytes.number(Style::Wild),
    }
}

fn id(bytes: &mut Bytes<'_>) -> u32 {
    if bytes.byte().is_multiple_of(4) { NO_SPHERE } else { bytes.word() }
}

fn kinds(bytes: &mut Bytes<'_>) -> ShadowKind {
    [ShadowKind::None, ShadowKind::Partial, ShadowKind::Annular, ShadowKind::Total][bytes.below(4)]
}

/// How results are written.
struct Plan {
    extension: &'static str,
    /// Rows per call of `write`.
    piece: usize,
    /// Disk space in bytes for the writer that must fail.
    room: u64,
    /// Whether a file of that name exists beforehand.
    before: bool,
}

impl Plan {
    fn check<T: AnswerRow>(&self, rows: &[T]) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out").with_extension(self.extension);
        if self.before {
            fs::write(&path, "before").expect("it is short");
        }
        #[cfg(target_os = "linux")]
        {
            let before = content(folder.path());
            ROOM.set(Some(self.room));
            let failed = self.write(&path, rows);
            ROOM.set(None);
            // It fails even if all bytes fit: a file in memory cannot be linked into a folder.
            check_message(&failed.expect_err("it cannot appear"));
            assert_eq!(content(folder.path()), before, "with room for {} bytes", self.room);
        }
        self.write(&path, rows).expect("there is room");
        assert_eq!(content(folder.path()).len(), 1, "nothing but the file");
        let columns = match self.extension {
            "csv" => csv(&path),
            "npz" => npz(&path),
            _ => parquet(&path),
        };
        assert_eq!(columns.len(), T::COLUMNS.len());
        for ((name, number), (found_name, cells)) in T::COLUMNS.iter().zip(&columns) {
            assert_eq!((*name, rows.len()), (found_name.as_str(), cells.len()));
            for (row, cell) in rows.iter().zip(cells) {
                cell.check(number(row), row.is_miss(), name);
            }
        }
    }

    fn write<T: AnswerRow>(&self, path: &Path, rows: &[T]) -> Result<()> {
        let mut writer = FileWriter::<[_]>::create(path)?;
        rows.chunks(self.piece).try_for_each(|rows| writer.write(rows))?;
        writer.finish(&CancelToken::new())
    }
}

/// The files of a folder with their contents.
fn content(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).expect("it is there").map(|entry| entry.expect("it is there").path());
    let mut all: Vec<_> =
        entries.map(|path| (path.display().to_string(), fs::read(&path).expect("it is a file"))).collect();
    all.sort();
    all
}

/// One cell of a file.
#[derive(Debug)]
enum Cell {
    Text(String),
    Raw(Vec<u8>),
    Typed(Field),
}

impl Cell {
    fn check(&self, number: Number, miss: bool, name: &str) {
        let fits = match self {
            Self::Text(text) => text_of(text, number, miss),
            Self::Raw(raw) => *raw == raw_of(number),
            Self::Typed(field) => field_of(field, number, miss),
        };
        assert!(fits, "{name}: {number:?} came back as {self:?}");
    }
}

fn text_of(text: &str, number: Number, miss: bool) -> bool {
    if miss || matches!(number, Number::Blank(_) | Number::BlankDouble(_) | Number::Id(NO_SPHERE)) {
        return text.is_empty();
    }
    match number {
        Number::Float(x) => text.parse::<f32>().is_ok_and(|y| x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan())),
        Number::Double(x) => {
            text.parse::<f64>().is_ok_and(|y| x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan()))
        }
        Number::Id(x) | Number::Count(x) => text.parse() == Ok(x),
        Number::Offset(x) => text.parse() == Ok(x),
        Number::Flag(x) => text.parse() == Ok(x),
        Number::Word(_, word) => text == word,
        Number::Blank(_) | Number::BlankDouble(_) => false,
    }
}

fn raw_of(number: Number) -> Vec<u8> {
    match number {
        Number::Float(x) | Number::Blank(x) => x.to_le_bytes().into(),
        Number::Double(x) | Number::BlankDouble(x) => x.to_le_bytes().into(),
        Number::Id(x) | Number::Count(x) => x.to_le_bytes().into(),
        Number::Offset(x) => x.to_le_bytes().into(),
        Number::Flag(x) => vec![u8::from(x)],
        Number::Word(byte, _) => vec![byte],
    }
}

fn field_of(field: &Field, number: Number, miss: bool) -> bool {
    match (field, number) {
        (Field::Null, Number::Blank(_) | Number::BlankDouble(_) | Number::Id(NO_SPHERE)) => true,
        (Field::Null, Number::Float(_) | Number::Id(_)) => miss,
        (Field::Float(y), Number::Float(x)) => !miss && x.to_bits() == y.to_bits(),
        (Field::Double(y), Number::Double(x)) => x.to_bits() == y.to_bits(),
        (Field::UInt(y), Number::Id(x)) => !miss && x == *y,
        (Field::UInt(y), Number::Count(x)) => x == *y,
        (Field::ULong(y), Number::Offset(x)) => x == *y,
        (Field::Bool(y), Number::Flag(x)) => x == *y,
        (Field::Str(y), Number::Word(_, x)) => x == y,
        _ => false,
    }
}

/// Columns by name.
type Columns = Vec<(String, Vec<Cell>)>;

fn csv(path: &Path) -> Columns {
    let text = fs::read_to_string(path).expect("it is text");
    let mut lines = text.split_terminator('\n');
    let mut columns: Columns = lines.next().expect("a header").split(',').map(|name| (name.into(), vec![])).collect();
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells.len(), columns.len(), "{line}");
        columns.iter_mut().zip(cells).for_each(|(column, cell)| column.1.push(Cell::Text(cell.into())));
    }
    columns
}

fn npz(path: &Path) -> Columns {
    let mut archive = ZipArchive::new(File::open(path).expect("it is there")).expect("it is an archive");
    let mut columns = Columns::new();
    for i in 0..archive.len() {
        let mut entry = archive.by_index(i).expect("it is there");
        let name = entry.name().expect("text").strip_suffix(".npy").expect("an array").to_owned();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).expect("it can be read");
        let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        let header = String::from_utf8_lossy(&bytes[10..start]);
        let rows = header.split_once("'shape': (").and_then(|rest| rest.1.split_once(',')).expect("a shape").0;
        let rows: usize = rows.parse().expect("a number of rows");
        let width = match rows {
            0 => 1,
            rows => (bytes.len() - start) / rows,
        };
        assert_eq!(start + rows * width, bytes.len(), "{header}");
        columns.push((name, bytes[start..].chunks(width).map(|raw| Cell::Raw(raw.into())).collect()));
    }
    columns
}

fn parquet(path: &Path) -> Columns {
    let reader = SerializedFileReader::new(File::open(path).expect("it is there")).expect("a footer");
    let schema = reader.metadata().file_metadata().schema();
    let mut columns: Columns = schema.get_fields().iter().map(|field| (field.name().into(), vec![])).collect();
    for row in reader.get_row_iter(None).expect("rows") {
        let row = row.expect("a row");
        for (column, (_, field)) in columns.iter_mut().zip(row.get_column_iter()) {
            column.1.push(Cell::Typed(field.clone()));
        }
    }
    columns
}
