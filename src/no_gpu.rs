//! Stands for the folder `gpu` in builds without the feature of that name. There is no GPU: its types have no values, so that none of these
//! functions is ever called with one.

#[path = "gpu/probe.rs"]
pub(crate) mod probe;
#[path = "gpu/sphere_attributes.rs"]
pub(crate) mod sphere_attributes;

pub(crate) mod engine {
    use super::probe::Probe;
    use crate::error::Result;
    use crate::query::policy::Precision;

    pub(crate) enum GpuEngine {}

    impl GpuEngine {
        pub(crate) fn name(&self) -> &str {
            match *self {}
        }

        pub(crate) fn kind(&self) -> &'static str {
            match *self {}
        }

        pub(crate) fn probe(&self) -> &Probe {
            match *self {}
        }

        pub(crate) fn check_precision(&self, _: Precision) -> Result<()> {
            match *self {}
        }
    }
}

pub(crate) mod scene {
    use super::engine::GpuEngine;
    use crate::batch::sphere_set::SphereSet;
    use crate::error::Result;

    pub(crate) enum GpuScene {}

    impl GpuScene {
        pub(crate) async fn new(gpu: &GpuEngine, _: &SphereSet<'_>, _: bool) -> Result<Self> {
            match *gpu {}
        }

        pub(crate) async fn updated(&self, _: &GpuEngine, _: &SphereSet<'_>) -> Result<(Self, f64)> {
            match *self {}
        }

        pub(crate) async fn rebuilt(&self, _: &GpuEngine, _: &SphereSet<'_>) -> Result<Self> {
            match *self {}
        }

        pub(crate) fn bytes(gpu: &GpuEngine, _: u64) -> u64 {
            match *gpu {}
        }

        pub(crate) fn bytes_in_flight(_: u64, _: u64, _: u64) -> u64 {
            0
        }
    }
}

pub(crate) mod cast {
    pub(crate) mod readback {
        use crate::cpu::query::kind::RayQuery;

        pub(crate) trait ResultWriter {}

        pub(crate) struct RecordWriter<'a, Q: RayQuery>(&'a mut [Q::Record]);

        impl<'a, Q: RayQuery> RecordWriter<'a, Q> {
            pub(crate) fn new(out: &'a mut [Q::Record]) -> Self {
                Self(out)
            }
        }

        impl<Q: RayQuery> ResultWriter for RecordWriter<'_, Q> {}

        pub(crate) struct BitWriter<'a>(pub(crate) &'a mut [u32]);

        impl ResultWriter for BitWriter<'_> {}
    }

    pub(crate) mod resolve {
        use crate::cpu::query::kind::RayQuery;

        pub(crate) trait GpuQuery: RayQuery {
            const PAIRS_ON_GPU: bool = false;
        }
    }
}
