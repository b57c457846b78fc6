//! [`RequestPacing`]: moving requests while settings change, and one of full quality at rest.

use std::time::{Duration, Instant};

use egui::Context;

use super::view::Request;

/// Time after the last change at which the picture is rendered at full quality.
const REST_TIME: Duration = Duration::from_millis(250);

/// Last request of a window, and time of its last change.
pub(super) struct RequestPacing<S> {
    last: Option<Request<S>>,
    changed_at: Option<Instant>,
}

impl<S: Clone + PartialEq> RequestPacing<S> {
    pub(super) fn new() -> Self {
        Self { last: None, changed_at: None }
    }

    /// Returns the request for `settings` if it is new. While settings change, the request is
    /// moving, and `context` is repainted after [`REST_TIME`].
    pub(super) fn next(&mut self, context: &Context, settings: S, now: Instant) -> Option<Request<S>> {
        if self.last.as_ref().is_none_or(|last| last.settings != settings) {
            self.changed_at = Some(now);
        }
        let rest = REST_TIME.saturating_sub(self.changed_at.map_or(REST_TIME, |changed_at| now - changed_at));
        // The first picture has full resolution.
        let moving = self.last.is_some() && rest > Duration::ZERO;
        if moving {
            context.request_repaint_after(rest);
        }
        let request = Request { settings, moving };
        let is_new = self.last.as_ref() != Some(&request);
        is_new.then(|| self.last.insert(request).clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_settings_are_requested_moving_and_again_at_rest() {
        let (context, mut pacing, start) = (Context::default(), RequestPacing::new(), Instant::now());
        let mut next = |settings, secs| {
            let request = pacing.next(&context, settings, start + Duration::from_secs_f64(secs));
            request.map(|request| request.moving)
        };
        assert_eq!(next("first", 0.0), Some(false));
        assert_eq!(next("first", 1.0), None);
        assert_eq!(next("second", 1.1), Some(true));
        assert_eq!(next("second", 1.2), None);
        assert_eq!(next("second", 2.0), Some(false));
        assert_eq!(next("second", 2.1), None);
    }
}
