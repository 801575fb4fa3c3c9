//! Intersection of SoA batches of ray–sphere pairs: the functions of `sphere.rs` in a loop without branches, which the compiler vectorises.
//! Every lane rounds alike and no operation is fused, so each pair has the same bits as if it were intersected alone. A single pair spends
//! most of its time waiting for its own intermediate results.

use glam::Vec3;

use super::ellipsoid::{Map, mapped};
use super::motion::{Moves, Target, scale_moving};
use super::sphere::{Scaled, Solved, scale, solve_fast_way, solve_standard_way};
use crate::math::simd::lanes::Lanes;
use crate::math::simd::level::{Level, dispatch};
use crate::query::policy::Precision;
use crate::records::{Ray, Sphere};

/// Pairs per batch.
pub(crate) const LOT: usize = 16;

type Lane = [f32; LOT];

/// SoA batch of pairs, with their results.
#[derive(Default)]
pub(crate) struct Lot {
    ray: [Lane; 6],
    sphere: [Lane; 4],
    /// Velocity, time, radius of the ray, low part of its direction, and 1 where `t` is time. Set only for moving pairs.
    moves: [Lane; 9],
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
}

impl Lot {
    pub(crate) fn set(&mut self, i: usize, ray: &Ray, sphere: &Sphere) {
        let (o, d, c) = (ray.origin, ray.direction, sphere.center);
        self.ray.iter_mut().zip([o.x, o.y, o.z, d.x, d.y, d.z]).for_each(|(column, x)| column[i] = x);
        self.sphere.iter_mut().zip([c.x, c.y, c.z, sphere.radius]).for_each(|(column, x)| column[i] = x);
    }

    /// Sets a pair that may move. All other pairs of the batch must then be set by this function too.
    pub(crate) fn set_moving(&mut self, i: usize, ray: &Ray, target: &Target<'_>) {
        self.set(i, ray, target.sphere);
        let Moves { velocity: v, time, relative, radius, low } = target.moves.unwrap_or(Moves::NONE);
        let moves = [v.x, v.y, v.z, time, radius, low.x, low.y, low.z, f32::from(u8::from(relative))];
        self.moves.iter_mut().zip(moves).for_each(|(column, x)| column[i] = x);
        if let Some(Map { high, low, .. }) = target.map {
            let parts = high.as_flattened().iter().chain(low.as_flattened());
            self.map.iter_mut().zip(parts).for_each(|(column, x)| column[i] = *x);
        }
    }

    /// Intersects all pairs. They may move; with `ellipsoids`, all spheres are ellipsoids.
    pub(crate) fn solve_moving(&mut self, level: Level, precision: Precision, ellipsoids: bool) {
        match (precision, ellipsoids) {
            (Precision::Fast, true) => level.solve_fast_ellipsoids(self),
            (_, true) => level.solve_standard_ellipsoids(self),
            (Precision::Fast, _) => level.solve_fast_moving(self),
            (Precision::Standard, _) => level.solve_standard_moving(self),
            (Precision::Exact, _) => level.solve_bounded_moving(self),
        }
    }

    pub(crate) fn solve(&mut self, level: Level, precision: Precision) {
        match precision {
            Precision::Fast => level.solve_fast_lot(self),
            Precision::Standard => level.solve_standard_lot(self),
            Precision::Exact => level.solve_bounded_lot(self),
        }
    }

    /// Result of pair `i`. Its bounds are valid only after [`Precision::Exact`]; other precisions do not need them.
    pub(crate) fn solved(&self, i: usize) -> Solved {
        Solved {
            disc: self.disc[i],
            disc_bound: self.disc_bound[i],
            t_enter: self.enter[i],
            t_exit: self.exit[i],
            enter_bound: self.enter_bound[i],
            exit_bound: self.exit_bound[i],
            foot: self.foot[i],
            foot_bound: self.foot_bound[i],
        }
    }

    /// Scales pair `i`. With `M` it may move; with `M` and `E` its sphere is also an ellipsoid.
    #[inline(always)]
    fn pair<const M: bool, const E: bool>(&self, i: usize) -> Scaled {
        let [ox, oy, oz, dx, dy, dz] = self.ray.each_ref().map(|column| column[i]);
        let [x, y, z, r] = self.sphere.each_ref().map(|column| column[i]);
        // The roots do not depend on the ray's ends.
        let ray = Ray { origin: Vec3::new(ox, oy, oz), t_min: 0.0, direction: Vec3::new(dx, dy, dz), t_max: 0.0 };
        let sphere = Sphere { center: Vec3::new(x, y, z), radius: r };
        if !M {
            return scale(&ray, &sphere);
        }
        let [vx, vy, vz, time, radius, lx, ly, lz, relative] = self.moves.each_ref().map(|column| column[i]);
        let (velocity, low) = (Vec3::new(vx, vy, vz), Vec3::new(lx, ly, lz));
        let scaled = scale_moving(&ray, &sphere, &Moves { velocity, time, relative: relative != 0.0, radius, low });
        if !E {
            return scaled;
        }
        let rows = |first: usize| std::array::from_fn(|j| std::array::from_fn(|k| self.map[first + 3 * j + k][i]));
        mapped(&scaled, &Map { high: rows(0), low: rows(9), least: 0.0 })
    }

    /// Intersects all pairs without bounds: with error-free corrections if `STANDARD`, otherwise in plain f32. A solver passed as a
    /// function would be called once per pair and not be vectorised.
    #[inline(always)]
    fn solve_plain<const M: bool, const E: bool, const STANDARD: bool>(&mut self) {
        for i in 0..LOT {
            let pair = self.pair::<M, E>(i);
            let solved = if STANDARD { solve_standard_way::<M>(&pair) } else { solve_fast_way::<M>(&pair) };
            (self.disc[i], self.enter[i], self.exit[i]) = (solved.disc, solved.t_enter, solved.t_exit);
        }
    }

    /// Intersects all pairs with error-free corrections and bounds.
    #[inline(always)]
    fn solve_bounded<const M: bool>(&mut self) {
        for i in 0..LOT {
            let solved = solve_standard_way::<M>(&self.pair::<M, false>(i));
            (self.disc[i], self.disc_bound[i]) = (solved.disc, solved.disc_bound);
            (self.enter[i], self.enter_bound[i]) = (solved.t_enter, solved.enter_bound);
            (self.exit[i], self.exit_bound[i]) = (solved.t_exit, solved.exit_bound);
            (self.foot[i], self.foot_bound[i]) = (solved.foot, solved.foot_bound);
        }
    }
}

dispatch! {
    /// Intersects a pair batch in plain f32, without bounds.
    solve_fast_lot, (lot: &mut Lot)
}
dispatch! {
    /// Intersects a pair batch with error-free corrections, without bounds.
    solve_standard_lot, (lot: &mut Lot)
}
dispatch! {
    /// Intersects a pair batch with error-free corrections and bounds.
    solve_bounded_lot, (lot: &mut Lot)
}
dispatch! {
    /// Intersects a pair batch of ellipsoids in plain f32, without bounds. The result of a pair with relative direction zero is
    /// meaningless.
    solve_fast_ellipsoids, (lot: &mut Lot)
}
dispatch! {
    /// Intersects a pair batch of ellipsoids with error-free corrections, without bounds: only `Precision::Exact` needs bounds, and it is
    /// refused for ellipsoids. The result of a pair with relative direction zero is meaningless.
    solve_standard_ellipsoids, (lot: &mut Lot)
}
dispatch! {
    /// Intersects a batch of moving pairs in plain f32, without bounds. The result of a pair with relative direction zero is meaningless.
    solve_fast_moving, (lot: &mut Lot)
}
dispatch! {
    /// Intersects a batch of moving pairs with error-free corrections, without bounds. The result of a pair with relative direction zero is
    /// meaningless.
    solve_standard_moving, (lot: &mut Lot)
}
dispatch! {
    /// Intersects a batch of moving pairs with error-free corrections and bounds. The result of a pair with relative direction zero is
    /// meaningless.
    solve_bounded_moving, (lot: &mut Lot)
}

#[inline(always)]
fn solve_fast_lot(_: impl Lanes, lot: &mut Lot) {
    lot.solve_plain::<false, false, false>();
}

#[inline(always)]
fn solve_standard_lot(_: impl Lanes, lot: &mut Lot) {
    lot.solve_plain::<false, false, true>();
}

#[inline(always)]
fn solve_bounded_lot(_: impl Lanes, lot: &mut Lot) {
    lot.solve_bounded::<false>();
}

#[inline(always)]
fn solve_fast_moving(_: impl Lanes, lot: &mut Lot) {
    lot.solve_plain::<true, false, false>();
}

#[inline(always)]
fn solve_standard_moving(_: impl Lanes, lot: &mut Lot) {
    lot.solve_plain::<true, false, true>();
}

#[inline(always)]
fn solve_bounded_moving(_: impl Lanes, lot: &mut Lot) {
    lot.solve_bounded::<true>();
}

#[inline(always)]
fn solve_fast_ellipsoids(_: impl Lanes, lot: &mut Lot) {
    lot.solve_plain::<true, true, false>();
}

#[inline(always)]
fn solve_standard_ellipsoids(_: impl Lanes, lot: &mut Lot) {
    lot.solve_plain::<true, true, true>();
}

#[cfg(test)]
#[path = "sphere_soa_tests.rs"]
mod tests;
