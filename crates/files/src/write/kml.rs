//! KML 2.2 (OGC 07-147r2) of an eclipse: the centre line, the limits of the path, instants along it, and the greatest eclipse.

use super::geojson::PathLine;
use crate::escape::xml;

/// The colour of a line, as KML has it: opacity, blue, green, red.
const COLORS: [(&str, &str); 3] =
    [("centre line", "ff0000ff"), ("northern limit", "ffff9000"), ("southern limit", "ffff9000")];

/// A KML file of a solar eclipse.
#[derive(Clone, Copy, Debug)]
pub struct Kml<'a> {
    /// The eclipse and its date.
    pub name: &'a str,
    /// The greatest eclipse and the conventions, in lines of text.
    pub about: &'a [String],
    /// The centre line and the limits.
    pub lines: &'a [PathLine],
    /// Longitude and latitude in degrees of instants along the centre line, and their labels.
    pub marks: &'a [([f64; 2], String)],
    /// The time scale of the labels: `UTC` or `UT1`.
    pub scale: &'a str,
    /// Longitude and latitude of the greatest eclipse in degrees.
    pub greatest: [f64; 2],
}

impl Kml<'_> {
    /// The text of the file.
    pub fn text(&self) -> String {
        let mut text = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<kml xmlns=\"http://www.opengis.net/kml/2.2\">\n<Document>\n<name>{}</name>\n<description>{}</description>\n",
            xml(self.name),
            xml(&self.about.join("\n"))
        );
        // A partial eclipse has no path.
        let lines = || self.lines.iter().filter(|line| !line.parts.is_empty());
        for (name, color) in COLORS.into_iter().filter(|(name, _)| lines().any(|line| line.name == *name)) {
            let id = name.replace(' ', "-");
            text +=
                &format!("<Style id=\"{id}\"><LineStyle><color>{color}</color><width>2</width></LineStyle></Style>\n");
        }
        for line in lines() {
            text += &format!(
                "<Placemark><name>{}</name><styleUrl>#{}</styleUrl><MultiGeometry>\n",
                line.name,
                line.name.replace(' ', "-")
            );
            for part in &line.parts {
                text += "<LineString><tessellate>1</tessellate><coordinates>\n";
                text.extend(part.iter().map(|(point, _)| coordinates(*point)));
                text += "</coordinates></LineString>\n";
            }
            text += "</MultiGeometry></Placemark>\n";
        }
        let marks = self.marks.iter().map(|(point, label)| (format!("{label} {}", self.scale), *point));
        for (name, point) in marks.chain([("greatest eclipse".into(), self.greatest)]) {
            text += &format!(
                "<Placemark><name>{}</name><Point><coordinates>\n{}</coordinates></Point></Placemark>\n",
                xml(&name),
                coordinates(point)
            );
        }
        text + "</Document>\n</kml>\n"
    }
}

/// A line of coordinates: longitude, latitude.
fn coordinates(point: [f64; 2]) -> String {
    let [longitude, latitude] = super::geojson::rounded(point);
    format!("{longitude},{latitude}\n")
}
