//! The elements of an SVG file: the display list of a plot or a map.

use std::collections::HashMap;

use umbracast_testing::folder::Folder;

/// An element without children: its name, attributes and text.
#[derive(Clone, Debug)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) attributes: HashMap<String, String>,
    pub(super) text: String,
}

/// The size and the elements of a picture. Every element must be closed.
pub(super) fn read(folder: &Folder, name: &str) -> ([f64; 2], Vec<Element>) {
    let text = folder.text(name);
    let (mut elements, mut open) = (Vec::<Element>::new(), Vec::new());
    for part in text.split('<').skip(1) {
        let (tag, rest) = part.split_once('>').expect("a tag ends");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "{tag}");
            continue;
        }
        let is_closed = tag.ends_with('/');
        let (name, mut tail) = tag.trim_end_matches('/').split_once(' ').unwrap_or((tag, ""));
        let mut attributes = HashMap::new();
        while let Some((key, value)) = tail.split_once("=\"") {
            let (value, after) = value.split_once('"').expect("a value ends");
            attributes.insert(key.trim().to_string(), value.to_string());
            tail = after;
        }
        if !is_closed {
            open.push(name.to_string());
        }
        elements.push(Element { name: name.into(), attributes, text: rest.trim_end().into() });
    }
    assert!(open.is_empty(), "{open:?}");
    let root = elements.remove(0);
    ([root.number("width"), root.number("height")], elements)
}

/// The elements of a class.
pub(super) fn of<'a>(elements: &'a [Element], class: &str) -> Vec<&'a Element> {
    elements.iter().filter(|element| element.attributes.get("class").is_some_and(|own| own == class)).collect()
}

impl Element {
    pub(super) fn number(&self, key: &str) -> f64 {
        self.attributes.get(key).and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("{key} of {self:?}"))
    }

    /// The centre of a dot.
    pub(super) fn center(&self) -> [f64; 2] {
        [self.number("cx"), self.number("cy")]
    }

    /// The lines of a path.
    pub(super) fn lines(&self) -> Vec<Vec<[f64; 2]>> {
        let point = |text: &str| {
            let (x, y) = text.trim_end_matches('Z').split_once(',').expect("a pair");
            [x.parse().expect("x"), y.parse().expect("y")]
        };
        self.attributes["d"].split('M').skip(1).map(|line| line.split_whitespace().map(point).collect()).collect()
    }

    /// Left, upper, right and lower edge: of a text, from the top of its capitals to its base line.
    pub(super) fn bounds(&self) -> [f64; 4] {
        match self.name.as_str() {
            "text" => {
                let (x, y, size) = (self.number("x"), self.number("y"), self.number("font-size"));
                [x, y - 0.73 * size, x + self.number("textLength"), y]
            }
            "circle" => {
                let ([x, y], r) = (self.center(), self.number("r"));
                [x - r, y - r, x + r, y + r]
            }
            "image" => {
                let (x, y) = (self.number("x"), self.number("y"));
                [x, y, x + self.number("width"), y + self.number("height")]
            }
            "path" => {
                let none = [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY];
                let points = self.lines().concat();
                points.iter().fold(none, |[a, b, c, d], [x, y]| [a.min(*x), b.min(*y), c.max(*x), d.max(*y)])
            }
            other => panic!("{other} has no bounds"),
        }
    }
}

/// Checks that nothing leaves the picture, and that no two texts overlap.
pub(super) fn check(folder: &Folder, name: &str) -> Vec<Element> {
    let ([width, height], elements) = read(folder, name);
    let drawn: Vec<&Element> = elements
        .iter()
        .filter(|element| ["text", "circle", "image", "path"].contains(&element.name.as_str()))
        .collect();
    for element in &drawn {
        let [left, top, right, bottom] = element.bounds();
        let is_inside = left >= 0.0 && top >= 0.0 && right <= width && bottom <= height;
        assert!(is_inside, "{name}: {element:?} leaves {width} x {height}");
    }
    let texts: Vec<&&Element> = drawn.iter().filter(|element| element.name == "text").collect();
    assert!(texts.len() > 3, "{name}: {} texts", texts.len());
    for (i, one) in texts.iter().enumerate() {
        for other in &texts[..i] {
            let ([a, b, c, d], [e, f, g, h]) = (one.bounds(), other.bounds());
            let overlaps = a < g && e < c && b < h && f < d;
            assert!(!overlaps, "{name}: '{}' and '{}' overlap", one.text, other.text);
        }
    }
    elements
}
