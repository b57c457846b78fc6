//! [`Calls`]: record of a rank's calls in one group. Every message contains a fingerprint of all
//! calls. The last calls are kept for errors about calls that differ.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt::{self, Display, Write};
use std::rc::Rc;

use serde::{Deserialize, Serialize};

const KEPT_CALLS: usize = 256;
const TEXT_BYTES: usize = 600;

pub(crate) const NOTHING_MORE: &str = "nothing more (its program has finished)";

#[derive(Default)]
pub(crate) struct Calls {
    fingerprint: Cell<u64>,
    number: Cell<u64>,
    last: RefCell<VecDeque<RecordedCall>>,
}

struct RecordedCall {
    /// Fingerprint of all calls up to this call, inclusive.
    fingerprint: u64,
    sequence: u64,
    text: CallText,
}

#[derive(Clone)]
pub(crate) enum CallText {
    /// Collective of a group, without allocations: it may cost as little as one message.
    Collective(CollectiveCall),
    Shared(Rc<dyn Display>),
}

impl Display for CallText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Collective(call) => call.fmt(f),
            Self::Shared(text) => text.fmt(f),
        }
    }
}

/// Collective of a group, with its argument that must be equal on all ranks.
#[derive(Clone, Copy)]
pub(crate) struct CollectiveCall {
    name: &'static str,
    argument: Option<(&'static str, usize)>,
}

impl CollectiveCall {
    pub(crate) fn new(name: &'static str) -> Self {
        Self { name, argument: None }
    }

    pub(crate) fn argument(self, argument: &'static str, value: usize) -> Self {
        Self { argument: Some((argument, value)), ..self }
    }

    /// Fingerprint of name and value. The argument's name is determined by the collective's name.
    pub(crate) fn signature(self) -> u64 {
        let value = self.argument.map_or(0, |(_, value)| value as u64);
        self.name.as_bytes().chunks(8).fold(value, |all, part| {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            mixed(all, u64::from_le_bytes(word))
        })
    }
}

impl Display for CollectiveCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        match self.argument {
            Some((argument, value)) => write!(f, "({argument} {value})"),
            None => f.write_str("()"),
        }
    }
}

/// Call in the form that is sent to another rank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CallSummary {
    /// Index of the call in its rank's calls.
    number: u64,
    fingerprint: u64,
    sequence: u64,
    pub text: String,
    /// The text with all arguments that may differ, such as cuts and owners.
    detail: String,
}

impl CallSummary {
    /// True if this is the call directly after `last`, or the first call for `None`.
    pub(crate) fn follows(&self, last: Option<&Self>) -> bool {
        self.number == last.map_or(0, |last| last.number + 1)
    }
}

impl Calls {
    /// Record of a group created by a call with this fingerprint.
    pub(crate) fn from(fingerprint: u64) -> Self {
        Self { fingerprint: Cell::new(fingerprint), ..Self::default() }
    }

    pub(crate) fn fingerprint(&self) -> u64 {
        self.fingerprint.get()
    }

    pub(crate) fn number(&self) -> u64 {
        self.number.get()
    }

    /// Fingerprint of the first `calls` calls, if it is still recorded.
    pub(crate) fn fingerprint_after(&self, calls: u64) -> Option<u64> {
        let last = self.last.borrow();
        match self.number.get().checked_sub(calls)? {
            0 => Some(self.fingerprint.get()),
            ago => last.len().checked_sub(ago as usize + 1).map(|index| last[index].fingerprint),
        }
    }

    pub(crate) fn last_text(&self) -> String {
        self.last.borrow().back().map_or_else(|| "a receive".into(), |call| bounded(format_args!("{}", call.text)))
    }

    /// Records a call. `signature` is a fingerprint of all arguments that must be equal on all
    /// ranks; `sequence` is the number of the call's first exchange.
    pub(crate) fn add(&self, signature: u64, sequence: u64, text: CallText) {
        let fingerprint = mixed(mixed(self.fingerprint.get(), signature), sequence);
        self.fingerprint.set(fingerprint);
        self.number.set(self.number.get() + 1);
        let mut last = self.last.borrow_mut();
        let forgotten = if last.len() == KEPT_CALLS { last.pop_front() } else { None };
        last.push_back(RecordedCall { fingerprint, sequence, text });
        // Dropping a text may run code that uses this record.
        drop(last);
        drop(forgotten);
    }

    pub(crate) fn keep_last(&mut self, kept: usize) {
        let last = self.last.get_mut();
        last.drain(..last.len().saturating_sub(kept));
        last.shrink_to_fit();
    }

    pub(crate) fn summaries(&self) -> Vec<CallSummary> {
        let last = self.last.borrow();
        let first = self.number.get() - last.len() as u64;
        let summary = |(number, call): (u64, &RecordedCall)| CallSummary {
            number,
            fingerprint: call.fingerprint,
            sequence: call.sequence,
            text: bounded(format_args!("{}", call.text)),
            detail: bounded(format_args!("{:#}", call.text)),
        };
        (first..).zip(last.iter()).map(summary).collect()
    }
}

/// Combines a fingerprint with another number. Signatures are hashes already, so the finaliser of
/// MurmurHash3 suffices.
pub(crate) fn mixed(fingerprint: u64, more: u64) -> u64 {
    let mut bits = fingerprint.rotate_left(29) ^ more;
    bits = (bits ^ bits >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    bits = (bits ^ bits >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    bits ^ bits >> 33
}

fn bounded(text: fmt::Arguments<'_>) -> String {
    struct Bounded(String);
    impl Write for Bounded {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0.push_str(text);
            if self.0.len() <= TEXT_BYTES { Ok(()) } else { Err(fmt::Error) }
        }
    }
    let mut out = Bounded(String::new());
    if out.write_fmt(text).is_err() {
        let end = (0..=TEXT_BYTES.min(out.0.len())).rev().find(|&end| out.0.is_char_boundary(end));
        out.0.truncate(end.unwrap_or(0));
        out.0.push_str(" …");
    }
    out.0
}

/// Texts of the last calls of two ranks without a recorded difference.
pub(crate) fn last_calls(own: &[CallSummary], other: &[CallSummary]) -> (String, String) {
    let text = |calls: &[CallSummary]| match calls.last() {
        Some(last) => format!("{} (its call {}, some time after calls that differed)", last.text, last.number + 1),
        None => "nothing".to_owned(),
    };
    (text(own), text(other))
}

/// Texts of the first recorded calls that differ between two ranks. `None` if one rank has only
/// made more calls.
pub(crate) fn first_different_calls(own: &[CallSummary], other: &[CallSummary]) -> Option<(String, String)> {
    let (first, other_first) = (own.first()?.number, other.first()?.number);
    let start = first.max(other_first);
    let from = |calls: &[CallSummary], first: u64| calls.get((start - first) as usize..).unwrap_or_default().to_vec();
    let (own, other) = (from(own, first), from(other, other_first));
    let index = own.iter().zip(&other).position(|(own, other)| own.fingerprint != other.fingerprint)?;
    let (own, other) = (&own[index], &other[index]);
    if own.text != other.text {
        return Some((own.text.clone(), other.text.clone()));
    }
    if own.detail != other.detail {
        return Some((own.detail.clone(), other.detail.clone()));
    }
    let same_exchange = own.sequence == other.sequence;
    let text = |call: &CallSummary| {
        if same_exchange {
            format!("{}, after calls that differed and are no longer remembered", call.text)
        } else {
            format!("{} (exchange {} of its group)", call.text, call.sequence)
        }
    };
    Some((text(own), text(other)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(text: impl Display + 'static) -> CallText {
        CallText::Shared(Rc::new(text))
    }

    #[test]
    fn collectives_differ_by_name_and_argument() {
        let names = ["barrier", "broadcast", "gather", "all_gather_v", "all_to_all_v", "all_reduce", "all_reduce_max"];
        let all = names
            .iter()
            .flat_map(|&name| (0..40).map(move |value| CollectiveCall::new(name).argument("bytes", value).signature()));
        let all: Vec<u64> = all.collect();
        assert_eq!(all.iter().collect::<std::collections::BTreeSet<_>>().len(), all.len());
    }

    fn calls(texts: &[&'static str]) -> Calls {
        let calls = Calls::default();
        for (sequence, text) in texts.iter().enumerate() {
            calls.add(text.as_bytes()[0].into(), sequence as u64, shared(*text));
        }
        calls
    }

    #[test]
    fn first_different_calls_are_returned() {
        let difference = |own: &[&'static str], other: &[&'static str]| {
            first_different_calls(&calls(own).summaries(), &calls(other).summaries())
        };
        assert_eq!(difference(&["a", "b", "c"], &["a", "b", "c"]), None);
        assert_eq!(difference(&["a", "b", "c"], &["a", "b"]), None, "it may follow");
        assert_eq!(difference(&["a", "b", "c"], &["a", "c"]), Some(("b".into(), "c".into())));
        assert_eq!(difference(&["a", "b", "c"], &["b", "b", "c"]), Some(("a".into(), "b".into())));
        assert_eq!(difference(&["a"], &[]), None);
    }

    #[test]
    fn fingerprint_after_is_known_for_recorded_calls() {
        let calls = Calls::default();
        let mut fingerprints = vec![calls.fingerprint()];
        for number in 0..KEPT_CALLS as u64 + 10 {
            calls.add(number, number, shared("call"));
            fingerprints.push(calls.fingerprint());
        }
        for (number, &fingerprint) in fingerprints.iter().enumerate() {
            let found = calls.fingerprint_after(number as u64);
            assert_eq!(found, (number > 10).then_some(fingerprint), "{number}");
        }
        assert_eq!(calls.fingerprint_after(fingerprints.len() as u64), None);
    }

    #[test]
    fn difference_before_recorded_calls_is_reported_as_such() {
        let many = |first: &'static str| calls(&[&[first][..], &["same"; KEPT_CALLS + 5]].concat()).summaries();
        let (own, other) = first_different_calls(&many("a"), &many("b")).unwrap();
        assert_eq!(own, other);
        assert!(own.starts_with("same") && own.ends_with("no longer remembered"), "{own}");
        assert_eq!(first_different_calls(&many("a"), &many("a")), None);
        // No call is recorded by both ranks.
        assert_eq!(first_different_calls(&many("a"), &calls(&["a"]).summaries()), None);
    }

    #[test]
    fn long_texts_are_truncated() {
        let own = Calls::default();
        own.add(7, 3, shared("ä".repeat(1000)));
        let calls = own.summaries();
        assert!(calls[0].text.len() <= TEXT_BYTES + 5 && calls[0].text.ends_with('…'));
        let (last, none) = last_calls(&calls, &[]);
        assert!(last.contains("(its call 1,") && none == "nothing", "{last}, {none}");
    }
}
