//! JSON Schema files of the records, and of the objects that `--json` prints, in `docs/schema`. They are made from the fields of the records.
//!
//! `UMBRACAST_BLESS=1 cargo test --release -p umbracast-sky schema` writes them.

use serde_json::{Value, json};
use umbracast_sky::{
    BesselianElementsRecord, CircumstancesRecord, Conventions, Field, FieldKind, LunarCircumstancesRecord,
    LunarEclipseRecord, PathPointRecord, SolarEclipseRecord, TransitCircumstancesRecord, TransitRecord,
};
use umbracast_testing::check_kept;

/// An object that has all of these keys and no others.
fn object(name: &str, about: &str, properties: Vec<(&str, Value)>) -> (String, Value) {
    let required: Vec<&str> = properties.iter().map(|(key, _)| *key).collect();
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": format!("{name}.json"),
        "description": about,
        "type": "object",
        "required": required,
        "additionalProperties": false,
        "properties": properties.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<serde_json::Map<_, _>>(),
    });
    (name.to_owned(), schema)
}

fn record(name: &str, about: &str, fields: &'static [Field]) -> (String, Value) {
    let property = |field: &'static Field| {
        let kind = match field.kind {
            FieldKind::Number => "number",
            FieldKind::Integer => "integer",
            _ => "string",
        };
        let mut value = json!({ "type": kind, "description": field.about });
        if let FieldKind::OneOf(names) = field.kind {
            value["enum"] = json!(names);
        }
        if field.kind == FieldKind::Time {
            value["pattern"] = json!(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d\d(Z| UT1|( UT1)?[+-]\d\d:\d\d(:\d\d)?)$");
        }
        if field.optional {
            value["type"] = json!([kind, "null"]);
            if let Some(names) = value.get_mut("enum").and_then(Value::as_array_mut) {
                names.push(Value::Null);
            }
        }
        (field.name, value)
    };
    object(name, about, fields.iter().map(property).collect())
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("{name}.json") })
}

#[test]
fn schemas_are_those_of_the_records() {
    let eclipse = json!({ "anyOf": [reference("solar-eclipse"), reference("lunar-eclipse")] });
    let event = json!({ "anyOf": [reference("solar-eclipse"), reference("lunar-eclipse"), reference("transit")] });
    let seen = json!({ "anyOf": [reference("circumstances"), reference("lunar-circumstances"), reference("transit-circumstances")] });
    let list = |items: Value| json!({ "type": "array", "items": items });
    let [text, path, count] =
        [json!({ "type": "string" }), json!({ "type": ["string", "null"] }), json!({ "type": "integer" })];
    let conventions = || ("conventions", reference("conventions"));
    let schemas = [
        record("solar-eclipse", "A solar eclipse.", SolarEclipseRecord::fields()),
        record("lunar-eclipse", "A lunar eclipse.", LunarEclipseRecord::fields()),
        record("circumstances", "Local circumstances of a solar eclipse.", CircumstancesRecord::fields()),
        record("lunar-circumstances", "What a place sees of a lunar eclipse.", LunarCircumstancesRecord::fields()),
        record("transit", "A transit of Mercury or Venus.", TransitRecord::fields()),
        record(
            "transit-circumstances",
            "What a place sees of a transit of Mercury or Venus.",
            TransitCircumstancesRecord::fields(),
        ),
        record("besselian-elements", "Besselian elements of a solar eclipse.", BesselianElementsRecord::fields()),
        record("path-point", "The path of a total or annular eclipse at one instant.", PathPointRecord::fields()),
        record("conventions", "The conventions of a result.", Conventions::fields()),
        object("output-eclipse", "`eclipse DATE --json`", vec![("eclipse", event.clone()), conventions()]),
        object(
            "output-eclipse-list",
            "`eclipse --list --json`",
            vec![("eclipses", list(eclipse.clone())), conventions()],
        ),
        object(
            "output-transit-list",
            "`eclipse --list --only transits --json`",
            vec![("transits", list(reference("transit"))), conventions()],
        ),
        object(
            "output-elements",
            "`eclipse DATE --elements --json` and `eclipse --list --elements --json`",
            vec![("elements", list(reference("besselian-elements"))), conventions()],
        ),
        object(
            "output-circumstances",
            "`circumstances --json`",
            vec![("eclipse", event), ("places", list(seen)), conventions()],
        ),
        object(
            "output-table",
            "`eclipse` and `circumstances` with `-o FILE --json`",
            vec![("rows", count.clone()), ("output", text.clone()), conventions()],
        ),
        object(
            "output-map",
            "`map --json`",
            vec![
                ("eclipse", reference("solar-eclipse")),
                ("instant", path.clone()),
                conventions(),
                ("width", count.clone()),
                ("height", count),
                ("largest_obscuration", json!({ "type": "number" })),
                ("seconds", json!({ "type": "number" })),
                ("output", text.clone()),
                ("npy", path.clone()),
                ("geojson", path.clone()),
                ("kml", path),
            ],
        ),
        object(
            "output-system",
            "`system --json`",
            vec![
                ("instant", text.clone()),
                ("bodies", list(text.clone())),
                ("interpolation_error_km", list(json!({ "type": ["number", "null"] }))),
                ("output", text),
                ("observers", json!({ "type": ["integer", "null"] })),
                conventions(),
            ],
        ),
    ];
    let folder = umbracast_testing::root().join("docs/schema");
    for (name, schema) in schemas {
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        check_kept(&folder.join(format!("{name}.json")), &text);
    }
}

/// A name says the unit of every number that has one.
#[test]
fn names_have_units() {
    let plain = [
        "gamma",
        "magnitude",
        "obscuration",
        "umbral_magnitude",
        "penumbral_magnitude",
        "visible_magnitude",
        "visible_obscuration",
    ];
    let fields = [
        SolarEclipseRecord::fields(),
        LunarEclipseRecord::fields(),
        CircumstancesRecord::fields(),
        LunarCircumstancesRecord::fields(),
        PathPointRecord::fields(),
        BesselianElementsRecord::fields(),
        TransitRecord::fields(),
        TransitCircumstancesRecord::fields(),
        Conventions::fields(),
    ];
    for field in fields.concat().iter().filter(|field| field.kind == FieldKind::Number) {
        let unit = field.name.rsplit('_').next().unwrap();
        // The canons have names of their own for the coefficients of polynomials; the descriptions have the units.
        let is_coefficient = field.name.ends_with(|c: char| c.is_ascii_digit());
        assert!(
            plain.contains(&field.name) || is_coefficient || ["deg", "arcsec", "s", "km", "m", "tt"].contains(&unit),
            "{}",
            field.name
        );
        assert!(!field.about.is_empty(), "{}", field.name);
    }
}
