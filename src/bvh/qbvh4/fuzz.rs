//! Fuzz target `quads`: boxes of nodes contain their spheres, and packed children unpack to the same value.

use super::node::QBvh4;
use super::node::{MAX_LEAF_SPHERES, QBounds, QChild, QNode4, next_above, next_below};
use crate::bvh::gpu_frame::GpuFrame;
use crate::fuzz::bytes::Bytes;
use crate::records::Sphere;
use crate::runtime::cancel::CancelToken;

/// `quads`: child words, a node of up to four arbitrary boxes, and a tree over arbitrary spheres.
pub fn quads(data: &[u8]) {
    let mut bytes = Bytes(data);
    let word = bytes.word();
    assert_eq!(QChild::unpack(word).pack(), word);
    let leaf = QChild::Leaf { first: word & 0x0fff_ffff, count: 1 + word % MAX_LEAF_SPHERES as u32 };
    for child in [QChild::Node(word >> 1), leaf] {
        assert_eq!(QChild::unpack(child.pack()), child);
    }
    boxes(&mut bytes);
    tree(&mut bytes);
}

/// A node of up to four boxes, in units of a scene's frame, where no coordinate exceeds 2.
fn boxes(bytes: &mut Bytes<'_>) {
    let count = 1 + bytes.below(4);
    let mut place = || bytes.signed() as f32 * 2.0 * (-(f32::from(bytes.byte() % 64))).exp2();
    let mut own = Vec::new();
    for number in 0..count {
        let at = [place(), place(), place()];
        let radius = place().abs();
        let bounds = QBounds {
            low: at.map(|x| next_below(x - radius).max(-2.0)),
            high: at.map(|x| next_above(x + radius).min(2.0)),
        };
        own.push((bounds, QChild::Node(number as u32)));
    }
    let quad = QNode4::new(&own, [0, 7]);
    assert_eq!(quad.count(), count);
    for (i, (bounds, child)) in own.iter().enumerate() {
        let ([low, high], found) = quad.child(i);
        assert_eq!(found, *child);
        for k in 0..3 {
            let held = low[k] <= f64::from(bounds.low[k]) && f64::from(bounds.high[k]) <= high[k];
            assert!(held, "{bounds:?} is not in {low:?} to {high:?}");
        }
    }
}

fn tree(bytes: &mut Bytes<'_>) {
    let style = bytes.style();
    let mut spheres = Vec::new();
    while !bytes.is_empty() && spheres.len() < 40 {
        spheres.push(Sphere::new(bytes.vector(style), bytes.number(style).abs()));
    }
    let frame = GpuFrame::of(&spheres);
    // There is no tree if the spheres span the whole range of f32.
    if frame.supports_bvh() {
        let tree = QBvh4::new(&spheres, &frame, &CancelToken::new()).expect("the build is not cancelled");
        assert_eq!(tree.check(&spheres, &frame), Ok(()), "{spheres:?}");
    }
}
