//! Orbit Ephemeris Messages as XML (CCSDS 505.0-B-3): an `<oem>`, or an `<ndm>` with several of them, whose other messages are not read.

use std::borrow::Cow;

use roxmltree::{Document, Error as XmlError, Node};

use super::oem::{Message, NUMBERS};
use crate::error::Result;
use crate::escape::quoted;
use crate::schema::convert::RowLocation;

/// Units of position, velocity and acceleration.
const UNITS: [&str; 3] = ["km", "km/s", "km/s**2"];
/// What an `<ndm>` can have besides its comments. Only `<oem>` is read.
const OF_NDM: [&str; 11] = ["oem", "opm", "omm", "ocm", "aem", "apm", "acm", "cdm", "rdm", "tdm", "MESSAGE_ID"];
/// The most bytes of the parsed document per byte of the text: four for `<a/>`, whose node has 60 bytes.
const NODE_SHARE: u64 = 20;

/// Reads the states of a message.
pub(super) fn read(message: &mut Message<'_>, text: &str) -> Result<()> {
    umbracast::memory::check("an XML message", NODE_SHARE * text.len() as u64)?;
    let document = Document::parse(text).map_err(|error| {
        // Entities of a document type could fill the memory.
        if error == XmlError::DtdDetected {
            let before = text.split("<!DOCTYPE").next().unwrap_or("");
            let line = before.matches('\n').count() + 1;
            return message.bad(line, "a document type, <!DOCTYPE …>, is not read: remove it");
        }
        let why = format!("the XML is damaged, or the file is incomplete: {error}");
        message.bad(error.pos().row as usize, &why)
    })?;
    let mut reader = XmlReader { message, document: &document };
    let root = document.root_element();
    match root.tag_name().name() {
        "oem" => reader.oem(root),
        "ndm" => {
            let own = reader.children(root, &OF_NDM)?;
            let mut messages = own.into_iter().filter(|one| is(*one, "oem")).peekable();
            if messages.peek().is_none() {
                return Err(reader.message.bad(reader.line(root), "<ndm> has no <oem>, whose states are read"));
            }
            messages.try_for_each(|one| reader.oem(one))
        }
        other => {
            let why = format!("the root is <{}>: expected <oem>, or <ndm> with <oem> in it", quoted(other));
            Err(reader.message.bad(reader.line(root), &why))
        }
    }
}

struct XmlReader<'a, 'p> {
    message: &'a mut Message<'p>,
    document: &'a Document<'a>,
}

impl<'a> XmlReader<'a, '_> {
    fn line(&self, node: Node<'a, 'a>) -> usize {
        self.document.text_pos_at(node.range().start).row as usize
    }

    /// The elements of a node, which must have these names. Comments of the message are left out.
    fn children(&self, node: Node<'a, 'a>, names: &[&str]) -> Result<Vec<Node<'a, 'a>>> {
        let own: Vec<_> = node.children().filter(|one| one.is_element() && !is(*one, "COMMENT")).collect();
        match own.iter().find(|one| !names.contains(&one.tag_name().name())) {
            None => Ok(own),
            Some(other) => {
                let (name, parent) = (quoted(other.tag_name().name()), quoted(node.tag_name().name()));
                let expected =
                    if names.is_empty() { "no elements".into() } else { format!("<{}>", names.join(">, <")) };
                let why = format!("<{name}> is in <{parent}>: expected {expected}");
                Err(self.message.bad(self.line(*other), &why))
            }
        }
    }

    /// The text of an element that has no others.
    fn value(&self, node: Node<'a, 'a>) -> Result<Cow<'a, str>> {
        self.children(node, &[])?;
        let mut parts = node.children().filter(Node::is_text).filter_map(|one| one.text());
        let (first, rest) = (parts.next().unwrap_or(""), parts.collect::<String>());
        Ok(if rest.is_empty() { first.trim().into() } else { format!("{first}{rest}").trim().to_owned().into() })
    }

    fn oem(&mut self, oem: Node<'a, 'a>) -> Result<()> {
        self.message.check_version(self.line(oem), oem.attribute("version").unwrap_or(""))?;
        for body in self.children(oem, &["header", "body"])?.into_iter().filter(|one| is(*one, "body")) {
            for segment in self.children(body, &["segment"])? {
                self.segment(segment)?;
            }
        }
        Ok(())
    }

    fn segment(&mut self, segment: Node<'a, 'a>) -> Result<()> {
        self.message.begin_metadata();
        let parts = self.children(segment, &["metadata", "data"])?;
        for metadata in parts.iter().filter(|one| is(**one, "metadata")) {
            for one in metadata.children().filter(Node::is_element) {
                self.message.add(self.line(one), one.tag_name().name(), &self.value(one)?)?;
            }
        }
        self.message.begin_states(self.line(segment))?;
        for data in parts.into_iter().filter(|one| is(*one, "data")) {
            for one in self.children(data, &["stateVector", "covarianceMatrix"])? {
                if is(one, "stateVector") {
                    self.state(one)?;
                }
            }
        }
        Ok(())
    }

    fn state(&mut self, state: Node<'a, 'a>) -> Result<()> {
        let line = self.line(state);
        let (mut time, mut numbers) = (None, [None; NUMBERS.len()]);
        let names = [&["EPOCH"], &NUMBERS[..]].concat();
        for one in self.children(state, &names)? {
            let (name, at) = (one.tag_name().name(), self.line(one));
            let value = self.value(one)?;
            let is_again = match NUMBERS.iter().position(|known| *known == name) {
                None => time.replace(value).is_some(),
                Some(field) => {
                    let unit = UNITS[field / 3];
                    if let Some(other) = one.attribute("units").filter(|own| *own != unit) {
                        let why = format!("{name} has the units '{}': expected {unit}", quoted(other));
                        return Err(self.message.bad(at, &why));
                    }
                    numbers[field].replace(self.message.number(at, name, &value)?).is_some()
                }
            };
            if is_again {
                return Err(self.message.bad(at, &format!("{name} is given twice in a <stateVector>")));
            }
        }
        let missing = |name: &str| self.message.bad(line, &format!("{name} is missing in the <stateVector>"));
        let time = time.ok_or_else(|| missing("EPOCH"))?;
        if let Some(field) = numbers[..6].iter().position(Option::is_none) {
            return Err(missing(NUMBERS[field]));
        }
        let place = RowLocation::Byte(state.range().start as u64);
        self.message.add_state(line, &time, numbers.map(Option::unwrap_or_default), place)
    }
}

fn is(node: Node<'_, '_>, name: &str) -> bool {
    node.tag_name().name() == name
}
