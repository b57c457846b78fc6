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
    /// Whether what is drawn is a mirror image, where there are as many directions as the space has.
    mirrored: Option<bool>,
}

impl Axes {
    pub fn new(directions: &[Vec<f64>]) -> Self {
        let mut axes = Self { order: Vec::new(), flipped: Vec::new(), oblique: false, mirrored: mirrored(directions) };
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
            let image = match self.mirrored {
                Some(true) => "it is a mirror image: left and right are swapped",
                Some(false) => "it is turned, not mirrored",
                None => "left and right may be swapped",
            };
            format!("the volume is drawn as stored, without the directions of its file: {what}; {image}")
        })
    }

    /// For the report.
    pub fn json(&self) -> Value {
        json!({"order": self.order, "flipped": self.flipped, "oblique": self.oblique, "mirrored": self.mirrored})
    }
}

/// The sign of the determinant; directions in one plane have none.
fn mirrored(directions: &[Vec<f64>]) -> Option<bool> {
    let determinant = match directions {
        [a, b] if a.len() == 2 && b.len() == 2 => a[0] * b[1] - a[1] * b[0],
        [a, b, c] if directions.iter().all(|direction| direction.len() == 3) => {
            let minor = |i: usize, j: usize| b[i] * c[j] - b[j] * c[i];
            a[0] * minor(1, 2) + a[1] * minor(2, 0) + a[2] * minor(0, 1)
        }
        _ => return None,
    };
    (determinant != 0.0 && determinant.is_finite()).then_some(determinant < 0.0)
}

fn list(numbers: &[usize]) -> String {
    numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}
