//! How the axes of a stored volume lie in the space of its file, which pictures know nothing of.

use serde_json::{Value, json};

/// Parts of a direction that are smaller than this share of it are taken for rounding.
const STRAIGHT: f64 = 1e-3;

/// Where the axes point.
#[derive(Debug, Clone, PartialEq)]
pub struct Axes {
    /// For each axis the direction of space that it is closest to.
    order: Vec<usize>,
    /// Axes that point the other way.
    flipped: Vec<usize>,
    /// Whether an axis points to none of them.
    oblique: bool,
}

impl Axes {
    pub fn new(directions: &[Vec<f64>]) -> Self {
        let mut axes = Self { order: Vec::new(), flipped: Vec::new(), oblique: false };
        for (axis, direction) in directions.iter().enumerate() {
            let closest = (0..direction.len()).rev().max_by(|&a, &b| direction[a].abs().total_cmp(&direction[b].abs()));
            let closest = closest.unwrap_or(axis);
            let most = direction.get(closest).copied().unwrap_or(1.0);
            axes.order.push(closest);
            axes.flipped.extend((most < 0.0).then_some(axis));
            let aside = |(part, length): (usize, &f64)| part != closest && length.abs() > STRAIGHT * most.abs();
            axes.oblique |= direction.iter().enumerate().any(aside);
        }
        axes
    }

    /// What somebody has to know who takes left for left; `None` where the picture is as the file means it.
    pub fn note(&self) -> Option<String> {
        let mut parts: Vec<String> = Vec::new();
        match self.flipped[..] {
            [] => {}
            [axis] => parts.push(format!("axis {axis} is flipped")),
            _ => parts.push(format!("axes {} are flipped", list(&self.flipped))),
        }
        if self.order.iter().enumerate().any(|(axis, &closest)| axis != closest) {
            parts.push(format!("axes are permuted (they are the file's {})", list(&self.order)));
        }
        if self.oblique {
            parts.push("axes are oblique".into());
        }
        (!parts.is_empty()).then(|| {
            let what = parts.join(", ");
            format!("the volume is drawn as stored, without the directions of its file: {what}; left and right may be swapped")
        })
    }

    /// For the report.
    pub fn json(&self) -> Value {
        json!({"order": self.order, "flipped": self.flipped, "oblique": self.oblique})
    }
}

fn list(numbers: &[usize]) -> String {
    numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}
