//! Recording, submitting and waiting.

use super::counters::Tally;
use super::{Device, health};
use crate::error::DeviceError;
use crate::trace::{self, SpanKind};
use zippy_base::process::catch_expected;

/// What was recorded is submitted at the latest after so many records, unless messages are still sent from
/// chunks. The device begins early, and
/// pools of command buffers stay small: drivers clear all of a pool after each of its submissions, and wgpu takes two command
/// buffers for a pass.
const MOST_RECORDS: u32 = 32;

/// Most unfinished submissions of a device. Each one keeps about ten kilobytes of host memory, and
/// a program may submit faster than its device computes.
const MOST_IN_FLIGHT: usize = 64;

impl Device {
    /// Records commands into the pending encoder; they are sure to run after [`Device::flush`] only. Commands run in the
    /// order in which they were recorded.
    ///
    /// A nested call from within `f` records *before* what `f` still records.
    pub fn record<R>(&self, f: impl FnOnce(&mut wgpu::CommandEncoder) -> R) -> R {
        let mut encoder = self.pending();
        let result = f(&mut encoder);
        self.keep_pending(encoder);
        self.keep_short();
        result
    }

    /// Submits what was recorded where it has become long; what is wrong with it is told by the next check.
    fn keep_short(&self) {
        let recorded = self.logical().recorded.get() + 1;
        self.logical().recorded.set(recorded);
        // What is recorded may use chunks that are lent.
        if recorded >= MOST_RECORDS && self.take_back() {
            let pending = self.logical().encoder.borrow_mut().take();
            pending.into_iter().for_each(|encoder| self.submit(encoder));
        }
    }

    fn pending(&self) -> wgpu::CommandEncoder {
        let pending = self.logical().encoder.borrow_mut().take();
        pending.unwrap_or_else(|| self.raw().create_command_encoder(&Default::default()))
    }

    fn keep_pending(&self, encoder: wgpu::CommandEncoder) {
        let nested = self.logical().encoder.borrow_mut().replace(encoder);
        if let Some(nested) = nested {
            self.submit(nested);
        }
    }

    fn submit(&self, encoder: wgpu::CommandEncoder) {
        let _span = trace::span(SpanKind::Kernel, || trace::queued_text("submitting", "commands", false));
        let logical = self.logical();
        let submission = logical.queue.submit([encoder.finish()]);
        logical.recorded.set(0);
        let oldest = {
            let mut in_flight = logical.in_flight.borrow_mut();
            in_flight.push_back(submission);
            if in_flight.len() > MOST_IN_FLIGHT { in_flight.pop_front() } else { None }
        };
        logical.epoch.set(logical.epoch.get() + 1);
        Tally::add(&logical.memory.tally.submissions);
        if let Some(oldest) = oldest
            && let Err(error) = self.poll_once(wgpu::PollType::Wait { submission_index: Some(oldest), timeout: None })
        {
            tracing::error!("waiting for an earlier submission failed: {error}");
        }
    }

    /// Submits what was recorded and does not wait. Free when nothing was recorded.
    ///
    /// # Errors
    /// What was recorded is invalid, the device is lost, or an error of an earlier call has not been told yet.
    pub fn flush(&self) -> Result<(), DeviceError> {
        if self.logical().encoder.borrow().is_some() {
            self.check_in_place()?;
        }
        let pending = self.logical().encoder.borrow_mut().take();
        let Some(encoder) = pending else { return self.check("flush") };
        self.checked("submitting recorded work", || self.submit(encoder))
    }

    /// Submits what was recorded and waits until the device is idle. Free when there is nothing to wait for.
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

    /// Lets wgpu run its callbacks; with a waiting `poll_type` after the work submitted so far is done.
    pub(super) fn poll(&self, poll_type: wgpu::PollType) -> Result<(), DeviceError> {
        self.check("polling the device")?;
        self.poll_once(poll_type)?;
        self.check("polling the device")
    }

    /// Polls wgpu once, without a check of earlier work: the next check returns its errors.
    ///
    /// # Errors
    /// The wait fails. A device that is lost in the meantime is an error of the next check.
    fn poll_once(&self, poll_type: wgpu::PollType) -> Result<(), DeviceError> {
        let waits = matches!(poll_type, wgpu::PollType::Wait { .. });
        let _span =
            waits.then(|| trace::span(SpanKind::Kernel, || trace::queued_text("waiting for", "the device", true)));
        // wgpu panics where a poll finds the device lost; that is an error of ours.
        let poll = || {
            let health = &self.logical().health;
            assert!(!health.poll_panics(), "{}", health::LOST_IN_POLL);
            self.raw().poll(poll_type)
        };
        match catch_expected(poll) {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(DeviceError::Other(format!("waiting for {} failed: {error}", self.adapter()))),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string()));
                self.logical().health.lose(text.unwrap_or_else(|| "the driver failed while being polled".into()));
                Ok(())
            }
        }
    }
}
