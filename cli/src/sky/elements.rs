//! `umbracast eclipse --elements`: Besselian elements of solar eclipses.

use std::path::Path;

use crate::error::{Error, Result};
use umbracast_sky::{BesselianElementsRecord, Conventions, Record, Sky, SolarEclipse};

use super::date_text;
use super::table_file::RecordArgs;

/// Prints the elements of eclipses, or writes them to `output`.
pub(super) fn run(sky: &Sky, eclipses: &[SolarEclipse], args: &RecordArgs, output: Option<&Path>) -> Result<()> {
    let output = args.check(output, &["csv", "json"], &[])?;
    let [Some(earliest), Some(latest)] = [eclipses.first(), eclipses.last()] else {
        return Err(Error::NoEclipse("there is no solar eclipse in these years".into()));
    };
    let elements: Vec<BesselianElementsRecord> = eclipses.iter().map(SolarEclipse::besselian_elements_record).collect();
    let records: Vec<Box<dyn Record>> =
        elements.iter().map(|one| -> Box<dyn Record> { Box::new(one.clone()) }).collect();
    let conventions = Conventions::of_list(sky, earliest.greatest.time, latest.greatest.time, false);
    args.write_list(output, ("elements", &records), conventions, || {
        let blocks = eclipses.iter().zip(&elements).map(|(eclipse, one)| block(sky, eclipse, one));
        blocks.collect::<Vec<_>>().join("\n")
    })
}

/// The elements of an eclipse as the canons print them: a row per power of t.
fn block(sky: &Sky, eclipse: &SolarEclipse, of: &BesselianElementsRecord) -> String {
    let mut text = format!(
        "Besselian elements of the {} solar eclipse of {}\nT0 = {} TT, t = hours since T0\n n {:>11} {:>11} {:>12} {:>11} {:>11} {:>12}\n",
        of.kind.name(),
        date_text(sky, eclipse.greatest.time),
        of.t0_tt.replace('T', " "),
        "x",
        "y",
        "d",
        "l1",
        "l2",
        "mu"
    );
    for n in 0..of.x.len() {
        let short =
            |list: &[f64], width: usize| list.get(n).map_or(String::new(), |value| format!(" {value:width$.7}"));
        text += &format!("{n:>2}{}{}", short(&of.x, 11), short(&of.y, 11));
        text +=
            &[(&of.d, 12), (&of.l1, 11), (&of.l2, 11), (&of.mu, 12)].map(|(list, width)| short(list, width)).concat();
        text.push('\n');
    }
    text + &format!(
        "tan f1 {:.7}, tan f2 {:.7}\ngreatest eclipse {}, delta T {:.2} s\n",
        of.tan_f1, of.tan_f2, of.greatest, of.delta_t_s
    )
}
