//! Fuzz targets: functions of arbitrary bytes that panic if a promise of the library is broken. `README.md` lists what each one checks.

mod answers;
mod casts;
mod ricochet;
mod tables;
mod texts;

use std::sync::LazyLock;

use arbitrary::{Result, Unstructured};
use umbracast::glam::Vec3;
use umbracast::{Device, DeviceOptions};

/// Distribution of the numbers of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// Small multiples of powers of two, one byte each: equal numbers, tangents and starts on surfaces are frequent.
    Lattice,
    /// Numbers between -16 and 16, two bytes each.
    Tame,
    /// Any finite f32, four bytes each.
    Wild,
}

/// The CPU engine: no target uses a GPU.
fn cpu() -> &'static Device {
    static CPU: LazyLock<Device> = LazyLock::new(|| Device::open(&DeviceOptions::new("cpu")).expect("it always opens"));
    &CPU
}

/// A finite number.
fn number(u: &mut Unstructured<'_>, style: Style) -> Result<f32> {
    Ok(match style {
        Style::Lattice => {
            let byte: u8 = u.arbitrary()?;
            (f32::from(byte >> 2) - 32.0) * [0.25, 0.5, 1.0, 2.0][usize::from(byte & 3)]
        }
        Style::Tame => f32::from(u.arbitrary::<i16>()?) / 2048.0,
        Style::Wild => Some(u.arbitrary()?).filter(|number: &f32| number.is_finite()).unwrap_or(0.0),
    })
}

fn vector(u: &mut Unstructured<'_>, style: Style) -> Result<Vec3> {
    Ok(Vec3::new(number(u, style)?, number(u, style)?, number(u, style)?))
}

/// A number below `end`.
fn below(u: &mut Unstructured<'_>, end: usize) -> Result<usize> {
    u.int_in_range(0..=end - 1)
}

macro_rules! targets {
    ($($module:ident::$name:ident: $cases:expr,)*) => {
        /// Runs the target `name` on an input.
        ///
        /// # Panics
        /// If there is no target of that name, or if a promise is broken.
        pub fn run(name: &str, data: &[u8]) {
            let done = match name {
                $(stringify!($name) => $module::$name(&mut Unstructured::new(data)),)*
                _ => panic!("no target '{name}': there are {}", [$(stringify!($name)),*].join(", ")),
            };
            done.expect("an input that ends early is continued with zeros");
        }

        #[cfg(test)]
        mod tests {
            $(
                #[test]
                fn $name() {
                    crate::corpus::check(stringify!($name), $cases);
                }
            )*
        }
    };
}

targets! {
    answers::answers: 200,
    casts::casts: 2_000,
    texts::ephemeris: 2_000,
    ricochet::ricochet: 5_000,
    tables::npy: 1_500,
    tables::number: 3_000,
    tables::parquet: 1_500,
    tables::sources: 800,
    texts::messages: 800,
    texts::systems: 5_000,
    tables::trajectories: 1_500,
}

#[cfg(test)]
mod corpus;
