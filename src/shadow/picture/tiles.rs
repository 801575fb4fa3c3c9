//! Grids of lists: the spheres that the ray of a pixel, or the occluders that a shadow ray from a surface point, has to be tested against.
//!
//! Rays of a picture share their origin, and shadow rays share their light. So the position where a ray starts determines what it can hit,
//! and a flat grid of lists replaces a BVH. A list omits only what cannot be hit, and its indices ascend. So a picture is the same with and
//! without lists.

/// A rectangle of unit squares, inclusive at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Patch {
    pub(crate) low: [u32; 2],
    pub(crate) high: [u32; 2],
}

impl Patch {
    /// The squares that intersect `low..high`, widened by `margin` on each side; `None` if there are none in `size`. An axis with a NaN
    /// bound covers the whole side.
    pub(crate) fn around(low: [f64; 2], high: [f64; 2], margin: f64, size: [u32; 2]) -> Option<Self> {
        let mut patch = Self { low: [0; 2], high: size.map(|side| side - 1) };
        for k in 0..2 {
            if low[k].is_nan() || high[k].is_nan() {
                continue;
            }
            let (from, to) = (low[k] - margin, high[k] + margin);
            if to < 0.0 || from >= f64::from(size[k]) {
                return None;
            }
            // Casts saturate, so the result stays within the grid.
            patch.low[k] = from as u32;
            patch.high[k] = (to as u32).min(size[k] - 1);
        }
        Some(patch)
    }

    /// Range of cells along an axis, where a cell has 2^`level` squares per side.
    fn cells(self, axis: usize, level: u32) -> std::ops::RangeInclusive<u32> {
        self.low[axis] >> level..=self.high[axis] >> level
    }

    fn count(self, level: u32) -> usize {
        self.cells(0, level).count() * self.cells(1, level).count()
    }
}

/// A grid of lists, stored in an array of words that many grids share. The list of a cell is the range of indices from
/// `words[first + cell]` to `words[first + cell + 1]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    pub(crate) first: u32,
    pub(crate) columns: u32,
    /// A cell has 2^`level` unit squares per side.
    pub(crate) level: u32,
}

impl Grid {
    /// Appends a grid to `words`. Its level is the smallest one that is at least `finest` and needs at most `most` words; a grid of a
    /// single cell may need more.
    pub(crate) fn new(words: &mut Vec<u32>, size: [u32; 2], finest: u32, most: usize, items: &[(u32, Patch)]) -> Self {
        let sides = |level: u32| size.map(|side| ((side - 1) >> level) + 1);
        let cells = |level: u32| sides(level)[0] as usize * sides(level)[1] as usize;
        let needs = |level: u32| cells(level) + items.iter().map(|item| item.1.count(level)).sum::<usize>();
        let mut level = finest;
        while cells(level) > 1 && needs(level) > most {
            level += 1;
        }
        let grid = Self { first: words.len() as u32, columns: sides(level)[0], level };
        // `ends` first contains the lengths of the lists, then their starts (prefix sum), and in the end their ends.
        let mut ends = vec![0_u32; cells(level) + 1];
        let each = |visit: &mut dyn FnMut(usize, u32)| {
            for &(item, patch) in items {
                for y in patch.cells(1, level) {
                    for x in patch.cells(0, level) {
                        visit((y * grid.columns + x) as usize, item);
                    }
                }
            }
        };
        each(&mut |cell, _| ends[cell + 1] += 1);
        ends[0] = grid.first + ends.len() as u32;
        for cell in 1..ends.len() {
            ends[cell] += ends[cell - 1];
        }
        words.extend(&ends);
        words.resize(ends[ends.len() - 1] as usize, 0);
        each(&mut |cell, item| {
            words[ends[cell] as usize] = item;
            ends[cell] += 1;
        });
        grid
    }

    /// The list of the cell that contains a unit square.
    pub(crate) fn list(self, words: &[u32], x: u32, y: u32) -> &[u32] {
        let cell = (self.first + (y >> self.level) * self.columns + (x >> self.level)) as usize;
        &words[words[cell] as usize..words[cell + 1] as usize]
    }

    /// Number of cells of a grid over this number of unit squares.
    pub(crate) fn cells(self, size: [u32; 2]) -> usize {
        self.columns as usize * (((size[1] - 1) >> self.level) + 1) as usize
    }

    /// Length of the longest list.
    pub(crate) fn longest(self, words: &[u32], size: [u32; 2]) -> u32 {
        let starts = &words[self.first as usize..][..self.cells(size) + 1];
        starts.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0)
    }
}
