//! The script interface: one JSON request and one JSON answer per line.

mod answers;
mod requests;
pub mod shot;

use std::io::{self, BufRead, ErrorKind, Read, Write};
use std::time::Duration;

use serde_json::{Value, json};
use zippy_protocol::{Answer, Control, Request, SummaryRequest, ViewRequest};

use self::requests::{ArrayName, Pick, ScriptRequest, SummaryRequestLine, ViewRequestLine, Wait, WaitFor};
use crate::client::Client;
use crate::imaging::{Quantity, VectorPart, locate};
use crate::session::State;

/// Maximum length of a line in bytes.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// Answers each line of `input` with a line on `output`, in the order of the input, until the end
/// of the input or until the output is closed. An error is also an answer: `{"error": …, "line":
/// …}`. Empty lines get no answer. Returns true if no answer was an error.
///
/// # Errors
/// A stream fails.
pub fn run(
    client: &mut Client,
    mut input: impl BufRead,
    mut output: impl Write,
    patience: Duration,
) -> io::Result<bool> {
    let (mut number, mut succeeded) = (0_u64, true);
    loop {
        let mut line = Vec::new();
        if input.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line)? == 0 {
            return Ok(succeeded);
        }
        number += 1;
        let whole = line.ends_with(b"\n") || (line.len() as u64) < MAX_LINE_BYTES;
        if line.iter().all(u8::is_ascii_whitespace) && whole {
            continue;
        }
        let answer = if whole {
            answer_line(client, &line, patience)
        } else {
            skip_rest_of_line(&mut input)?;
            Err(format!("a line has at most {MAX_LINE_BYTES} bytes"))
        };
        succeeded &= answer.is_ok();
        let answer = answer.unwrap_or_else(|text| json!({ "error": text, "line": number }));
        match writeln!(output, "{answer}").and_then(|()| output.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(succeeded),
            written => written?,
        }
    }
}

fn skip_rest_of_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let mut rest = Vec::new();
        if input.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut rest)? == 0 || rest.ends_with(b"\n") {
            return Ok(());
        }
    }
}

fn answer_line(client: &mut Client, line: &[u8], patience: Duration) -> Result<Value, String> {
    let line: ScriptRequest = serde_json::from_slice(line).map_err(|error| format!("this is no request: {error}"))?;
    Ok(match line {
        ScriptRequest::Program(_) => json!({ "program": answers::program(client) }),
        ScriptRequest::Point(_) => json!({ "point": client.point() }),
        ScriptRequest::Steps(_) => json!({ "steps": client.steps() }),
        ScriptRequest::Arrays(filter) => {
            let arrays = client.arrays()?.into_iter();
            let named = |name: &str| filter.name.as_ref().is_none_or(|part| name.contains(part.as_str()));
            json!({ "arrays": arrays.filter(|entry| named(&entry.name)).collect::<Vec<_>>() })
        }
        ScriptRequest::View(wanted) => json!({ "view": answer_view(client, wanted)? }),
        ScriptRequest::Pick(pick) => json!({ "pick": pick_cell(client, pick)? }),
        ScriptRequest::Summary(wanted) => json!({ "summary": answer_summary(client, wanted)? }),
        ScriptRequest::Ghosts(ghosts) => {
            let array = find_array(client, &ghosts.array)?.array;
            match client.ask(Request::Ghosts(array))? {
                Answer::Ghosts(ghosts) => json!({ "ghosts": ghosts }),
                _ => return Err(unexpected_answer()),
            }
        }
        ScriptRequest::Compare([first, second]) => {
            let (first, second) = (find_array(client, &first)?.array, find_array(client, &second)?.array);
            match client.ask(Request::Compare(first, second))? {
                Answer::Difference(found) => json!({ "compare": found }),
                _ => return Err(unexpected_answer()),
            }
        }
        ScriptRequest::Moves(_) => match client.ask(Request::Moves)? {
            Answer::Moves(moves) => json!({ "moves": moves }),
            _ => return Err(unexpected_answer()),
        },
        ScriptRequest::Timeline(since) => match client.ask(Request::Timeline(since.since))? {
            Answer::Timeline(timeline) => json!({ "timeline": timeline }),
            _ => return Err(unexpected_answer()),
        },
        ScriptRequest::Control(control) => control_program(client, control.into())?,
        ScriptRequest::Step(count) => control_program(client, Control::Step(count))?,
        ScriptRequest::GoTo(step) => {
            client.go_to(step)?;
            json!({ "point": client.point() })
        }
        ScriptRequest::Rules(rules) => {
            let rules = rules.into_iter().map(requests::rule).collect::<Result<_, _>>()?;
            match client.ask(Request::Rules(rules))? {
                Answer::Done => json!({ "rules": "done" }),
                _ => return Err(unexpected_answer()),
            }
        }
        ScriptRequest::Wait(wait) => wait_for(client, &wait, patience)?,
        ScriptRequest::Shot(shot) => json!({ "shot": shot.take(client)? }),
    })
}

fn unexpected_answer() -> String {
    "the program has answered something else".into()
}

fn find_array(client: &mut Client, name: &ArrayName) -> Result<zippy_protocol::ArrayEntry, String> {
    let (name, rank) = name.parts();
    client.array(name, rank)
}

fn control_program(client: &mut Client, control: Control) -> Result<Value, String> {
    match client.ask(Request::Control(control))? {
        Answer::Done => Ok(json!({ "control": "done", "point": client.point() })),
        _ => Err(unexpected_answer()),
    }
}

fn wait_for(client: &mut Client, wait: &Wait, patience: Duration) -> Result<Value, String> {
    let (event, seconds) = wait.parts();
    let patience = match seconds {
        None => patience,
        Some(seconds) => {
            Duration::try_from_secs_f64(seconds).map_err(|_| format!("{seconds} s is not a valid wait"))?
        }
    };
    match event {
        WaitFor::Paused => client.until_paused(patience).map(|point| json!({ "wait": "paused", "point": point })),
        WaitFor::End if !client.steps().is_empty() => {
            Err("a recording goes nowhere by itself: ask for its steps".into())
        }
        WaitFor::End => client.until_over(patience).map(|how| json!({ "wait": "end", "how": how })),
        WaitFor::Program => client.until_there(patience).map(|()| json!({ "wait": "program" })),
    }
}

fn answer_summary(client: &mut Client, wanted: SummaryRequestLine) -> Result<Value, String> {
    let entry = find_array(client, &wanted.array)?;
    let quantity = Quantity::named(&entry.element, wanted.component.as_deref())?;
    let range = wanted.range.map(|[low, high]| (low, high));
    let (bins, percentiles) = (wanted.bins, wanted.percentiles);
    // Without a component name, the answer contains all components.
    let length = wanted.component.is_some() && quantity.part == VectorPart::Length;
    let base_request = SummaryRequest::of(entry.array, quantity.numbers);
    let request = SummaryRequest { length, bins, range, percentiles, ..base_request };
    let Answer::Summary(mut found) = client.ask(Request::Summary(request))? else { return Err(unexpected_answer()) };
    if let (VectorPart::Component(component), true) = (quantity.part, wanted.component.is_some()) {
        let only = usize::from(component);
        found.components = found.components.drain(..).skip(only).take(1).collect();
    }
    Ok(answers::summary(&entry, &found))
}

fn answer_view(client: &mut Client, wanted: ViewRequestLine) -> Result<Value, String> {
    let entry = find_array(client, &wanted.array)?;
    let axes = entry.shape.len();
    let wrong = |name: &str, count: usize| format!("`{}` has {axes} axes, and the {name} has {count}", entry.name);
    if wanted.region.len() != axes {
        return Err(wrong("box", wanted.region.len()));
    }
    let stride = wanted.stride.unwrap_or_else(|| vec![1; axes]);
    if stride.len() != axes {
        return Err(wrong("stride", stride.len()));
    }
    if let Some(stride) = stride.iter().find(|&&stride| stride < 1) {
        return Err(format!("a stride is at least 1, and not {stride}"));
    }
    let quantity = wanted.component.as_deref().map(|name| Quantity::named(&entry.element, Some(name))).transpose()?;
    let request = ViewRequest {
        array: entry.array,
        chunk: wanted.chunk,
        start: wanted.region.iter().map(|[start, _]| *start).collect(),
        end: wanted.region.iter().map(|[_, end]| *end).collect(),
        stride,
        numbers: quantity.map(|quantity| quantity.numbers),
    };
    let view = client.view(request)?;
    answers::view(&entry, &view, quantity)
}

fn pick_cell(client: &mut Client, pick: Pick) -> Result<Value, String> {
    let entry = find_array(client, &pick.array)?;
    if pick.at.len() != entry.shape.len() {
        let (axes, has) = (entry.shape.len(), pick.at.len());
        return Err(format!("`{}` has {axes} axes, and the cell has {has}", entry.name));
    }
    let end: Option<Vec<i64>> = pick.at.iter().map(|at| at.checked_add(1)).collect();
    let end = end.ok_or("such an index lies outside of every array")?;
    let (start, stride) = (pick.at.clone(), vec![1; pick.at.len()]);
    let view = client.view(ViewRequest { array: entry.array, chunk: pick.chunk, start, end, stride, numbers: None })?;
    let location = locate(&entry, pick.chunk, &pick.at);
    answers::pick(&entry, &view, &pick.at, location)
}

fn state_value(state: &State) -> Value {
    match state {
        State::Connecting(why) => json!({ "connecting": why }),
        State::Open => json!("open"),
        State::Closed(how) => json!({ "closed": how }),
    }
}
