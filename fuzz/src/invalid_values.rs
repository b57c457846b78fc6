//! Well-formed recordings and answers with invalid values.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use zippy_protocol::recording::Writer;
use zippy_protocol::{Answer, Recorded, frame};

use crate::messages;
use crate::mutate::Random;
use crate::samples::{Encoding, Sample, SampleFile};

/// Numbers at the limits of their types.
const LIMITS: [i64; 16] =
    [0, 1, 2, -1, 3, 7, 255, 256, 65_535, 1 << 31, 1 << 40, 1 << 60, (1 << 60) + 1, i64::MAX - 1, i64::MAX, i64::MIN];

fn change(value: &mut Value, random: &mut Random) {
    let descend = random.below(8) > 0;
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let at = random.below(fields.len());
            fields.values_mut().nth(at).into_iter().for_each(|field| change(field, random));
        }
        Value::Array(list) if descend && !list.is_empty() => {
            let at = random.below(list.len());
            change(&mut list[at], random);
        }
        Value::Array(list) => match random.below(4) {
            0 => list.clear(),
            1 => list.truncate(random.below(list.len() + 1)),
            2 => drop(list.pop()),
            _ => {
                let repeated = list.first().cloned().unwrap_or(json!(1));
                let count = 1 + random.below(12);
                list.extend(vec![repeated; count]);
            }
        },
        Value::Number(number) => {
            let limit = LIMITS[random.below(LIMITS.len())];
            *value = if number.is_f64() {
                json!([0.0, -1.0, 1e308, -1e308, 1e-320][random.below(5)])
            } else if random.below(4) == 0 {
                json!(u64::MAX)
            } else {
                json!(limit)
            };
        }
        Value::String(text) => {
            let texts = ["", "\u{1b}[2J\"", "a,b", "../x", "\u{202e}"];
            *text = if random.below(4) == 0 { "x".repeat(300) } else { texts[random.below(texts.len())].into() };
        }
        Value::Bool(flag) => *flag = !*flag,
        _ => *value = json!(LIMITS[random.below(LIMITS.len())]),
    }
}

/// Applies up to eight changes that the type of the value allows.
fn changed<T: Serialize + DeserializeOwned + Clone>(value: &T, random: &mut Random) -> T {
    let mut last = value.clone();
    for _ in 0..1 + random.below(8) {
        let Ok(mut tree) = serde_json::to_value(&last) else { return last };
        change(&mut tree, random);
        last = serde_json::from_value(tree).unwrap_or(last);
    }
    last
}

/// Encodes a recording without entries that are too long.
fn recorded(entries: &[Recorded]) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Ok(mut writer) = Writer::new(&mut bytes) {
        entries.iter().for_each(|entry| drop(writer.add(entry)));
    }
    bytes
}

pub(crate) fn recording(random: &mut Random) -> Vec<(String, Vec<u8>)> {
    let mut entries = messages::entries();
    for _ in 0..1 + random.below(3) {
        let at = random.below(entries.len());
        match random.below(8) {
            0 => drop(entries.remove(at)),
            1 => entries.insert(at, entries[random.below(entries.len())].clone()),
            _ => entries[at] = changed(&entries[at], random),
        }
        if entries.is_empty() {
            break;
        }
    }
    vec![("run.zrec".into(), recorded(&entries))]
}

/// Generates answers with up to four changes, sometimes in the wrong order.
pub(crate) fn answer(random: &mut Random) -> Vec<(String, Vec<u8>)> {
    let mut answers = messages::answers();
    for _ in 0..1 + random.below(4) {
        let at = random.below(answers.len());
        answers[at] = changed(&answers[at], random);
    }
    if random.below(8) == 0 {
        let (first, second) = (random.below(answers.len()), random.below(answers.len()));
        answers.swap(first, second);
    }
    vec![("answers.msg".into(), encoded(&answers).unwrap_or_default())]
}

fn encoded(answers: &[Answer]) -> Result<Vec<u8>, String> {
    frame::encode(&answers, frame::MOST_TOLD)
}

/// A valid recording. Mutations of its entries leave the checksums correct.
pub(crate) fn recordings() -> Result<Vec<Sample>, String> {
    let entries = messages::entries();
    let mut sections = vec![(Encoding::Plain, recorded(&[]))];
    for entry in &entries {
        sections.push((Encoding::Entry, frame::encode(entry, frame::MOST_TOLD)?[4..].to_vec()));
    }
    Ok(vec![vec![SampleFile { name: "run.zrec".into(), sections }]])
}

pub(crate) fn answers() -> Result<Vec<Sample>, String> {
    let payload = encoded(&messages::answers())?[4..].to_vec();
    Ok(vec![vec![SampleFile { name: "answers.msg".into(), sections: vec![(Encoding::Frame, payload)] }]])
}
