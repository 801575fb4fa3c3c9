//! Fuzz target for numbers in text. They are rounded once.

use crate::io::read::csv::number as read;

/// `number`: tests the input as a cell of text, and the exact midpoints between adjacent f32, where double rounding would show.
pub fn number(data: &[u8]) {
    check(&String::from_utf8_lossy(data));
    for bits in data.as_chunks::<4>().0.iter().take(8) {
        let low = f32::from_bits(u32::from_le_bytes(*bits));
        let middle = 0.5 * f64::from(low) + 0.5 * f64::from(low.next_up());
        if !middle.is_finite() {
            continue;
        }
        // All digits of the midpoint.
        let text = format!("{middle:.170e}");
        let (digits, exponent) = text.split_once('e').expect("it was asked for");
        check(&text);
        check(&format!("{digits}00001e{exponent}"));
        check(&format!("{:e}", middle.next_down()));
        check(&format!("{low:?}"));
    }
}

fn check(text: &str) {
    let text = text.trim();
    let found = read(text);
    if text.is_empty() {
        assert!(found.is_some_and(|number| number.wide.is_nan() && number.narrow.is_nan()), "an empty cell");
        return;
    }
    // The exponent may begin as in Fortran or in Mathematica.
    let exponent = ["*^", "d", "D"].into_iter().find(|start| text.contains(start)).unwrap_or("e");
    let plain = if text.parse::<f64>().is_ok() { text.into() } else { text.replacen(exponent, "e", 1) };
    let (wide, narrow) = (plain.parse::<f64>(), plain.parse::<f32>());
    let Some(found) = found else {
        assert!(wide.is_err(), "'{text}' was refused");
        return;
    };
    let (Ok(wide), Ok(narrow)) = (wide, narrow) else { panic!("'{text}' was taken for {}", found.wide) };
    assert!(same(f64::from(found.narrow), narrow.into()), "'{text}': {} instead of {narrow}", found.narrow);
    let digits = text.contains(|c: char| c.is_ascii_digit());
    if digits && wide.is_infinite() {
        assert!(found.wide.is_finite() && found.wide.signum() == wide.signum(), "'{text}' is no infinity");
    } else {
        assert!(same(found.wide, wide), "'{text}': {} instead of {wide}", found.wide);
    }
}

/// Whether both are the same number, including the sign of zeros, or both are NaN.
fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}
