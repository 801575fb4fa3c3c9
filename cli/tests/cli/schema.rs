//! What `--json` prints, and the headers of CSV, agree with the JSON Schema files in `docs/schema`.

use std::collections::BTreeSet;

use serde_json::Value;
use umbracast_testing::folder::Folder;

/// The schema with this name.
pub(super) fn schema(name: &str) -> Value {
    let path =
        umbracast_testing::root().join("docs/schema").join(name.trim_end_matches(".json")).with_extension("json");
    serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap()
}

/// The keys of the objects of a schema.
fn keys(name: &str) -> BTreeSet<String> {
    schema(name)["properties"].as_object().unwrap().keys().cloned().collect()
}

/// Why a value does not agree with a schema. Of JSON Schema it knows what our files use; an unknown keyword is an error, too.
pub(super) fn disagreement(schema: &Value, value: &Value) -> Option<String> {
    let fits = |kind: &Value| match kind.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("the type {other}"),
    };
    for (keyword, rule) in schema.as_object().unwrap() {
        let why = match keyword.as_str() {
            "$schema" | "$id" | "title" | "description" | "pattern" | "dtype" => None,
            "type" if rule.is_string() => (!fits(rule)).then(|| format!("{value} is no {rule}")),
            "type" => (!rule.as_array().unwrap().iter().any(fits)).then(|| format!("{value} is none of {rule}")),
            "enum" => (!rule.as_array().unwrap().contains(value)).then(|| format!("{value} is none of {rule}")),
            "const" => (rule != value).then(|| format!("{value} is not {rule}")),
            "$ref" => disagreement(&self::schema(rule.as_str().unwrap()), value),
            "anyOf" | "oneOf" => {
                let all: Vec<_> = rule.as_array().unwrap().iter().map(|one| disagreement(one, value)).collect();
                all.iter().all(Option::is_some).then(|| format!("{all:?}"))
            }
            "minimum" => {
                value.as_f64().zip(rule.as_f64()).filter(|(x, least)| x < least).map(|_| format!("{value} < {rule}"))
            }
            "minItems" => {
                value.as_array().filter(|all| (all.len() as u64) < rule.as_u64().unwrap()).map(|_| "too few".into())
            }
            "maxItems" => {
                value.as_array().filter(|all| all.len() as u64 > rule.as_u64().unwrap()).map(|_| "too many".into())
            }
            "items" => value.as_array().into_iter().flatten().find_map(|item| disagreement(rule, item)),
            "properties" => value.as_object().into_iter().flatten().find_map(|(key, own)| {
                rule.get(key).and_then(|rule| disagreement(rule, own)).map(|why| format!("{key}: {why}"))
            }),
            "required" if !value.is_object() => None,
            "required" => {
                let missing = rule.as_array().unwrap().iter().find(|key| value.get(key.as_str().unwrap()).is_none());
                missing.map(|key| format!("{key} is missing"))
            }
            "additionalProperties" => {
                let known = schema["properties"].as_object().unwrap();
                let unknown = value.as_object().into_iter().flatten().find(|(key, _)| !known.contains_key(*key));
                unknown.map(|(key, _)| format!("{key} is not in the schema"))
            }
            other => panic!("the keyword {other}"),
        };
        if why.is_some() {
            return why;
        }
    }
    None
}

#[test]
fn json_and_csv_of_the_sky_are_those_of_the_schemas() {
    let folder = Folder::new();
    folder.write("p.csv", "name,lat,lon\nDallas,32.7767,-96.797\n,-60,0\n");
    for (command, name) in [
        ("eclipse 2024-04-08 --json", "output-eclipse"),
        ("eclipse 2025-03-29 --json", "output-eclipse"),
        ("eclipse 1919-05-29 --radii nasa --sun-radius 959.95 --json", "output-eclipse"),
        ("eclipse 2025-03-14 --json", "output-eclipse"),
        ("eclipse 2024-03-25 -o - --format json", "output-eclipse"),
        ("eclipse 2024-04-08 --size 24x18 -o p.png --json", "output-eclipse"),
        ("eclipse --list 2024..2025 --json", "output-eclipse-list"),
        ("eclipse 2024-04-08 --elements --json", "output-elements"),
        ("eclipse --list 2024 --elements -o - --format json", "output-elements"),
        ("eclipse 2012-06-06 --json", "output-eclipse"),
        ("eclipse --list 1930..1940 --only transits --json", "output-transit-list"),
        ("circumstances 2012-06-06 --places p.csv --json", "output-circumstances"),
        ("circumstances 1937-05-11 --places p.csv --json", "output-circumstances"),
        ("circumstances 2024-04-08 --places p.csv --json", "output-circumstances"),
        ("circumstances 2025-09-07 --places p.csv --json", "output-circumstances"),
        ("circumstances 2024-03-25 --places p.csv --lunar-rule plus88 --json", "output-circumstances"),
        ("circumstances 2024-04-08 --places p.csv --json -o seen.csv", "output-table"),
        ("eclipse --list 2024..2025 --json -o list.json", "output-table"),
        ("map 2024-04-08 --size 40x20 --json", "output-map"),
        (
            "map 2024-04-08 --time 18:17 --size 40x20 -o m.png --npy m.npy --geojson g.geojson --kml g.kml --json",
            "output-map",
        ),
        ("system 2024-04-08 --places p.csv --observers o.csv -o s.toml --json", "output-system"),
    ] {
        let value = serde_json::from_str(&folder.run_ok(command).output).unwrap();
        assert_eq!(disagreement(&schema(name), &value), None, "{command}");
    }
    for (command, names) in [
        ("eclipse 2024-04-08 -o -", vec!["solar-eclipse"]),
        ("eclipse --list 2024 --elements -o -", vec!["besselian-elements"]),
        ("eclipse 2025-03-14 -o -", vec!["lunar-eclipse"]),
        ("eclipse --list 2024 --only lunar -o -", vec!["lunar-eclipse"]),
        ("eclipse --list 2024 -o -", vec!["solar-eclipse", "lunar-eclipse"]),
        ("circumstances 2024-04-08 --places p.csv -o -", vec!["circumstances"]),
        ("circumstances 2025-09-07 --places p.csv -o -", vec!["lunar-circumstances"]),
        ("eclipse --list 2012 --only transits -o -", vec!["transit"]),
        ("circumstances 2012-06-06 --places p.csv -o -", vec!["transit-circumstances"]),
    ] {
        let header: Vec<String> =
            folder.run_ok(command).output.lines().next().unwrap().split(',').map(String::from).collect();
        let expected: BTreeSet<String> = names.into_iter().flat_map(keys).collect();
        assert_eq!(BTreeSet::from_iter(header.iter().cloned()), expected, "{command}");
        assert_eq!(header.len(), expected.len(), "{command}");
    }
    // Points of the path in GeoJSON.
    let lines: Value = serde_json::from_str(&folder.text("g.geojson")).unwrap();
    let is_path = |one: &&Value| one["properties"]["name"] == "centre line" && one["geometry"]["type"] == "Point";
    let mut point = lines["features"].as_array().unwrap().iter().find(is_path).unwrap()["properties"].clone();
    point.as_object_mut().unwrap().remove("name");
    assert_eq!(disagreement(&schema("path-point"), &point), None);
}
