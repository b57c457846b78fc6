//! [`Points`]: the points of a mesh on a rank.

use std::collections::HashMap;

/// A rank's own points, followed by *ghosts*: points of other ranks that its cells use.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Points {
    /// Number of own points.
    pub own: usize,
    /// Number of points that lower ranks own.
    pub before: u64,
    pub positions: Vec<[f32; 3]>,
    /// One normal per point, or none.
    pub normals: Vec<[f32; 3]>,
    pub fields: Vec<(String, Vec<f32>)>,
    /// Numbers of ghosts in the whole mesh.
    pub ghosts: Vec<u64>,
}

impl Points {
    pub(crate) fn map_field(&mut self, name: &str, new_name: &str, map: impl Fn(f32) -> f32) {
        for (own, values) in self.fields.iter_mut().filter(|(own, _)| own == name) {
            new_name.clone_into(own);
            values.iter_mut().for_each(|value| *value = map(*value));
        }
    }

    /// Number of a point in the whole mesh.
    pub(crate) fn number(&self, point: u32) -> u64 {
        let point = point as usize;
        match point.checked_sub(self.own) {
            None => self.before + point as u64,
            Some(ghost) => self.ghosts[ghost],
        }
    }

    /// Stores the ghosts' numbers, merges ghosts with equal numbers or own points, removes unused
    /// ghosts, and updates `corners`, the point indices of cells.
    pub(crate) fn weld<'a>(&mut self, numbers: &[u64], corners: impl Iterator<Item = &'a mut u32>) {
        let (own, first) = (self.before..self.before + self.own as u64, self.own);
        let (mut kept, mut indices) = (Vec::new(), HashMap::new());
        let mut welded = vec![None; numbers.len()];
        for point in corners {
            let Some(ghost) = (*point as usize).checked_sub(first) else { continue };
            *point = *welded[ghost].get_or_insert_with(|| match numbers[ghost] {
                number if own.contains(&number) => (number - own.start) as u32,
                number => *indices.entry(number).or_insert_with(|| {
                    kept.push(first + ghost);
                    (first + kept.len() - 1) as u32
                }),
            });
        }
        self.ghosts = kept.iter().map(|&point| numbers[point - first]).collect();
        keep(&mut self.positions, first, &kept);
        keep(&mut self.normals, first, &kept);
        self.fields.iter_mut().for_each(|(_, values)| keep(values, first, &kept));
    }
}

/// Keeps the first items of a list and the listed others; an empty list stays empty.
fn keep<V: Copy>(list: &mut Vec<V>, first: usize, kept: &[usize]) {
    let others: Vec<V> = kept.iter().filter_map(|&index| list.get(index).copied()).collect();
    list.truncate(first);
    list.extend(others);
}
