//! Records dispatches into submissions that are short enough for responsive desktops and driver watchdogs.

use std::collections::VecDeque;

use wgpu::{BindGroup, Buffer, CommandEncoder, ComputePipeline, SubmissionIndex};

use super::device::GpuContext;
use crate::error::Result;
use crate::runtime::cancel::CancelToken;

/// Threads per workgroup: `THREADS` of `shaders/build/common.wgsl`.
pub(crate) const THREADS: u32 = 256;

/// Workgroups per row of a two-dimensional dispatch: `ROW_GROUPS` of `shaders/build/common.wgsl`. Small enough that tests have more than
/// one row, large enough that 2²⁸ spheres have fewer than 65,536 rows.
const ROW_GROUPS: u32 = 64;

/// Maximum number of submissions in flight.
const MAX_QUEUED: usize = 2;

/// Threads per submission, on software adapters and on GPUs. At about 0.6 µs and 3 ns per thread, either takes about a tenth of a
/// second.
const SUBMISSION_THREADS: [u64; 2] = [1 << 18, 1 << 25];

/// Number of workgroups of a dispatch.
pub(crate) enum Groups<'a> {
    Known(u32),
    /// Indirect: three words of a buffer, from a byte offset on.
    Indirect(&'a Buffer, u64),
}

/// Recorder of dispatches, with the submissions in flight.
pub(crate) struct DispatchQueue<'a> {
    gpu: &'a GpuContext,
    encoder: Option<CommandEncoder>,
    weight: u64,
    sent: VecDeque<SubmissionIndex>,
    /// Cancels the work between submissions.
    pub(crate) cancel: CancelToken,
}

impl<'a> DispatchQueue<'a> {
    pub(crate) fn new(gpu: &'a GpuContext) -> Self {
        Self { gpu, encoder: None, weight: 0, sent: VecDeque::new(), cancel: CancelToken::new() }
    }

    /// Records a dispatch of about `threads` threads. If it would exceed the budget of one submission, submits the recorded dispatches
    /// first.
    pub(crate) async fn dispatch(
        &mut self,
        pipeline: &ComputePipeline,
        group: &BindGroup,
        groups: Groups<'_>,
        threads: u64,
    ) -> Result<()> {
        let budget = SUBMISSION_THREADS[usize::from(!self.gpu.is_software())];
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
                    Groups::Known(groups) => {
                        pass.dispatch_workgroups(groups.min(ROW_GROUPS), groups.div_ceil(ROW_GROUPS), 1)
                    }
                    Groups::Indirect(buffer, offset) => pass.dispatch_workgroups_indirect(buffer, offset),
                }
            })
            .await;
        self.encoder = encoder;
        recorded
    }

    /// Submits the recorded dispatches. Waits for the oldest submission if more than `MAX_QUEUED` are in flight.
    async fn submit(&mut self) -> Result<()> {
        self.weight = 0;
        let Some(encoder) = self.encoder.take() else { return Ok(()) };
        self.cancel.check()?;
        self.sent.push_back(self.gpu.scoped(|| self.gpu.queue.submit([encoder.finish()])).await?);
        if self.sent.len() > MAX_QUEUED
            && let Some(oldest) = self.sent.pop_front()
        {
            self.gpu.wait(oldest).await?;
        }
        Ok(())
    }

    /// Submits the rest, and waits for all submissions.
    pub(crate) async fn finish(&mut self) -> Result<()> {
        self.submit().await?;
        match self.sent.drain(..).next_back() {
            Some(last) => self.gpu.wait(last).await,
            None => Ok(()),
        }
    }
}
