//! The page: each part in a few lines, and what the figures say.

use serde_json::Value;

use crate::variants::AGAIN;

/// Prints one part of the report.
pub(crate) fn print(key: &str, value: &Value) {
    println!("\n{}", key.replace('_', " "));
    match value {
        Value::Array(rows) => rows.iter().for_each(line),
        Value::Object(fields) if fields.contains_key("rows") => {
            value["rows"].as_array().into_iter().flatten().for_each(line)
        }
        one => line(one),
    }
}

/// The fields of a row, in the order of the report.
fn line(row: &Value) {
    let text = |value: &Value| match value {
        Value::Number(number) if number.is_f64() => {
            let number = number.as_f64().unwrap_or(f64::NAN);
            if number != 0.0 && !(1e-3..1e5).contains(&number.abs()) {
                format!("{number:.3e}")
            } else {
                format!("{number:.4}")
            }
        }
        Value::String(text) => text.clone(),
        Value::Array(values) => format!("{} values", values.len()),
        other => other.to_string(),
    };
    let fields = row.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    println!("  {}", fields.map(|(key, value)| format!("{key} {}", text(value))).collect::<Vec<_>>().join(", "));
}

/// What to change in the library for this GPU, and what is wrong.
pub(crate) fn advice(report: &Value) -> Vec<String> {
    let rows = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let number = |row: &Value, key: &str| row[key].as_f64();
    let mut lines = Vec::new();
    for refused in ["standard_refused", "all_refused"] {
        if let Some(why) = report["probe"][refused].as_str() {
            lines.push(format!("The probe: {refused}: {why}."));
        }
    }
    for row in rows(&report["answers"]) {
        let wrong = row["precision"] == "exact"
            && ["hits_wrong", "records_unlike_exact", "bytes_unlike_cpu"]
                .iter()
                .any(|key| row[*key].as_u64() > Some(0));
        if wrong {
            lines.push(format!("WRONG ANSWERS at exact: {row}."));
        }
    }
    let mut variants = rows(&report["variants"]["rows"]);
    variants.retain(|row| number(row, "words_changed").is_some_and(|share| share <= 1e-6));
    variants.sort_by(|a, b| number(b, "speed").unwrap_or(0.0).total_cmp(&number(a, "speed").unwrap_or(0.0)));
    let again = variants.iter().position(|row| row["variant"] == AGAIN).map(|at| variants.remove(at));
    let noise = again.and_then(|row| number(&row, "speed")).map_or(0.0, |speed| (speed - 1.0).abs());
    let least = 1.0 + (2.0 * noise).max(0.03);
    let gains: Vec<_> = variants.iter().filter(|row| number(row, "speed") > Some(least)).collect();
    for row in &gains {
        let gain = 100.0 * (number(row, "speed").unwrap_or(1.0) - 1.0);
        lines.push(format!("{}: {gain:.0} % faster, same results.", row["variant"].as_str().unwrap_or_default()));
    }
    if gains.is_empty() {
        let percent = 100.0 * (least - 1.0);
        lines.push(format!("No variant of the traversal is more than {percent:.0} % faster with the same results."));
    }
    let faster = |row: &&Value| number(row, "traversal_seconds") < number(row, "brute_force_seconds");
    match rows(&report["tree_from"]).iter().find(faster) {
        Some(row) => lines.push(format!("Traversal is faster than brute force from {} spheres on.", row["spheres"])),
        None => lines.push("Brute force is faster than traversal for up to 4,096 spheres.".into()),
    }
    for pair in rows(&report["builds"]).chunks(2) {
        let [cpu, gpu] = [&pair[0], &pair[1]].map(|row| number(row, "seconds").unwrap_or(f64::INFINITY));
        let (better, ratio) = if gpu < cpu { ("GPU", cpu / gpu) } else { ("CPU", gpu / cpu) };
        lines.push(format!("{} spheres: the {better} builds {ratio:.1} times as fast.", pair[0]["spheres"]));
    }
    for row in rows(&report["rates"]).iter().filter(|row| row["precision"] == "standard" && row["query"] == "closest") {
        if let (Some(kernel), Some(call)) = (number(row, "kernel_seconds"), number(row, "call_seconds")) {
            let rate = row["rays"].as_f64().unwrap_or(0.0) * 1e-6;
            lines.push(format!(
                "{}, closest at standard: {:.0} Mrays/s by the kernel, {:.0} by the whole call: the host and the transfers take {:.0} %.",
                row["scene"].as_str().unwrap_or_default(), rate / kernel, rate / call, 100.0 * (1.0 - kernel / call).max(0.0)
            ));
        }
    }
    lines
}
