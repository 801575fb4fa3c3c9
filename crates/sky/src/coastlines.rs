//! The coastlines of the Earth and the borders of its countries, from Natural Earth (public domain, 1:50 million): `tools/make_land.py`
//! writes `land.bin` and `borders.bin`, and has their format.

/// The coastlines and the borders, simplified to a hundredth of a degree.
const LAND: &[u8] = include_bytes!("data/land.bin");
const BORDERS: &[u8] = include_bytes!("data/borders.bin");

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
    lines(LAND).0
}

/// The borders between countries on land and in lakes, as Natural Earth draws them: by who administers a region. Each line has the
/// longitudes (east) and latitudes of its points in degrees, at most a degree apart.
pub fn borders() -> Vec<Vec<[f64; 2]>> {
    lines(BORDERS).0.into_iter().map(|line| line.points).collect()
}

/// The lines of a file, and the number of bytes behind them.
fn lines(file: &[u8]) -> (Vec<Coastline>, usize) {
    let mut bytes = file.iter().copied();
    let mut byte = || bytes.next().unwrap_or(0);
    let count = u16::from_le_bytes([byte(), byte()]);
    let lines = (0..count).map(|_| line(&mut byte)).collect();
    (lines, bytes.len())
}

fn line(byte: &mut impl FnMut() -> u8) -> Coastline {
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

    /// All bytes of a file are used: the last line ends where the file does.
    #[test]
    fn the_files_have_the_continents_and_their_countries() {
        for (file, least, most) in [(LAND, 1000, 2000), (BORDERS, 300, 300)] {
            let (lines, rest) = lines(file);
            assert_eq!(rest, 0);
            assert!(lines.len() > least, "{}", lines.len());
            let longest = lines.iter().map(|line| line.points.len()).max();
            assert!(longest > Some(most), "{longest:?}");
            for line in &lines {
                let valid = |p: &[f64; 2]| p[0].abs() <= 540.0 && p[1].abs() <= 90.0;
                assert!(line.points.iter().all(valid), "{:?}", line.points.iter().find(|p| !valid(p)));
            }
        }
        assert!(coastlines().iter().all(|line| line.points.len() >= 3));
        // The borders of the United States follow the parallel 49° N and the meridian 141° W.
        let borders = borders();
        let has = |axis: usize, degrees: f64, [low, high]: [f64; 2]| {
            let along = |pair: &[[f64; 2]]| pair.iter().all(|at| (at[axis] - degrees).abs() < 0.02);
            let near = |at: &&[f64; 2]| at[1 - axis] > low - 1.0 && at[1 - axis] < high + 1.0;
            let span = borders.iter().flat_map(|line| line.windows(2)).filter(|pair| along(pair));
            let span = span.flatten().filter(near);
            let span = span.fold([f64::MAX, f64::MIN], |[a, b], at| [a.min(at[1 - axis]), b.max(at[1 - axis])]);
            assert!((span[0] - low).abs() < 0.5 && (span[1] - high).abs() < 0.5, "{span:?}");
        };
        has(1, 49.0, [-122.8, -95.2]);
        has(0, -141.0, [60.3, 69.65]);
    }
}
