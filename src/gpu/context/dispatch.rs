//! Records dispatches into submissions that are short enough for responsive desktops and driver watchdogs.

use std::collections::VecDeque;

use wgpu::{BindGroup, Buffer, CommandEncoder, ComputePass, ComputePipeline, SubmissionIndex};

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
#[derive(Clone)]
pub(crate) enum Groups {
    Known([u32; 2]),
    /// Indirect: three words of a buffer, from a byte offset on.
    Indirect(Buffer, u64),
}

impl Groups {
    /// Workgroups in rows, as the programs of a build number them.
    pub(crate) fn in_rows(groups: u32) -> Self {
        Self::Known([groups.min(ROW_GROUPS), groups.div_ceil(ROW_GROUPS)])
    }
}

/// One dispatch.
pub(crate) struct Step {
    pub(crate) pipeline: ComputePipeline,
    pub(crate) group: BindGroup,
    /// Dynamic offset of the parameters, if the layout has one.
    pub(crate) offset: Option<u32>,
    pub(crate) groups: Groups,
}

impl Step {
    pub(crate) fn record(&self, pass: &mut ComputePass<'_>) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, self.offset.as_slice());
        match &self.groups {
            Groups::Known([across, down]) => pass.dispatch_workgroups(*across, *down, 1),
            Groups::Indirect(buffer, offset) => pass.dispatch_workgroups_indirect(buffer, *offset),
        }
    }
}

/// Recorder of dispatches, with the submissions in flight.
pub(crate) struct DispatchQueue<'a> {
    gpu: &'a GpuContext,
    encoder: Option<CommandEncoder>,
    weight: u64,
    sent: VecDeque<SubmissionIndex>,
    /// If set, dispatches are collected here, and nothing is submitted.
    pub(crate) collected: Option<Vec<Step>>,
    /// Cancels the work between submissions.
    pub(crate) cancel: CancelToken,
}

impl<'a> DispatchQueue<'a> {
    pub(crate) fn new(gpu: &'a GpuContext) -> Self {
        Self { gpu, encoder: None, weight: 0, sent: VecDeque::new(), collected: None, cancel: CancelToken::new() }
    }

    /// Records a dispatch of about `threads` threads. If it would exceed the budget of one submission, submits the recorded dispatches
    /// first.
    pub(crate) async fn dispatch(
        &mut self,
        pipeline: &ComputePipeline,
        group: &BindGroup,
        groups: Groups,
        threads: u64,
    ) -> Result<()> {
        let step = Step { pipeline: pipeline.clone(), group: group.clone(), offset: None, groups };
        if let Some(steps) = &mut self.collected {
            steps.push(step);
            return Ok(());
        }
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
                step.record(&mut encoder.begin_compute_pass(&Default::default()));
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
