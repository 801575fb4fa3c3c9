//! Dispatches one after the other, in submissions short enough for desktops and watchdogs.

use std::collections::VecDeque;

use wgpu::{BindGroup, Buffer, CommandEncoder, ComputePipeline, SubmissionIndex};

use super::device::GpuContext;
use crate::error::Result;
use crate::runtime::cancel::Watch;

/// Threads a workgroup: `THREADS` of `shaders/build/common.wgsl`.
pub(crate) const THREADS: u32 = 256;

/// Workgroups in a row of a dispatch of two dimensions: `WIDE` of `shaders/build/common.wgsl`. So few that tests have more rows than one, so
/// many that 2²⁸ spheres have fewer than 65,536.
const WIDE: u32 = 64;

/// Submissions that wait for the device.
const AHEAD: usize = 2;

/// Threads that a submission starts, in software and on GPUs: at some 0.6 µs and 3 ns a thread both take about a tenth of a second.
const BUDGET: [u64; 2] = [1 << 18, 1 << 25];

/// How many workgroups.
pub(crate) enum Groups<'a> {
    Told(u32),
    /// Three words of a buffer, from a byte on.
    Found(&'a Buffer, u64),
}

/// What is being recorded, and what is under way.
pub(crate) struct Steps<'a> {
    gpu: &'a GpuContext,
    encoder: Option<CommandEncoder>,
    weight: u64,
    sent: VecDeque<SubmissionIndex>,
    /// Stops it between submissions.
    pub(crate) watch: Watch,
}

impl<'a> Steps<'a> {
    pub(crate) fn new(gpu: &'a GpuContext) -> Self {
        Self { gpu, encoder: None, weight: 0, sent: VecDeque::new(), watch: Watch::new() }
    }

    /// Adds a dispatch that starts about so many threads.
    pub(crate) async fn dispatch(
        &mut self,
        pipeline: &ComputePipeline,
        group: &BindGroup,
        groups: Groups<'_>,
        threads: u64,
    ) -> Result<()> {
        let budget = BUDGET[usize::from(!self.gpu.is_software())];
        if self.weight + threads > budget {
            self.submit().await?;
        }
        self.weight += threads;
        let mut encoder = self.encoder.take();
        let recorded = self
            .gpu
            .scoped(|| {
                let encoder =
                    encoder.get_or_insert_with(|| self.gpu.device.create_command_encoder(&Default::default()));
                let mut pass = encoder.begin_compute_pass(&Default::default());
                pass.set_pipeline(pipeline);
                pass.set_bind_group(0, group, &[]);
                match groups {
                    Groups::Told(groups) => pass.dispatch_workgroups(groups.min(WIDE), groups.div_ceil(WIDE), 1),
                    Groups::Found(buffer, offset) => pass.dispatch_workgroups_indirect(buffer, offset),
                }
            })
            .await;
        self.encoder = encoder;
        recorded
    }

    /// Hands over what is recorded; waits for what was handed over long before.
    async fn submit(&mut self) -> Result<()> {
        self.weight = 0;
        let Some(encoder) = self.encoder.take() else { return Ok(()) };
        self.watch.check()?;
        self.sent.push_back(self.gpu.scoped(|| self.gpu.queue.submit([encoder.finish()])).await?);
        if self.sent.len() > AHEAD
            && let Some(oldest) = self.sent.pop_front()
        {
            self.gpu.wait(oldest).await?;
        }
        Ok(())
    }

    /// Hands over the rest, and waits for all.
    pub(crate) async fn finish(&mut self) -> Result<()> {
        self.submit().await?;
        match self.sent.drain(..).next_back() {
            Some(last) => self.gpu.wait(last).await,
            None => Ok(()),
        }
    }
}
