//! SPK files of NAIF for tests.

/// A segment: target, centre, type, first epoch and seconds per interval, and for each interval the coefficients of each component.
#[derive(Clone)]
pub struct Segment {
    pub target: i32,
    pub center: i32,
    pub kind: i32,
    pub first: f64,
    pub interval_s: f64,
    pub intervals: Vec<Vec<Vec<f64>>>,
}

/// The bytes of a file with these segments.
pub fn file(segments: &[Segment], is_little_endian: bool) -> Vec<u8> {
    let number = |x: f64| if is_little_endian { x.to_le_bytes() } else { x.to_be_bytes() };
    let integer = |x: i32| if is_little_endian { x.to_le_bytes() } else { x.to_be_bytes() };
    // The file record, a summary record and its names; the words of the segments follow.
    let mut data: Vec<f64> = Vec::new();
    let mut summaries = Vec::new();
    for one in segments {
        let begin = 3 * 128 + data.len() as i32 + 1;
        let start = data.len();
        for (i, components) in one.intervals.iter().enumerate() {
            data.extend([one.first + one.interval_s * (i as f64 + 0.5), 0.5 * one.interval_s]);
            data.extend(components.concat());
        }
        let (words, count) = ((data.len() - start) / one.intervals.len(), one.intervals.len());
        data.extend([one.first, one.interval_s, words as f64, count as f64]);
        summaries.extend([one.first, one.first + one.interval_s * count as f64].map(number).concat());
        let end = 3 * 128 + data.len() as i32;
        summaries.extend([one.target, one.center, 1, one.kind, begin, end].map(integer).concat());
    }
    let mut bytes = b"DAF/SPK ".to_vec();
    bytes.extend([2, 6].map(integer).concat());
    bytes.resize(76, b' ');
    bytes.extend([2, 2, 3 * 128 + data.len() as i32 + 1].map(integer).concat());
    bytes.extend(if is_little_endian { b"LTL-IEEE" } else { b"BIG-IEEE" });
    bytes.resize(1024, 0);
    bytes.extend([0.0, 0.0, segments.len() as f64].map(number).concat());
    bytes.extend(summaries);
    bytes.resize(3 * 1024, 0);
    bytes.extend(data.into_iter().flat_map(number));
    bytes
}
