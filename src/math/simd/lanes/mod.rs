//! SIMD vectors of f32, one type per instruction set.
//!
//! A kernel is written once over [`Lanes`] and compiled once per [`SimdLevel`](super::level::SimdLevel). Autovectorised arrays are as fast in
//! arithmetic, but not in comparisons that give a bit mask. Hence the intrinsics, one line each.

/// SIMD vector of f32. Implementations may fuse differently, so results may differ; callers must tolerate that.
///
/// A value proves that the processor supports the instructions. Safe code can make lanes only from other lanes. [`Lanes::new`], which makes
/// the first ones, is `unsafe`.
pub(crate) trait Lanes: Copy {
    /// Number of lanes.
    const COUNT: usize;
    /// The widest lanes of this instruction set that are not wider than a BVH node.
    type Narrow: Lanes;
    /// A vector of zeros.
    ///
    /// # Safety
    /// The processor must support the instructions of these lanes.
    unsafe fn new() -> Self;
    /// A vector of zeros of the narrow type.
    fn narrow(self) -> Self::Narrow;
    /// Loads the first `COUNT` values of `from`. The value of `self` does not matter. Panics if `from` is shorter.
    fn load(self, from: &[f32]) -> Self;
    /// Stores into the first `COUNT` values of `to`. Panics if `to` is shorter.
    fn store(self, to: &mut [f32]);
    /// Broadcasts `value` to all lanes. The value of `self` does not matter.
    fn splat(self, value: f32) -> Self;
    /// `self · b + c`, rounded once (fused) or twice.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// `self · b − c`, rounded once (fused) or twice.
    fn mul_sub(self, b: Self, c: Self) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    fn max(self, other: Self) -> Self;
    fn min(self, other: Self) -> Self;
    fn sqrt(self) -> Self;
    #[inline(always)]
    fn abs(self) -> Self {
        self.max(self.splat(0.0).sub(self))
    }
    /// Bit mask of the lanes in which `self <= other`; lane 0 is the lowest bit.
    fn le_mask(self, other: Self) -> u64;
    /// The least lane. No lane may be NaN.
    #[inline(always)]
    fn least(self) -> f32 {
        let mut all = [f32::INFINITY; 16];
        self.store(&mut all);
        all.into_iter().fold(f32::INFINITY, f32::min)
    }
    /// `self` in the lanes in which `a <= b`, infinity in the others.
    #[inline(always)]
    fn where_le(self, a: Self, b: Self) -> Self {
        let (mask, mut lanes) = (a.le_mask(b), [f32::INFINITY; 16]);
        self.store(&mut lanes);
        self.load(&std::array::from_fn::<f32, 16, _>(|i| if mask >> i & 1 == 1 { lanes[i] } else { f32::INFINITY }))
    }
    /// Infinity in the lanes in which `a <= b`, `self` in the others.
    #[inline(always)]
    fn except_le(self, a: Self, b: Self) -> Self {
        let (mask, mut lanes) = (a.le_mask(b), [f32::INFINITY; 16]);
        self.store(&mut lanes);
        self.load(&std::array::from_fn::<f32, 16, _>(|i| if mask >> i & 1 == 0 { lanes[i] } else { f32::INFINITY }))
    }
    /// Replaces the lowest three bits of each lane by those of `bits`, which has no others.
    #[inline(always)]
    fn with_low_bits(self, bits: Self) -> Self {
        let [mut all, mut low] = [[0.0_f32; 16]; 2];
        self.store(&mut all);
        bits.store(&mut low);
        self.load(&std::array::from_fn::<f32, 16, _>(|i| f32::from_bits(all[i].to_bits() & !7 | low[i].to_bits())))
    }
    /// Transposes eight rows of eight numbers.
    #[inline(always)]
    fn transpose(self, rows: [&[f32; 8]; 8]) -> [[f32; 8]; 8] {
        std::array::from_fn(|j| std::array::from_fn(|i| rows[i][j]))
    }
    /// Bit `bit` of each of 64 bytes.
    #[inline(always)]
    fn bits_of_bytes(self, bytes: &[u8; 64], bit: usize) -> u64 {
        // The product brings the bits of eight bytes together.
        let bits = |word: &[u8; 8]| {
            (u64::from_le_bytes(*word) >> bit & 0x0101_0101_0101_0101).wrapping_mul(0x0102_0408_1020_4080) >> 56
        };
        bytes.as_chunks().0.iter().rev().fold(0, |all, word| all << 8 | bits(word))
    }
    /// Whether [`compress`](Self::compress) is one instruction.
    const COMPRESSES: bool = false;
    /// Compacts sixteen words: writes those whose bit in `mask` is set to the front of `to`, in order. The words behind them are arbitrary.
    #[inline(always)]
    fn compress(self, words: &[u32; 16], mask: u32, to: &mut [u32; 16]) {
        let mut count = 0;
        for (i, &word) in words.iter().enumerate() {
            to[count % 16] = word;
            count += (mask >> i & 1) as usize;
        }
    }
}

/// Implements [`Lanes`] with intrinsics, and the functions that follow them.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_feature = "simd128"))]
macro_rules! lanes {
    ($name:ident: $vector:ty, $count:literal lanes, narrow $narrow:ident;
     load $load:ident, store $store:ident, splat $splat:ident, sqrt $sqrt:ident;
     $($binary:ident $instruction:ident),*;
     mul_add |$x:ident, $y:ident, $z:ident| $mul_add:expr;
     mul_sub |$i:ident, $j:ident, $k:ident| $mul_sub:expr;
     le_mask |$a:ident, $b:ident| $at_most:expr;
     $($more:tt)*) => {
        #[derive(Clone, Copy)]
        pub(crate) struct $name($vector);

        #[allow(unused_unsafe, reason = "SSE2, NEON and WebAssembly's vectors are there always")]
        impl Lanes for $name {
            const COUNT: usize = $count;
            type Narrow = $narrow;
            #[inline(always)]
            unsafe fn new() -> Self {
                // SAFETY: the caller guarantees that the processor supports the instructions.
                Self(unsafe { $splat(0.0) })
            }
            #[inline(always)]
            fn narrow(self) -> $narrow {
                // SAFETY: a processor that supports these lanes also supports the narrow ones.
                unsafe { $narrow::new() }
            }
            #[inline(always)]
            fn load(self, from: &[f32]) -> Self {
                let from: &[f32; $count] = from.first_chunk().expect("columns are whole vectors");
                // SAFETY: the array is as long as the vector, and any alignment is allowed. `self` proves that the processor supports the
                // instructions.
                Self(unsafe { $load(from.as_ptr()) })
            }
            #[inline(always)]
            fn store(self, to: &mut [f32]) {
                let to: &mut [f32; $count] = to.first_chunk_mut().expect("columns are whole vectors");
                // SAFETY: as for `load`.
                unsafe { $store(to.as_mut_ptr(), self.0) }
            }
            #[inline(always)]
            fn splat(self, value: f32) -> Self {
                // SAFETY: `self` proves that the processor supports the instructions. This also applies to the functions below.
                Self(unsafe { $splat(value) })
            }
            #[inline(always)]
            fn mul_add(self, b: Self, c: Self) -> Self {
                let ($x, $y, $z) = (self.0, b.0, c.0);
                // SAFETY: as above.
                Self(unsafe { $mul_add })
            }
            #[inline(always)]
            fn mul_sub(self, b: Self, c: Self) -> Self {
                let ($i, $j, $k) = (self.0, b.0, c.0);
                // SAFETY: as above.
                Self(unsafe { $mul_sub })
            }
            $(#[inline(always)]
            fn $binary(self, other: Self) -> Self {
                // SAFETY: as above.
                Self(unsafe { $instruction(self.0, other.0) })
            })*
            #[inline(always)]
            fn sqrt(self) -> Self {
                // SAFETY: as above.
                Self(unsafe { $sqrt(self.0) })
            }
            #[inline(always)]
            fn le_mask(self, other: Self) -> u64 {
                let ($a, $b) = (self.0, other.0);
                // SAFETY: as above.
                unsafe { $at_most }
            }
            $($more)*
        }
    };
}

/// [`Lanes::transpose`] by the instructions that interleave the lower and the upper halves of four numbers, or of twice four. `$join` makes a
/// vector of the first four numbers of row k and, if it has room, those of row k + 4.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_feature = "simd128"))]
macro_rules! transpose {
    ($low:ident, $high:ident, |$lanes:ident, $row:ident, $later:ident| $join:expr) => {
        #[inline(always)]
        fn transpose(self, rows: [&[f32; 8]; 8]) -> [[f32; 8]; 8] {
            let mut columns = [[0.0; 8]; 8];
            for j in [0, 4] {
                for i in (0..8).step_by(Self::COUNT) {
                    let vector = |k: usize| {
                        let ($lanes, $row, $later) = (self, &rows[i + k][j..], &rows[(i + k + 4) % 8][j..]);
                        $join
                    };
                    let (a, b, c, d) = (vector(0), vector(1), vector(2), vector(3));
                    // SAFETY: `self` proves that the processor supports the instructions.
                    let parts = unsafe {
                        let (even, odd) = ($low(a, c), $low(b, d));
                        let (left, right) = ($high(a, c), $high(b, d));
                        [$low(even, odd), $high(even, odd), $low(left, right), $high(left, right)]
                    };
                    for (column, part) in columns[j..].iter_mut().zip(parts) {
                        Self(part).store(&mut column[i..]);
                    }
                }
            }
            columns
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod x86;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{Avx2, Avx512, Sse2};

#[cfg(target_arch = "aarch64")]
mod arm;
#[cfg(target_arch = "aarch64")]
pub(crate) use arm::Neon;

#[cfg(target_feature = "simd128")]
mod wasm;
#[cfg(target_feature = "simd128")]
pub(crate) use wasm::Simd128;

#[cfg(any(test, not(any(target_arch = "x86_64", target_arch = "aarch64", target_feature = "simd128"))))]
mod plain;
#[cfg(any(test, not(any(target_arch = "x86_64", target_arch = "aarch64", target_feature = "simd128"))))]
pub(crate) use plain::Plain;
