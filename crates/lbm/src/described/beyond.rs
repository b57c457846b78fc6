//! A side of the box, as texts have it.

use std::fmt::{self, Formatter};

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::schema::three;

/// A side of the box in a case file, in the units of the text.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Beyond {
    Periodic,
    Wall,
    FreeSlip,
    MovingWall([f64; 3]),
    Velocity([f64; 3]),
    Parabola([f64; 3]),
    Pressure(f64),
    Outlet(f64),
}

/// Names of sides without and with a value, as texts have them.
const NAMES: [&str; 8] = ["periodic", "wall", "free-slip", "moving-wall", "velocity", "parabola", "pressure", "outlet"];

/// How a side is written.
fn example(name: &str) -> String {
    match name {
        "pressure" | "outlet" => format!("{{ {name} = 0.0 }}, with the pressure above that of the fluid at rest"),
        "moving-wall" | "velocity" | "parabola" => format!("{{ {name} = [0.05, 0, 0] }}, with its velocity"),
        _ => format!("{name:?}"),
    }
}

#[derive(Deserialize)]
struct Three(#[serde(deserialize_with = "three")] [f64; 3]);

impl<'de> Deserialize<'de> for Beyond {
    fn deserialize<D: Deserializer<'de>>(text: D) -> Result<Self, D::Error> {
        text.deserialize_any(OneSide)
    }
}

struct OneSide;

impl<'de> Visitor<'de> for OneSide {
    type Value = Beyond;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "a side: {} or {}", example("wall"), example("outlet"))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Beyond, E> {
        match name {
            "periodic" => Ok(Beyond::Periodic),
            "wall" => Ok(Beyond::Wall),
            "free-slip" => Ok(Beyond::FreeSlip),
            _ if NAMES.contains(&name) => Err(E::custom(format!("{name:?} needs a value: {}", example(name)))),
            _ => Err(E::unknown_variant(name, &NAMES)),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Beyond, A::Error> {
        let wanted = || A::Error::custom(format!("a side is one of {}", NAMES.map(example).join("; ")));
        let name: String = map.next_key()?.ok_or_else(wanted)?;
        let side = match &*name {
            "moving-wall" => Beyond::MovingWall(map.next_value::<Three>()?.0),
            "velocity" => Beyond::Velocity(map.next_value::<Three>()?.0),
            "parabola" => Beyond::Parabola(map.next_value::<Three>()?.0),
            "pressure" => Beyond::Pressure(map.next_value()?),
            "outlet" => Beyond::Outlet(map.next_value()?),
            _ if NAMES.contains(&&*name) => {
                let moving = if name == "wall" {
                    format!("; a wall that moves is {}", example("moving-wall"))
                } else {
                    String::new()
                };
                return Err(A::Error::custom(format!("{name:?} has no value: {}{moving}", example(&name))));
            }
            _ => return Err(A::Error::unknown_variant(&name, &NAMES)),
        };
        match map.next_key::<String>()? {
            None => Ok(side),
            Some(other) => {
                let wrong = format!("a side is one thing, and here are two, {name} and {other}: leave one of them out");
                Err(A::Error::custom(wrong))
            }
        }
    }
}
