//! What a group's ranks have called: a fingerprint that rides in every message, and the last calls for the error that
//! names two of them.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt::{self, Display, Write};
use std::rc::Rc;

use serde::{Deserialize, Serialize};

/// So many calls are remembered as values.
const REMEMBERED: usize = 256;
/// A text is cut after so many bytes.
const TEXT_BYTES: usize = 600;

/// What a rank calls that has finished, beside what another one still calls.
pub(crate) const NOTHING_MORE: &str = "nothing more (its program has finished)";

/// This rank's calls in one group.
#[derive(Default)]
pub(crate) struct Calls {
    history: Cell<u64>,
    number: Cell<u64>,
    last: RefCell<VecDeque<RecordedCall>>,
}

struct RecordedCall {
    /// The fingerprint with this call.
    history: u64,
    /// The number of its first exchange.
    sequence: u64,
    text: CallText,
}

/// What a call reads as.
#[derive(Clone)]
pub(crate) enum CallText {
    /// A collective of a group: nothing is allocated for it, as it may cost no more than a message.
    Brief(Brief),
    /// Of anything else.
    Shared(Rc<dyn Display>),
}

impl Display for CallText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Brief(call) => call.fmt(f),
            Self::Shared(text) => text.fmt(f),
        }
    }
}

/// A collective of a group and the argument that must agree.
#[derive(Clone, Copy)]
pub(crate) struct Brief {
    name: &'static str,
    argument: Option<(&'static str, usize)>,
}

impl Brief {
    pub(crate) fn new(name: &'static str) -> Self {
        Self { name, argument: None }
    }

    pub(crate) fn of(self, argument: &'static str, value: usize) -> Self {
        Self { argument: Some((argument, value)), ..self }
    }

    /// A name has one argument, always the same one.
    pub(crate) fn signature(self) -> u64 {
        let value = self.argument.map_or(0, |(_, value)| value as u64);
        self.name.as_bytes().chunks(8).fold(value, |all, part| {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            mixed(all, u64::from_le_bytes(word))
        })
    }
}

impl Display for Brief {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        match self.argument {
            Some((argument, value)) => write!(f, "({argument} {value})"),
            None => f.write_str("()"),
        }
    }
}

/// A call as another rank is told of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Told {
    /// Its place among its rank's calls.
    number: u64,
    history: u64,
    sequence: u64,
    pub text: String,
    /// The same with all that could differ, cuts and owners among it.
    detail: String,
}

impl Told {
    /// Whether it is the next call.
    pub(crate) fn follows(&self, last: Option<&Self>) -> bool {
        self.number == last.map_or(0, |last| last.number + 1)
    }
}

impl Calls {
    /// Of a group that is made by a call with this fingerprint.
    pub(crate) fn from(history: u64) -> Self {
        Self { history: Cell::new(history), ..Self::default() }
    }

    /// The fingerprint of all calls so far.
    pub(crate) fn history(&self) -> u64 {
        self.history.get()
    }

    /// How many there are.
    pub(crate) fn number(&self) -> u64 {
        self.number.get()
    }

    /// The fingerprint of the first so many calls, if it is remembered.
    pub(crate) fn history_of(&self, calls: u64) -> Option<u64> {
        let last = self.last.borrow();
        match self.number.get().checked_sub(calls)? {
            0 => Some(self.history.get()),
            ago => last.len().checked_sub(ago as usize + 1).map(|place| last[place].history),
        }
    }

    /// The last one.
    pub(crate) fn last_text(&self) -> String {
        self.last.borrow().back().map_or_else(|| "a receive".into(), |call| bounded(format_args!("{}", call.text)))
    }

    /// Adds a call. `signature` is a fingerprint of all arguments that must agree.
    pub(crate) fn add(&self, signature: u64, sequence: u64, text: CallText) {
        let history = mixed(mixed(self.history.get(), signature), sequence);
        self.history.set(history);
        self.number.set(self.number.get() + 1);
        let mut last = self.last.borrow_mut();
        let forgotten = if last.len() == REMEMBERED { last.pop_front() } else { None };
        last.push_back(RecordedCall { history, sequence, text });
        // Its text may be anything.
        drop(last);
        drop(forgotten);
    }

    /// Forgets all but the last ones.
    pub(crate) fn forget_all_but(&mut self, kept: usize) {
        let last = self.last.get_mut();
        last.drain(..last.len().saturating_sub(kept));
        last.shrink_to_fit();
    }

    /// The last calls, for another rank.
    pub(crate) fn told(&self) -> Vec<Told> {
        let last = self.last.borrow();
        let first = self.number.get() - last.len() as u64;
        let tell = |(number, call): (u64, &RecordedCall)| Told {
            number,
            history: call.history,
            sequence: call.sequence,
            text: bounded(format_args!("{}", call.text)),
            detail: bounded(format_args!("{:#}", call.text)),
        };
        (first..).zip(last.iter()).map(tell).collect()
    }
}

/// A fingerprint of two: signatures are hashes already, so a few operations do (the end of MurmurHash3).
pub(crate) fn mixed(history: u64, more: u64) -> u64 {
    let mut bits = history.rotate_left(29) ^ more;
    bits = (bits ^ bits >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    bits = (bits ^ bits >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    bits ^ bits >> 33
}

/// A text that is not longer than people read.
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

/// The texts of the last calls, where it is known that calls differ and no longer which.
pub(crate) fn last_calls(own: &[Told], other: &[Told]) -> (String, String) {
    let text = |calls: &[Told]| match calls.last() {
        Some(last) => format!("{} (its call {}, some time after calls that differed)", last.text, last.number + 1),
        None => "nothing".to_owned(),
    };
    (text(own), text(other))
}

/// The texts of the first calls that differ, where the calls do; `None` where one rank is only further than the other.
pub(crate) fn first_difference(own: &[Told], other: &[Told]) -> Option<(String, String)> {
    let (first, other_first) = (own.first()?.number, other.first()?.number);
    let start = first.max(other_first);
    let from = |calls: &[Told], first: u64| calls.get((start - first) as usize..).unwrap_or_default().to_vec();
    let (own, other) = (from(own, first), from(other, other_first));
    let place = own.iter().zip(&other).position(|(own, other)| own.history != other.history)?;
    let (own, other) = (&own[place], &other[place]);
    let texts = match () {
        () if own.text != other.text => (own.text.clone(), other.text.clone()),
        () if own.detail != other.detail => (own.detail.clone(), other.detail.clone()),
        // What is remembered may begin after the first difference.
        () if own.sequence == other.sequence => {
            let text = |call: &Told| format!("{}, after calls that differed and are no longer remembered", call.text);
            (text(own), text(other))
        }
        () => {
            let text = |call: &Told| format!("{} (exchange {} of its group)", call.text, call.sequence);
            (text(own), text(other))
        }
    };
    Some(texts)
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
        let all =
            names.iter().flat_map(|&name| (0..40).map(move |value| Brief::new(name).of("bytes", value).signature()));
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
    fn the_first_calls_that_differ_are_named() {
        let difference =
            |own: &[&'static str], other: &[&'static str]| first_difference(&calls(own).told(), &calls(other).told());
        assert_eq!(difference(&["a", "b", "c"], &["a", "b", "c"]), None);
        assert_eq!(difference(&["a", "b", "c"], &["a", "b"]), None, "it may follow");
        assert_eq!(difference(&["a", "b", "c"], &["a", "c"]), Some(("b".into(), "c".into())));
        assert_eq!(difference(&["a", "b", "c"], &["b", "b", "c"]), Some(("a".into(), "b".into())));
        assert_eq!(difference(&["a"], &[]), None);
    }

    #[test]
    fn earlier_fingerprints_are_remembered_for_a_while() {
        let calls = Calls::default();
        let mut histories = vec![calls.history()];
        for number in 0..REMEMBERED as u64 + 10 {
            calls.add(number, number, shared("call"));
            histories.push(calls.history());
        }
        for (number, &history) in histories.iter().enumerate() {
            let found = calls.history_of(number as u64);
            assert_eq!(found, (number > 10).then_some(history), "{number}");
        }
        assert_eq!(calls.history_of(histories.len() as u64), None);
    }

    #[test]
    fn what_is_forgotten_is_said_to_be() {
        let many = |first: &'static str| calls(&[&[first][..], &["same"; REMEMBERED + 5]].concat()).told();
        let (own, other) = first_difference(&many("a"), &many("b")).unwrap();
        assert_eq!(own, other);
        assert!(own.starts_with("same") && own.ends_with("no longer remembered"), "{own}");
        assert_eq!(first_difference(&many("a"), &many("a")), None);
        // One rank is so far ahead that no call is remembered by both.
        assert_eq!(first_difference(&many("a"), &calls(&["a"]).told()), None);
    }

    #[test]
    fn long_texts_are_cut() {
        let own = Calls::default();
        own.add(7, 3, shared("ä".repeat(1000)));
        let calls = own.told();
        assert!(calls[0].text.len() <= TEXT_BYTES + 5 && calls[0].text.ends_with('…'));
        let (last, none) = last_calls(&calls, &[]);
        assert!(last.contains("(its call 1,") && none == "nothing", "{last}, {none}");
    }
}
