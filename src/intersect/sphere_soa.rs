//! Pairs of a ray and a sphere solved side by side: the very functions of `sphere.rs` in a loop without branches, which the
//! compiler turns into vectors. Rounding is the same in every lane, and nothing is fused, so a pair's bits are those it has alone.
//! One by one a solve spends most of its time waiting for its own results.

use glam::Vec3;

use super::ellipsoid::{Map, mapped};
use super::motion::{Moves, Target, scale_moving};
use super::sphere::{Scaled, Solved, scale, solve_fast_way, solve_standard_way};
use crate::math::simd::lanes::Lanes;
use crate::math::simd::level::{Level, dispatch};
use crate::query::policy::Precision;
use crate::records::{Ray, Sphere};

/// Pairs solved at once.
pub(crate) const LOT: usize = 16;

type Lane = [f32; LOT];

/// Pairs as columns, and what they are solved to.
#[derive(Default)]
pub(crate) struct Lot {
    ray: [Lane; 6],
    sphere: [Lane; 4],
    /// Velocity, time, radius, what the direction lacks, and 1 where t is time: of those that move alone.
    moves: [Lane; 9],
    /// The high and low parts of a matrix by rows: of ellipsoids alone.
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

    /// The same of a pair that moves: so do all others then.
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

    /// Solves pairs that move, or all of whose spheres are ellipsoids.
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

    /// What became of a pair; bounds at [`Precision::Exact`] alone, as nobody else asks for them.
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

    /// Pair `i`, scaled; with `M` it may move, with `E` its sphere is an ellipsoid besides.
    #[inline(always)]
    fn pair<const M: bool, const E: bool>(&self, i: usize) -> Scaled {
        let [ox, oy, oz, dx, dy, dz] = self.ray.each_ref().map(|column| column[i]);
        let [x, y, z, r] = self.sphere.each_ref().map(|column| column[i]);
        // The ends do not matter to a solve.
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

    /// Solves all pairs, without bounds: in plain f32, or with error-free corrections where `STANDARD`. A solver that is passed as a
    /// function is called once per pair, and not vectorised.
    #[inline(always)]
    fn solve_plain<const M: bool, const E: bool, const STANDARD: bool>(&mut self) {
        for i in 0..LOT {
            let pair = self.pair::<M, E>(i);
            let solved = if STANDARD { solve_standard_way::<M>(&pair) } else { solve_fast_way::<M>(&pair) };
            (self.disc[i], self.enter[i], self.exit[i]) = (solved.disc, solved.t_enter, solved.t_exit);
        }
    }

    /// Solves all pairs with error-free corrections, with bounds.
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
    /// Solves a lot in plain f32, without bounds.
    solve_fast_lot, (lot: &mut Lot)
}
dispatch! {
    /// Solves a lot with error-free corrections, without bounds.
    solve_standard_lot, (lot: &mut Lot)
}
dispatch! {
    /// The same with bounds.
    solve_bounded_lot, (lot: &mut Lot)
}
dispatch! {
    /// Solves a lot of ellipsoids in plain f32, without bounds. What keeps its distance comes out as nonsense.
    solve_fast_ellipsoids, (lot: &mut Lot)
}
dispatch! {
    /// The same with error-free corrections. Nobody asks for bounds.
    solve_standard_ellipsoids, (lot: &mut Lot)
}
dispatch! {
    /// The three of pairs that move. What keeps its distance comes out as nonsense.
    solve_fast_moving, (lot: &mut Lot)
}
dispatch! {
    /// See there.
    solve_standard_moving, (lot: &mut Lot)
}
dispatch! {
    /// See there.
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
