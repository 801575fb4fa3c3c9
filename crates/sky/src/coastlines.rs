//! The coastlines of the Earth, from Natural Earth (public domain, 1:50 million): `tools/make_land.py` writes `land.bin` and has its
//! format.

/// The coastlines, simplified to a hundredth of a degree.
const LAND: &[u8] = include_bytes!("data/land.bin");

/// A closed line around land, or around a lake in land.
#[derive(Clone, Debug, PartialEq)]
pub struct Coastline {
    /// Longitude (east) and latitude of each point in degrees. The first point follows the last one. Where a line crosses longitude 180°,
    /// its longitudes continue beyond ±180°. The line around Antarctica is closed along a meridian and the south pole, which are no coast.
    pub points: Vec<[f64; 2]>,
    /// Whether ice covers the land: Antarctica and Greenland.
    pub ice: bool,
}

/// The coastlines of the Earth. Islands below a thousandth of a square degree are left out.
pub fn coastlines() -> Vec<Coastline> {
    let mut bytes = LAND.iter().copied();
    let mut byte = || bytes.next().unwrap_or(0);
    let count = u16::from_le_bytes([byte(), byte()]);
    (0..count).map(|_| ring(&mut byte)).collect()
}

fn ring(byte: &mut impl FnMut() -> u8) -> Coastline {
    let ice = byte() & 1 == 1;
    let count = number(byte);
    let (mut x, mut y) = (0, 0);
    let points = (0..count).map(|_| {
        (x, y) = (x + number(byte), y + number(byte));
        [f64::from(x) / 100.0, f64::from(y) / 100.0]
    });
    Coastline { points: points.collect(), ice }
}

/// A number in zigzag varint encoding.
fn number(byte: &mut impl FnMut() -> u8) -> i32 {
    let (mut value, mut shift) = (0_u32, 0);
    loop {
        let part = byte();
        value |= u32::from(part & 0x7f) << shift;
        shift += 7;
        if part < 0x80 || shift > 28 {
            return (value >> 1) as i32 ^ -((value & 1) as i32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_the_continents() {
        let lines = coastlines();
        assert!(lines.len() > 1000);
        let longest = lines.iter().map(|line| line.points.len()).max();
        assert!(longest > Some(2000), "{longest:?}");
        for line in &lines {
            assert!(line.points.len() >= 3);
            let valid = |p: &[f64; 2]| p[0].abs() <= 540.0 && p[1].abs() <= 90.0;
            assert!(line.points.iter().all(valid), "{:?}", line.points.iter().find(|p| !valid(p)));
        }
        // All bytes are used: the last line ends where the file does.
        let mut bytes = LAND.iter().copied();
        let mut byte = || bytes.next().expect("the file is too short");
        let count = u16::from_le_bytes([byte(), byte()]);
        (0..count).for_each(|_| drop(ring(&mut byte)));
        assert_eq!(bytes.next(), None);
    }
}
