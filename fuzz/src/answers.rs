//! Writers of results: what is written is read back bit by bit, and nothing but the file stays in its folder.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use arbitrary::{Result, Unstructured};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use umbracast::shadow::{Shadow, ShadowKind};
use umbracast::{Approach, CancelToken, Containment, Hit, Interval, NO_SPHERE};
use umbracast_files::{AnswerRow, FileWriter, Number};
use zip::ZipArchive;

use crate::{Style, below, number};

/// The input encodes the result type, the format, the rows per call and the rows.
pub(crate) fn answers(u: &mut Unstructured<'_>) -> Result<()> {
    let kind = below(u, 7)?;
    let plan = Plan {
        extension: ["csv", "npz", "parquet"][below(u, 3)?],
        piece: 1 + below(u, 9)?,
        replaces: u.arbitrary::<u8>()? % 2 == 1,
    };
    match kind {
        0 => plan.check(u, |u| Ok(Hit { t: float(u)?, id: id(u)? })),
        1 => plan.check(u, |u| Ok(Interval { t_enter: float(u)?, t_exit: float(u)?, id: id(u)? })),
        2 => plan.check(u, |u| Ok(Approach { t: float(u)?, clearance: float(u)?, id: id(u)? })),
        3 => plan.check(u, |u| Ok(u.arbitrary::<u8>()? % 2 == 1)),
        4 => plan.check(u, |u| u.arbitrary::<u32>()),
        5 => plan.check(u, |u| Ok(Containment { count: u.arbitrary()?, id: id(u)? })),
        _ => plan.check(u, |u| {
            let kinds = [ShadowKind::Lit, ShadowKind::Penumbra, ShadowKind::Antumbra, ShadowKind::Umbra];
            Ok(Shadow { fraction: f64::from(float(u)?) / 3.0, kind: kinds[below(u, 4)?] })
        }),
    }
}

fn float(u: &mut Unstructured<'_>) -> Result<f32> {
    Ok(match u.arbitrary::<u8>()? % 8 {
        0 => f32::INFINITY,
        1 => f32::NEG_INFINITY,
        2 => -0.0,
        3 => number(u, Style::Lattice)?,
        _ => number(u, Style::Wild)?,
    })
}

fn id(u: &mut Unstructured<'_>) -> Result<u32> {
    if u.arbitrary::<u8>()?.is_multiple_of(4) { Ok(NO_SPHERE) } else { u.arbitrary() }
}

/// How results are written.
struct Plan {
    extension: &'static str,
    /// Rows per call of `write`.
    piece: usize,
    /// Whether a file of that name exists beforehand.
    replaces: bool,
}

impl Plan {
    fn check<T: AnswerRow>(
        &self,
        u: &mut Unstructured<'_>,
        row: impl Fn(&mut Unstructured<'_>) -> Result<T>,
    ) -> Result<()> {
        let mut rows = Vec::new();
        while !u.is_empty() {
            rows.push(row(u)?);
        }
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out").with_extension(self.extension);
        if self.replaces {
            fs::write(&path, "before").expect("it is short");
        }
        let mut writer = FileWriter::<[_]>::create(&path).expect("there is room");
        rows.chunks(self.piece).for_each(|rows| writer.write(rows).expect("there is room"));
        writer.finish(&CancelToken::new()).expect("there is room");
        assert_eq!(fs::read_dir(folder.path()).expect("it is there").count(), 1, "nothing but the file");
        let columns = match self.extension {
            "csv" => csv(&path),
            "npz" => npz(&path),
            _ => parquet(&path),
        };
        assert_eq!(columns.len(), T::COLUMNS.len());
        for ((name, number), (found_name, cells)) in T::COLUMNS.iter().zip(&columns) {
            assert_eq!((*name, rows.len()), (found_name.as_str(), cells.len()));
            for (row, cell) in rows.iter().zip(cells) {
                let (number, miss) = (number(row), row.is_miss());
                assert!(cell.holds(number, miss), "{name}: {number:?} came back as {cell:?}");
            }
        }
        Ok(())
    }
}

/// One cell of a file.
#[derive(Debug)]
enum Cell {
    Text(String),
    Raw(Vec<u8>),
    Typed(Field),
}

impl Cell {
    fn holds(&self, number: Number, miss: bool) -> bool {
        let blank = matches!(number, Number::Blank(_) | Number::BlankDouble(_) | Number::Id(NO_SPHERE));
        match (self, number) {
            (Self::Raw(raw), _) => *raw == raw_of(number),
            (Self::Text(text), _) if miss || blank => text.is_empty(),
            (Self::Text(text), Number::Float(x)) => {
                text.parse::<f32>().is_ok_and(|y| x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan()))
            }
            (Self::Text(text), Number::Double(x)) => text.parse::<f64>().is_ok_and(|y| x.to_bits() == y.to_bits()),
            (Self::Text(text), Number::Id(x) | Number::Count(x)) => text.parse() == Ok(x),
            (Self::Text(text), Number::Flag(x)) => text.parse() == Ok(x),
            (Self::Text(text), Number::Word(_, word)) => text == word,
            (Self::Typed(Field::Null), Number::Float(_) | Number::Id(_)) => miss || blank,
            (Self::Typed(Field::Null), _) => blank,
            (Self::Typed(Field::Float(y)), Number::Float(x)) => !miss && x.to_bits() == y.to_bits(),
            (Self::Typed(Field::Double(y)), Number::Double(x)) => x.to_bits() == y.to_bits(),
            (Self::Typed(Field::UInt(y)), Number::Id(x)) => !miss && x == *y,
            (Self::Typed(Field::UInt(y)), Number::Count(x)) => x == *y,
            (Self::Typed(Field::Bool(y)), Number::Flag(x)) => x == *y,
            (Self::Typed(Field::Str(y)), Number::Word(_, x)) => x == y,
            _ => false,
        }
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
        let width = (bytes.len() - start).checked_div(rows).unwrap_or(1);
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
