//! Tests: the validator accepts trees over scenes of many kinds, and finds the fault in broken trees.

use proptest::prelude::*;

use super::node::{MAX_LEAF_SPHERES, QBounds, QBvh4, QChild, QNode4, next_above, next_below};
use crate::bvh::gpu_frame::GpuFrame;
use crate::intensity::scaled;
use crate::numbers::Numbers;
use crate::records::Sphere;
use crate::runtime::cancel::CancelToken;

pub(crate) fn scenes() -> Vec<(&'static str, Vec<Sphere>)> {
    let mut n = Numbers(1);
    let mut cloud = |count: usize, size: f32, radius: f32| -> Vec<Sphere> {
        let mut place = || size * (n.unit() - 0.5);
        (0..count).map(|_| Sphere::new([place(), place(), place()], radius)).collect()
    };
    let mut around = cloud(5000, 1.0, 0.01);
    around.push(Sphere::new([0.0; 3], 1e6));
    let radii = cloud(3000, 2.0, 1.0).into_iter().enumerate();
    let radii = radii.map(|(i, s)| Sphere { radius: 10f32.powi(i as i32 % 11 - 7), ..s }).collect();
    let mut far = cloud(1000, 1.0, 0.1);
    far.push(Sphere::new([1e7, -1e7, 1e7], 1.0));
    vec![
        ("none", vec![]),
        ("one", cloud(1, 1.0, 1.0)),
        ("a leaf", cloud(MAX_LEAF_SPHERES, 1.0, 0.1)),
        ("two leaves", cloud(MAX_LEAF_SPHERES + 1, 1.0, 0.1)),
        ("a cloud", cloud(20_000, 1.0, 0.01)),
        ("points", cloud(1000, 1.0, 0.0)),
        ("the same sphere", vec![Sphere::new([1.0, 2.0, 3.0], 0.5); 10_000]),
        ("shells", (0..5000).map(|i| Sphere::new([0.0; 3], 1.0 + i as f32)).collect()),
        ("a line", (0..5000).map(|i| Sphere::new([i as f32, 0.0, 0.0], 0.25)).collect()),
        ("a line of powers", (-100..100).map(|i| Sphere::new([2f32.powi(i), 0.0, 0.0], 0.25)).collect()),
        ("one around all", around),
        ("radii over ten orders", radii),
        ("one far out", far),
        (
            "small and far from 0",
            cloud(1000, 100.0, 1.0).into_iter().map(|s| Sphere { center: s.center + 1e7, ..s }).collect(),
        ),
        ("tiny", cloud(1000, 1e-35, 1e-37)),
        ("subnormal", cloud(1000, 3e-38, 1e-39)),
        ("huge", cloud(1000, 1e30, 1e28)),
    ]
}

pub(crate) fn built(spheres: &[Sphere], frame: &GpuFrame) -> QBvh4 {
    QBvh4::new(spheres, frame, &CancelToken::new()).unwrap()
}

#[test]
fn valid_trees_pass_the_validator() {
    for (name, spheres) in scenes() {
        let frame = GpuFrame::of(&spheres);
        assert_eq!(built(&spheres, &frame).check(&spheres, &frame), Ok(()), "{name}");
    }
}

#[cfg(feature = "gpu")]
#[test]
fn the_shader_stack_has_an_entry_per_level() {
    use crate::gpu::programs::{CLOSEST_BVH, STACK, with_short_stack};
    let room = |entries: usize| format!("var<private> stack: array<Siblings, {entries}>;");
    assert_eq!(STACK, room(QBvh4::MAX_LEVELS));
    assert!(CLOSEST_BVH.source().contains(STACK));
    assert!(with_short_stack(&CLOSEST_BVH.source()).contains(&room(QBvh4::SHALLOW_LEVELS)));
}

#[test]
fn the_validator_finds_faults_in_broken_trees() {
    let (_, spheres) = scenes().swap_remove(4);
    let frame = GpuFrame::of(&spheres);
    let broken = |name: &str, change: &dyn Fn(&mut QBvh4)| {
        let mut tree = built(&spheres, &frame);
        change(&mut tree);
        let found = tree.check(&spheres, &frame);
        assert!(found.as_ref().is_err_and(|error| error.contains(name)), "{name}: {found:?}");
    };
    broken("is met twice", &|tree| tree.order[3] = tree.order[4]);
    broken("does not exist", &|tree| tree.order[3] = u32::MAX);
    broken("spheres leave box", &|tree| tree.order.swap(0, 19_999));
    broken("a level ends", &|tree| tree.levels[1] += 1);
    broken("leads to", &|tree| tree.nodes[0].children.swap(0, 1));
    broken("spheres leave box", &|tree| tree.nodes[0].high[1] -= 0x0101_0101);
    let empty = QChild::Leaf { first: 0, count: 0 }.pack();
    broken("spheres", &|tree| tree.nodes.last_mut().unwrap().children[0] = empty);
    broken("out of reach", &|tree| tree.nodes.last_mut().unwrap().units -= 1 << 24);
}

#[test]
fn quantised_boxes_contain_the_child_bounds() {
    let mut n = Numbers(2);
    let around =
        |at: [f32; 3], r: f32| QBounds { low: at.map(|x| next_below(x - r)), high: at.map(|x| next_above(x + r)) };
    for _ in 0..scaled(20_000) {
        let mut place = || (n.unit() - 0.5) * 2f32.powi((n.unit() * 80.0) as i32 - 79) * 4.0;
        let boxes: Vec<QBounds> = (0..4).map(|_| around([place(), place(), place()], place().abs())).collect();
        let children: Vec<(QBounds, QChild)> = boxes.iter().map(|b| (*b, QChild::Node(7))).collect();
        let quad = QNode4::new(&children, [0, 28]);
        for (i, own) in boxes.iter().enumerate() {
            let ([low, high], _) = quad.child(i);
            for k in 0..3 {
                assert!(low[k] <= f64::from(own.low[k]) && f64::from(own.high[k]) <= high[k], "{own:?} {quad:?}");
                // The box is larger by at most two units per side.
                let step = 2f64.powi((quad.units >> (8 * k) & 255) as i32 - 127) * 2.0 + 1e-17;
                assert!(f64::from(own.low[k]) - low[k] <= step && high[k] - f64::from(own.high[k]) <= step, "{own:?}");
            }
        }
    }
    for x in [0.0f32, 1.0, -1.0, 0.3, -1e-30, 1.999_999_9, 2f32.powi(-60)] {
        assert!(next_below(x) < x && x < next_above(x), "{x}");
    }
}

/// Spheres of small multiples of powers of two, of ordinary numbers, or of any finite numbers.
fn any_spheres() -> impl Strategy<Value = Vec<Sphere>> {
    let lattice = (-32i8..32, -2i32..2).prop_map(|(m, e)| f32::from(m) * 2f32.powi(e));
    let wild = any::<u32>().prop_map(f32::from_bits).prop_filter("finite", |x| x.is_finite());
    let spheres = |x: BoxedStrategy<f32>| {
        let sphere = (prop::array::uniform3(x.clone()), x).prop_map(|(c, r)| Sphere::new(c, r.abs()));
        prop::collection::vec(sphere, 0..40)
    };
    prop_oneof![spheres(lattice.boxed()), spheres((-16.0f32..16.0).boxed()), spheres(wild.boxed())]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: scaled(4000) as u32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn child_words_unpack_to_what_was_packed(word in any::<u32>(), count in 1..=MAX_LEAF_SPHERES) {
        prop_assert_eq!(QChild::unpack(word).pack(), word);
        for child in [QChild::Node(word >> 1), QChild::Leaf { first: word & 0x0fff_ffff, count: count as u32 }] {
            prop_assert_eq!(QChild::unpack(child.pack()), child);
        }
    }

    #[test]
    fn trees_over_any_spheres_pass_the_validator(spheres in any_spheres()) {
        let frame = GpuFrame::of(&spheres);
        // There is no tree if the spheres span the whole range of f32.
        if frame.supports_bvh() {
            prop_assert_eq!(built(&spheres, &frame).check(&spheres, &frame), Ok(()));
        }
    }
}

/// Twins of `shaders/build/refit.wgsl` and `shaders/build/sah_cost.wgsl`.
impl QBvh4 {
    /// Refits the boxes to other spheres, of the same number as before.
    pub(crate) fn refit(&mut self, spheres: &[Sphere], frame: &GpuFrame) {
        let mut bounds = vec![QBounds::EMPTY; self.nodes.len()];
        // Children have higher indices than their parents.
        for number in (0..self.nodes.len()).rev() {
            let quad = self.nodes[number];
            let around = |child: QChild| match child {
                QChild::Node(child) => bounds[child as usize],
                QChild::Leaf { first, count } => {
                    let own = self.order[first as usize..][..count as usize].iter();
                    own.map(|place| QBounds::of(&spheres[*place as usize], frame)).fold(QBounds::EMPTY, QBounds::join)
                }
            };
            let child = |i| quad.child(i).1;
            let children: Vec<(QBounds, QChild)> = (0..quad.count()).map(|i| (around(child(i)), child(i))).collect();
            bounds[number] = children.iter().fold(QBounds::EMPTY, |all, (own, _)| all.join(*own));
            self.nodes[number] = QNode4::new(&children, quad.range);
        }
    }

    /// SAH cost: the average number of nodes that a line through the root's box enters.
    pub(crate) fn cost(&self) -> f64 {
        let area = |quad: &QNode4| {
            let low: [f64; 3] = quad.origin.map(|bits| f64::from(f32::from_bits(bits)));
            let high = (0..quad.count()).map(|i| quad.child(i).0[1]);
            let high = high.fold(low, |a, b| std::array::from_fn(|k| f64::max(a[k], b[k])));
            let [x, y, z] = std::array::from_fn(|k| high[k] - low[k]);
            x * y + y * z + z * x
        };
        self.nodes.iter().map(area).sum::<f64>() / area(&self.nodes[0])
    }
}
