//! The number of cases of random and exhaustive tests, including the library's unit tests: `UMBRACAST_INTENSITY`.

#![allow(unreachable_pub, missing_docs, reason = "the crate of the tests exports it")]

use std::sync::OnceLock;

/// The factor on the default number of cases: `UMBRACAST_INTENSITY`, a positive number, or 1 if it is not set. It is read once.
///
/// # Panics
/// If the variable is set and is not a positive number.
pub fn intensity() -> f64 {
    static INTENSITY: OnceLock<f64> = OnceLock::new();
    *INTENSITY.get_or_init(|| {
        let Some(value) = std::env::var_os("UMBRACAST_INTENSITY") else { return 1.0 };
        let number = value.to_str().and_then(|text| text.parse::<f64>().ok());
        let usable = number.filter(|number| number.is_finite() && *number > 0.0);
        usable.unwrap_or_else(|| {
            panic!("UMBRACAST_INTENSITY is {value:?}: it must be a positive number such as 0.5 or 100")
        })
    })
}

/// `count` times the intensity, rounded; at least 1.
pub fn scaled(count: usize) -> usize {
    ((count as f64 * intensity()).round() as usize).max(1)
}
