//! A side of the box in a case file.

use std::fmt::{self, Formatter};

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::three_numbers::three;

/// Side of the box, in the units of the file.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SideEntry {
    Periodic,
    Wall,
    FreeSlip,
    MovingWall([f64; 3]),
    Velocity([f64; 3]),
    Parabola([f64; 3]),
    Pressure(f64),
    Outlet(f64),
}

const NAMES: [&str; 8] = ["periodic", "wall", "free-slip", "moving-wall", "velocity", "parabola", "pressure", "outlet"];

/// Example of the notation of a side.
fn example(name: &str) -> String {
    match name {
        "pressure" | "outlet" => format!("{{ {name} = 0.0 }}, with the pressure above that of the fluid at rest"),
        "moving-wall" | "velocity" | "parabola" => format!("{{ {name} = [0.05, 0, 0] }}, with its velocity"),
        _ => format!("{name:?}"),
    }
}

#[derive(Deserialize)]
struct Velocity(#[serde(deserialize_with = "three")] [f64; 3]);

impl<'de> Deserialize<'de> for SideEntry {
    fn deserialize<D: Deserializer<'de>>(text: D) -> Result<Self, D::Error> {
        text.deserialize_any(SideVisitor)
    }
}

struct SideVisitor;

impl<'de> Visitor<'de> for SideVisitor {
    type Value = SideEntry;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "a side: {} or {}", example("wall"), example("outlet"))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<SideEntry, E> {
        match name {
            "periodic" => Ok(SideEntry::Periodic),
            "wall" => Ok(SideEntry::Wall),
            "free-slip" => Ok(SideEntry::FreeSlip),
            _ if NAMES.contains(&name) => Err(E::custom(format!("{name:?} needs a value: {}", example(name)))),
            _ => Err(E::unknown_variant(name, &NAMES)),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<SideEntry, A::Error> {
        let no_name = || A::Error::custom(format!("a side is one of {}", NAMES.map(example).join("; ")));
        let name: String = map.next_key()?.ok_or_else(no_name)?;
        let side = match &*name {
            "moving-wall" => SideEntry::MovingWall(map.next_value::<Velocity>()?.0),
            "velocity" => SideEntry::Velocity(map.next_value::<Velocity>()?.0),
            "parabola" => SideEntry::Parabola(map.next_value::<Velocity>()?.0),
            "pressure" => SideEntry::Pressure(map.next_value()?),
            "outlet" => SideEntry::Outlet(map.next_value()?),
            "wall" => {
                let [wall, moving_wall] = ["wall", "moving-wall"].map(example);
                let message = format!("\"wall\" has no value: {wall}; a wall that moves is {moving_wall}");
                return Err(A::Error::custom(message));
            }
            _ if NAMES.contains(&&*name) => {
                return Err(A::Error::custom(format!("{name:?} has no value: {}", example(&name))));
            }
            _ => return Err(A::Error::unknown_variant(&name, &NAMES)),
        };
        match map.next_key::<String>()? {
            None => Ok(side),
            Some(other) => {
                let message =
                    format!("a side is one thing, and here are two, {name} and {other}: leave one of them out");
                Err(A::Error::custom(message))
            }
        }
    }
}
