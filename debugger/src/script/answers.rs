//! Answers as JSON.

use serde_json::{Map, Number, Value, json};
use zippy_protocol::{ArrayEntry, Component, Numbers, ScalarType, ScalarValue, Summary, View};

use super::state_value;
use crate::client::Client;
use crate::imaging::{CellLocation, ExactNumber, Member, Quantity, VectorPart, cell};

/// Describes the program and the state of the connection.
pub(super) fn program(client: &Client) -> Value {
    let mut value = json!({ "state": state_value(&client.state()), "notice": client.notice() });
    if let Some(program) = client.program() {
        value["name"] = json!(program.name);
        value["ranks"] = json!(program.ranks);
        value["checked"] = json!(program.checked);
        value["adapters"] = json!(program.adapters);
    }
    value
}

/// Converts a number to JSON with digits that parse to exactly the same number. NaN and infinities
/// become text, because JSON has no such numbers.
fn number_to_json(scalar: ScalarType, bytes: &[u8]) -> Option<Value> {
    let text = scalar.text(bytes)?;
    let exact = match scalar {
        ScalarType::U64 => text.parse::<u64>().ok().map(Number::from),
        ScalarType::I64 => text.parse::<i64>().ok().map(Number::from),
        scalar if scalar.is_float() => text.parse::<f64>().ok().and_then(Number::from_f64),
        _ => text.parse::<i64>().ok().map(Number::from),
    };
    Some(exact.map_or(Value::String(text), Value::Number))
}

fn float_to_json(value: f64) -> Value {
    Number::from_f64(value).map_or_else(|| Value::String(value.to_string()), Value::Number)
}

/// Converts a number to JSON with all digits; NaN and infinities become text.
fn scalar_to_json(value: ScalarValue) -> Value {
    match value {
        ScalarValue::Float(value) => float_to_json(value),
        ScalarValue::Integer(value) => {
            let signed = i64::try_from(value).map(Number::from);
            let number = signed.or_else(|_| u64::try_from(value).map(Number::from));
            number.map_or_else(|_| Value::String(value.to_string()), Value::Number)
        }
    }
}

/// Converts the numbers of a member: a single number or a list.
fn member_to_json(numbers: &Numbers, bytes: &[u8]) -> Option<Value> {
    let width = numbers.scalar.bytes();
    let each =
        (0..usize::from(numbers.components)).map(|index| number_to_json(numbers.scalar, bytes.get(index * width..)?));
    let each: Vec<Value> = each.collect::<Option<_>>()?;
    Some(if numbers.components == 1 { each.into_iter().next()? } else { Value::Array(each) })
}

/// Converts a view: its cells with axis 0 fastest, or one number of each cell for a quantity.
pub(super) fn view(entry: &ArrayEntry, view: &View, quantity: Option<Quantity>) -> Result<Value, String> {
    let wrong = || format!("the view of `{}` is invalid", entry.name);
    let element = &entry.element;
    let extents = view.of.extents().ok_or_else(wrong)?;
    let of_quantity = quantity.map(|quantity| quantity.of(element).ok_or_else(wrong)).transpose()?;
    let cell_bytes = of_quantity.map_or(element.bytes as usize, Numbers::bytes);
    if view.of.numbers != quantity.map(|quantity| quantity.numbers)
        || view.of.bytes(cell_bytes) != Some(view.cells.len())
        || cell_bytes == 0
    {
        return Err(wrong());
    }
    let convert = |cell: &[u8]| -> Option<Value> {
        if let (Some(numbers), Some(quantity)) = (of_quantity, quantity) {
            return match quantity.part {
                VectorPart::Component(index) => {
                    number_to_json(numbers.scalar, cell.get(usize::from(index) * numbers.scalar.bytes()..)?)
                }
                VectorPart::Length => quantity.value(numbers, cell).map(float_to_json),
            };
        }
        match element.numbers.as_slice() {
            [only] if only.name.is_empty() => member_to_json(only, cell.get(only.offset as usize..)?),
            all => {
                let each = all.iter().map(|numbers| {
                    Some((numbers.name.clone(), member_to_json(numbers, cell.get(numbers.offset as usize..)?)?))
                });
                Some(Value::Object(each.collect::<Option<Map<_, _>>>()?))
            }
        }
    };
    let cells: Option<Vec<Value>> = view.cells.chunks_exact(cell_bytes).map(convert).collect();
    Ok(json!({
        "array": entry.name,
        "step": view.step,
        "type": element.name,
        "start": view.of.start,
        "stride": view.of.stride,
        "extents": extents,
        "cells": cells.ok_or_else(wrong)?,
    }))
}

fn exact_number_to_json(exact: &ExactNumber) -> Value {
    // The text has more digits than the rounded number.
    let value = exact.text.parse::<u64>().map(Number::from).or_else(|_| exact.text.parse::<i64>().map(Number::from));
    let value = value.ok().or_else(|| exact.text.parse::<f64>().ok().and_then(Number::from_f64));
    json!({ "value": value.map_or_else(|| json!(exact.text), Value::Number), "bits": exact.bits })
}

fn members_to_json(members: &[Member]) -> Value {
    let convert = |member: &Member| match member.components.as_slice() {
        [only] => exact_number_to_json(only),
        all => Value::Array(all.iter().map(exact_number_to_json).collect()),
    };
    match members {
        [only] if only.name.is_empty() => convert(only),
        all => Value::Object(all.iter().map(|member| (member.name.clone(), convert(member))).collect()),
    }
}

/// Converts a cell and its location.
pub(super) fn pick(
    entry: &ArrayEntry,
    view: &View,
    at: &[i64],
    location: Option<CellLocation>,
) -> Result<Value, String> {
    let Some(found) = cell(view, &entry.element, at) else {
        let nearest = &view.of.start;
        return Err(format!("there is no cell {at:?} of `{}` here; the nearest one is {nearest:?}", entry.name));
    };
    let mut value = json!({ "array": entry.name, "at": at, "step": view.step });
    match members_to_json(&found) {
        // The value and the bits of a scalar are fields of the answer itself.
        Value::Object(fields) if found.len() == 1 && fields.contains_key("bits") => {
            fields.into_iter().for_each(|(name, field)| value[name] = field);
        }
        fields => value["members"] = fields,
    }
    if let Some(location) = location {
        value["rank"] = json!(location.rank);
        value["chunk"] = json!(location.chunk);
        value["local"] = json!(location.local);
        value["owned"] = json!(location.owned);
        value["owner"] = json!(location.owner.map(|(chunk, rank)| json!({ "chunk": chunk, "rank": rank })));
    }
    Ok(value)
}

pub(super) fn summary(entry: &ArrayEntry, summary: &Summary) -> Value {
    let convert = |component: &Component| {
        json!({
            "count": component.count,
            "nans": component.nans,
            "infinities": component.infinities,
            "min": component.extremes.map(|(low, _)| scalar_to_json(low)),
            "max": component.extremes.map(|(_, high)| scalar_to_json(high)),
            "range": [scalar_to_json(component.range.0), scalar_to_json(component.range.1)],
            "bins": component.bins,
            "below": component.outside.0,
            "above": component.outside.1,
            "percentiles": component.percentiles.iter().map(|value| scalar_to_json(*value)).collect::<Vec<_>>(),
        })
    };
    let components: Vec<Value> = summary.components.iter().map(convert).collect();
    json!({ "array": entry.name, "step": summary.step, "components": components })
}
