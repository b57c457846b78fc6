//! Recording of commands, submission to the queue, and waits.

use super::counters::AtomicCounters;
use super::{Device, health};
use crate::error::DeviceError;
use crate::trace::{self, SpanKind};
use zippy_base::process::catch_expected;

/// Maximum number of records in the pending encoder before it is submitted, unless messages are
/// being sent from chunks. The device starts early, and the pools of command buffers stay small:
/// drivers clear a whole pool after each submission, and wgpu uses two command buffers per pass.
const MAX_RECORDS: u32 = 32;

/// Maximum number of unfinished submissions. Each has about 10 kB of host memory, and a program can
/// submit faster than its device computes.
const MAX_IN_FLIGHT: usize = 64;

impl Device {
    /// Records commands into the pending encoder by calling `f`. [`Device::flush`] submits the
    /// encoder; commands run in the order of their records.
    ///
    /// The commands of a nested call inside `f` run before the commands of `f`.
    pub fn record<R>(&self, f: impl FnOnce(&mut wgpu::CommandEncoder) -> R) -> R {
        let mut encoder = self.take_encoder();
        let result = f(&mut encoder);
        self.put_encoder(encoder);
        self.submit_long_encoder();
        result
    }

    /// Submits the pending encoder if it has [`MAX_RECORDS`] records. The next check reports
    /// errors.
    fn submit_long_encoder(&self) {
        let records = self.logical().pending_records.get() + 1;
        self.logical().pending_records.set(records);
        // The recorded commands can use lent chunks.
        if records >= MAX_RECORDS && self.reclaim_chunks() {
            let pending = self.logical().encoder.borrow_mut().take();
            pending.into_iter().for_each(|encoder| self.submit(encoder));
        }
    }

    fn take_encoder(&self) -> wgpu::CommandEncoder {
        let pending = self.logical().encoder.borrow_mut().take();
        pending.unwrap_or_else(|| self.raw().create_command_encoder(&Default::default()))
    }

    fn put_encoder(&self, encoder: wgpu::CommandEncoder) {
        let nested = self.logical().encoder.borrow_mut().replace(encoder);
        if let Some(nested) = nested {
            self.submit(nested);
        }
    }

    fn submit(&self, encoder: wgpu::CommandEncoder) {
        let _span = trace::span(SpanKind::Kernel, || trace::queued_text("submitting", "commands", false));
        let logical = self.logical();
        let submission = logical.queue.submit([encoder.finish()]);
        logical.pending_records.set(0);
        let oldest = {
            let mut in_flight = logical.in_flight.borrow_mut();
            in_flight.push_back(submission);
            if in_flight.len() > MAX_IN_FLIGHT { in_flight.pop_front() } else { None }
        };
        logical.epoch.set(logical.epoch.get() + 1);
        AtomicCounters::increment(&logical.memory.counters.submissions);
        if let Some(oldest) = oldest
            && let Err(error) = self.poll_once(wgpu::PollType::Wait { submission_index: Some(oldest), timeout: None })
        {
            tracing::error!("waiting for an earlier submission failed: {error}");
        }
    }

    /// Submits the recorded commands without a wait. No cost if none are recorded.
    ///
    /// # Errors
    /// * A recorded command is invalid.
    /// * The device is lost.
    /// * An earlier call failed without a report.
    pub fn flush(&self) -> Result<(), DeviceError> {
        if self.logical().encoder.borrow().is_some() {
            self.check_no_chunk_lent()?;
        }
        let pending = self.logical().encoder.borrow_mut().take();
        let Some(encoder) = pending else { return self.check("flush") };
        self.checked("submitting recorded commands", || self.submit(encoder))
    }

    /// Submits the recorded commands and waits until the device is idle. No cost if it is idle.
    ///
    /// # Errors
    /// As [`Device::flush`].
    pub fn wait(&self) -> Result<(), DeviceError> {
        self.flush()?;
        if !self.logical().in_flight.borrow().is_empty() {
            self.poll(wgpu::PollType::wait_indefinitely())?;
            self.logical().in_flight.borrow_mut().clear();
        }
        self.check("waiting for the device")
    }

    /// Runs the callbacks of wgpu; with a waiting `poll_type`, after all submitted work is
    /// complete.
    pub(super) fn poll(&self, poll_type: wgpu::PollType) -> Result<(), DeviceError> {
        self.check("polling the device")?;
        self.poll_once(poll_type)?;
        self.check("polling the device")
    }

    /// Polls wgpu without a check: the next check reports errors and the loss of the device.
    ///
    /// # Errors
    /// The wait fails.
    fn poll_once(&self, poll_type: wgpu::PollType) -> Result<(), DeviceError> {
        let waits = matches!(poll_type, wgpu::PollType::Wait { .. });
        let _span =
            waits.then(|| trace::span(SpanKind::Kernel, || trace::queued_text("waiting for", "the device", true)));
        // wgpu panics if a poll finds the device lost.
        let poll = || {
            let health = &self.logical().health;
            assert!(!health.take_poll_panic(), "{}", health::LOST_IN_POLL_MESSAGE);
            self.raw().poll(poll_type)
        };
        match catch_expected(poll) {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(DeviceError::Other(format!("waiting for {} failed: {error}", self.adapter()))),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string()));
                self.logical().health.set_lost(text.unwrap_or_else(|| "the driver failed while being polled".into()));
                Ok(())
            }
        }
    }
}
