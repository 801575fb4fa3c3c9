//! Visible fractions of lights, eclipses, and rendered pictures.

mod batches;
mod coverage;
mod eclipse;
mod extremes;
pub(crate) mod fallbacks;
mod fraction;
mod large_pictures;
mod limb_darkening;
mod pictures;
mod rows;
mod shadows;
mod spheroids;
mod surfaces;

/// The word of the kind of shadow that a reference table calls as the eclipse that an observer sees.
fn kind_word(eclipse: &str) -> &'static str {
    match eclipse {
        "none" | "behind" => "lit",
        "partial" => "penumbra",
        "annular" => "antumbra",
        "total" => "umbra",
        other => panic!("the kind {other}"),
    }
}
