//! JSON Schemas of what `--json` prints and of the columns of results, in `docs/schema`.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};
use umbracast::shadow::{Shadow, ShadowFlux, ShadowKind};
use umbracast::{Containment, LegStatus};
use umbracast_files::{AnswerRow, Column, Number};

use crate::describe::{self, With};

/// The schema of a summary. It has no other keys than those of the record, and all of them.
fn summary<T: JsonSchema>(name: &str) -> (String, Value) {
    let mut schema = SchemaSettings::draft2020_12()
        .for_serialize()
        .with(|settings| settings.inline_subschemas = true)
        .into_generator()
        .into_root_schema_for::<T>();
    RecursiveTransform(|schema: &mut Schema| {
        if schema.get("properties").is_some() {
            schema.insert("additionalProperties".into(), false.into());
        }
        // They are Rust's names of number types, which no other program knows.
        schema.remove("format");
    })
    .transform(&mut schema);
    schema.insert("title".into(), format!("umbracast {name} --json").into());
    (format!("output-{}", name.replace(' ', "-")), schema.to_value())
}

/// The columns of a table: names in the order of the columns, types, and types in arrays.
pub(crate) fn table<T: AnswerRow>(columns: &[Column<T>]) -> Value {
    let column = |(name, number): &Column<T>| {
        let words: Vec<&str> = match *name {
            "status" => LegStatus::ALL.map(LegStatus::word).to_vec(),
            "kind" => ShadowKind::ALL.map(ShadowKind::word).to_vec(),
            "body" => crate::sunlight::BODIES.to_vec(),
            _ => Vec::new(),
        };
        let (kind, dtype) = match number(&T::MISS) {
            Number::Float(_) | Number::Blank(_) => ("number", "f4"),
            Number::Double(_) | Number::BlankDouble(_) => ("number", "f8"),
            Number::Id(_) => ("integer", "u4"),
            Number::Count(_) => ("integer", "u4"),
            Number::Offset(_) => ("integer", "u8"),
            Number::Flag(_) => ("boolean", "b1"),
            Number::Word(..) => ("string", "u1"),
        };
        let mut about = json!({"type": kind, "dtype": dtype});
        if !words.is_empty() {
            about["enum"] = json!(words);
        }
        ((*name).to_owned(), about)
    };
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let properties: serde_json::Map<String, Value> = columns.iter().map(column).collect();
    json!({"type": "object", "properties": properties, "required": names, "additionalProperties": false})
}

/// The columns of every table. `required` has their order; `dtype` is the type in `.npz` and `.npy`.
fn tables() -> Value {
    let with = [With::Point, With::Normal, With::Incidence, With::Distance, With::Pose, With::Ring, With::Azimuth];
    let tables: serde_json::Map<String, Value> = [
        ("closest with all", table(&describe::columns(&with, false, false))),
        ("contains", table(Containment::COLUMNS)),
        ("bullets", table(&crate::bullets::columns(false, false))),
        ("bullets with bounces", table(&crate::bullets::columns(true, false))),
        ("shadow", table(Shadow::COLUMNS)),
        ("shadow with flux", table(ShadowFlux::COLUMNS)),
        ("sunlight", table(crate::sunlight::SunlightRow::COLUMNS)),
        ("sunlight events", table(crate::sunlight::EventRow::COLUMNS)),
    ]
    .into_iter()
    .chain(crate::cast_query::tables())
    .map(|(name, table)| (name.to_owned(), table))
    .collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "columns of results",
        "description": "A row of each table. A cell without a value is empty in text, null in .parquet.",
        "$defs": tables,
    })
}

#[test]
fn schemas_are_those_of_the_records() {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/schema"));
    if !folder.parent().is_some_and(Path::exists) {
        // Written directly to stderr, which the test harness does not capture.
        let _ =
            writeln!(std::io::stderr(), "NOT TESTED: schemas, because docs/schema is not in the archive of the crate");
        return;
    }
    let schemas = [
        summary::<crate::summary::CastSummary<'_>>("cast"),
        summary::<crate::single::SingleSummary>("cast one"),
        summary::<crate::flight_summary::FlightSummary<'_>>("bullets"),
        summary::<crate::bullet::BulletSummary>("bullets one"),
        summary::<crate::contains::PointSummary<'_>>("contains"),
        summary::<crate::shadow::ShadowSummary<'_>>("shadow"),
        summary::<crate::sunlight::SunlightSummary<'_>>("sunlight"),
        summary::<crate::render::PictureSummary<'_>>("render"),
        summary::<crate::bench::scenes::Table<'_>>("bench scenes"),
        summary::<crate::bench::small::Table>("bench small"),
        ("columns".into(), tables()),
    ];
    for (name, schema) in schemas {
        umbracast_testing::check_kept(&folder.join(format!("{name}.json")), &format!("{schema:#}\n"));
    }
}
