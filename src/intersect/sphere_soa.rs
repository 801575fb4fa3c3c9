//! Intersection of SoA batches of ray–sphere pairs: the functions of `sphere.rs` in a loop without branches, which the compiler vectorises;
//! at `exact`, pairs at rest by those of `double.rs`, whose f64 takes fewer operations than corrected f32. Every lane rounds alike and no
//! operation is fused, so each pair has the same bits as if it were intersected alone. A single pair spends most of its time waiting for its
//! own intermediate results.

use glam::{DVec3, Vec3};

use super::double::DoubleRoots;
use super::ellipsoid::{UnitBallMap, to_unit_ball};
use super::motion::{RelativeMotion, Target, scale_moving};
use super::sphere::{ScaledPair, SphereRoots, intersect_compensated_branchless, scale};
use crate::math::simd::lanes::Lanes;
use crate::math::simd::level::{SimdLevel, multiversion};
use crate::query::policy::Precision;
use crate::records::{Ray, Sphere};

/// Pairs per batch.
pub(crate) const BATCH_WIDTH: usize = 16;

type Lane = [f32; BATCH_WIDTH];

/// SoA batch of pairs, with their results.
#[derive(Default)]
pub(crate) struct PairBatch {
    ray: [Lane; 6],
    /// Beginning of the ray. Set only for pairs at rest.
    t_min: Lane,
    sphere: [Lane; 4],
    /// Velocity, time, radius of the ray, low part of its direction, and 1 where `t` is time. Set only for moving pairs.
    motion: [Lane; 9],
    /// High parts, then low parts, of the map's matrix by rows. Set only for ellipsoids.
    map: [Lane; 18],
    disc: Lane,
    disc_bound: Lane,
    enter: Lane,
    exit: Lane,
    enter_bound: Lane,
    exit_bound: Lane,
    foot: Lane,
    foot_bound: Lane,
    /// Both roots rounded once, or NaN.
    rounded: [Lane; 2],
}

impl PairBatch {
    #[inline]
    pub(crate) fn set(&mut self, i: usize, ray: &Ray, sphere: &Sphere) {
        self.t_min[i] = ray.t_min;
        let (o, d, c) = (ray.origin, ray.direction, sphere.center);
        self.ray.iter_mut().zip([o.x, o.y, o.z, d.x, d.y, d.z]).for_each(|(column, x)| column[i] = x);
        self.sphere.iter_mut().zip([c.x, c.y, c.z, sphere.radius]).for_each(|(column, x)| column[i] = x);
    }

    /// Sets a pair that may move. All other pairs of the batch must then be set by this function too.
    pub(crate) fn set_moving(&mut self, i: usize, ray: &Ray, target: &Target<'_>) {
        self.set(i, ray, target.sphere);
        let RelativeMotion { velocity: v, time, moves_with_ray: relative, radius, direction_low: low, .. } =
            target.motion.unwrap_or(RelativeMotion::NONE);
        let moves = [v.x, v.y, v.z, time, radius, low.x, low.y, low.z, f32::from(u8::from(relative))];
        self.motion.iter_mut().zip(moves).for_each(|(column, x)| column[i] = x);
        if let Some(UnitBallMap { high, low, .. }) = target.map {
            let parts = high.as_flattened().iter().chain(low.as_flattened());
            self.map.iter_mut().zip(parts).for_each(|(column, x)| column[i] = *x);
        }
    }

    /// Intersects all pairs. They may move; with `ellipsoids`, all spheres are ellipsoids.
    pub(crate) fn intersect_moving(&mut self, level: SimdLevel, precision: Precision, ellipsoids: bool) {
        match (precision, ellipsoids) {
            (_, true) => level.intersect_compensated_ellipsoids(self),
            (Precision::Fast | Precision::Standard, _) => level.intersect_compensated_moving(self),
            (Precision::Auto | Precision::Exact, _) => level.intersect_bounded_moving(self),
        }
    }

    /// Intersects all pairs, which are at rest. Returns the mask of those that are not certain misses.
    pub(crate) fn intersect(&mut self, level: SimdLevel, precision: Precision) -> u32 {
        match precision {
            Precision::Fast | Precision::Standard => level.intersect_compensated_batch(self),
            Precision::Auto | Precision::Exact => level.intersect_bounded_batch(self),
        }
    }

    /// Result of pair `i`. Its bounds and rounded roots are valid only after [`Precision::Exact`]; other precisions do not need them.
    pub(crate) fn roots(&self, i: usize) -> SphereRoots {
        SphereRoots {
            disc: self.disc[i],
            disc_bound: self.disc_bound[i],
            t_enter: self.enter[i],
            t_exit: self.exit[i],
            enter_bound: self.enter_bound[i],
            exit_bound: self.exit_bound[i],
            foot: self.foot[i],
            foot_bound: self.foot_bound[i],
            rounded: [self.rounded[0][i], self.rounded[1][i]],
        }
    }

    /// Scales pair `i`. With `M` it may move; with `M` and `E` its sphere is also an ellipsoid.
    #[inline(always)]
    fn pair<const M: bool, const E: bool>(&self, i: usize) -> ScaledPair {
        let [ox, oy, oz, dx, dy, dz] = self.ray.each_ref().map(|column| column[i]);
        let [x, y, z, r] = self.sphere.each_ref().map(|column| column[i]);
        // The roots do not depend on the ray's ends.
        let ray = Ray { origin: Vec3::new(ox, oy, oz), t_min: 0.0, direction: Vec3::new(dx, dy, dz), t_max: 0.0 };
        let sphere = Sphere { center: Vec3::new(x, y, z), radius: r };
        if !M {
            return scale(&ray, &sphere);
        }
        let [vx, vy, vz, time, radius, lx, ly, lz, relative] = self.motion.each_ref().map(|column| column[i]);
        let (velocity, direction_low, moves_with_ray) = (Vec3::new(vx, vy, vz), Vec3::new(lx, ly, lz), relative != 0.0);
        let moves = RelativeMotion { velocity, time, moves_with_ray, radius, direction_low, starts_on_surface: false };
        let scaled = scale_moving(&ray, &sphere, &moves);
        if !E {
            return scaled;
        }
        let rows = |first: usize| std::array::from_fn(|j| std::array::from_fn(|k| self.map[first + 3 * j + k][i]));
        to_unit_ball(&scaled, &UnitBallMap { high: rows(0), low: rows(9), inscribed_radius: 0.0 })
    }

    /// Intersects all pairs with error-free corrections, with `BOUNDED` also their bounds.
    #[inline(always)]
    fn solve<const M: bool, const E: bool, const BOUNDED: bool>(&mut self) {
        for i in 0..BATCH_WIDTH {
            self.store::<BOUNDED>(i, &intersect_compensated_branchless::<M>(&self.pair::<M, E>(i)));
        }
    }

    #[inline(always)]
    fn store<const BOUNDED: bool>(&mut self, i: usize, solved: &SphereRoots) {
        (self.disc[i], self.enter[i], self.exit[i]) = (solved.disc, solved.t_enter, solved.t_exit);
        if BOUNDED {
            self.disc_bound[i] = solved.disc_bound;
            (self.enter_bound[i], self.exit_bound[i]) = (solved.enter_bound, solved.exit_bound);
            (self.foot[i], self.foot_bound[i]) = (solved.foot, solved.foot_bound);
            [self.rounded[0][i], self.rounded[1][i]] = solved.rounded;
        }
    }

    /// Mask of the pairs that are not certain misses under any policy: the line misses the sphere, or the ray begins behind it. `BOUNDED`:
    /// within the bounds.
    #[inline(always)]
    fn possible_hits<L: Lanes, const BOUNDED: bool>(&self, lanes: L) -> u32 {
        let (zero, max) = (lanes.splat(0.0), lanes.splat(f32::MAX));
        let mut mask = 0;
        for i in (0..BATCH_WIDTH).step_by(L::COUNT) {
            let (disc, t_min) = (lanes.load(&self.disc[i..]), lanes.load(&self.t_min[i..]));
            let (mut exit, mut disc_bound) = (lanes.load(&self.exit[i..]), zero);
            if BOUNDED {
                let bound = lanes.load(&self.exit_bound[i..]);
                // A bound that exceeds f32 says nothing about the root: it may be the largest number.
                exit = exit.max(bound.sub(max)).min(max.sub(bound)).add(bound);
                disc_bound = lanes.load(&self.disc_bound[i..]);
            }
            // Negated, so that a NaN is a possible hit.
            let misses = disc.add(disc_bound).le_mask(lanes.splat(-f32::MIN_POSITIVE));
            let behind =
                exit.le_mask(t_min) & !t_min.le_mask(exit) & disc_bound.le_mask(disc) & !disc.le_mask(disc_bound);
            mask |= (!(misses | behind) & ((1 << L::COUNT) - 1)) << i;
        }
        mask as u32
    }

    /// Intersects all pairs in f64 with bounds, and rounds the roots once. The pairs are at rest.
    #[inline(always)]
    fn solve_double(&mut self) {
        for i in 0..BATCH_WIDTH {
            let [ox, oy, oz, dx, dy, dz] = self.ray.each_ref().map(|column| f64::from(column[i]));
            let [x, y, z, r] = self.sphere.each_ref().map(|column| f64::from(column[i]));
            let (offset, direction) = (DVec3::new(x - ox, y - oy, z - oz), DVec3::new(dx, dy, dz));
            self.store::<true>(i, &DoubleRoots::of_offset(offset, direction, r, 0.0).as_sphere_roots());
        }
    }
}

multiversion! {
    /// Intersects a pair batch with error-free corrections, without bounds.
    intersect_compensated_batch, (batch: &mut PairBatch) -> u32, |lanes| {
        batch.solve::<false, false, false>();
        batch.possible_hits::<_, false>(lanes)
    }
}
multiversion! {
    /// Intersects a pair batch in f64 with bounds.
    intersect_bounded_batch, (batch: &mut PairBatch) -> u32, |lanes| {
        batch.solve_double();
        batch.possible_hits::<_, true>(lanes)
    }
}
multiversion! {
    /// Intersects a pair batch of ellipsoids with error-free corrections, without bounds: only `Precision::Exact` needs bounds, and it is
    /// refused for ellipsoids. The result of a pair with relative direction zero is meaningless.
    intersect_compensated_ellipsoids, (batch: &mut PairBatch), |_lanes| batch.solve::<true, true, false>()
}
multiversion! {
    /// Intersects a batch of moving pairs with error-free corrections, without bounds. The result of a pair with relative direction zero is
    /// meaningless.
    intersect_compensated_moving, (batch: &mut PairBatch), |_lanes| batch.solve::<true, false, false>()
}
multiversion! {
    /// Intersects a batch of moving pairs with error-free corrections and bounds. The result of a pair with relative direction zero is
    /// meaningless.
    intersect_bounded_moving, (batch: &mut PairBatch), |_lanes| batch.solve::<true, false, true>()
}

#[cfg(test)]
#[path = "sphere_soa_tests.rs"]
mod tests;
