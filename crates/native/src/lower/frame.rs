use std::collections::HashMap;

use super::layout::ScalarLeaf;
use crate::ir::{Access, Definition, Kernel, Memory, Statement, Value};

/// Minimum provisional offset of a constant table, until the size of the stack is known.
const TABLES: u32 = 0x8000_0000;

/// Allocator of frame memory: a stack for inlined functions, then tables of constants.
#[derive(Debug, Default)]
pub(super) struct FrameAllocator {
    top: u64,
    stack_bytes: u64,
    table_bytes: u64,
    /// True if released memory is not reused: frames interleave the lanes of a scalar by its size,
    /// so a scalar of 4 bytes would overlap a scalar of 8 bytes of another lane.
    keeps: bool,
    /// Offset of each table, by the offsets and values of its scalars.
    tables: HashMap<Vec<(u32, Value)>, u32>,
}

impl FrameAllocator {
    pub(super) fn new(keeps: bool) -> Self {
        Self { keeps, ..Self::default() }
    }

    /// Allocates memory on the stack; returns its offset, aligned to 8, or `None` for too large a
    /// frame.
    pub(super) fn allocate(&mut self, bytes: u64) -> Option<u32> {
        let offset = self.top;
        self.top = offset.checked_add(bytes)?.checked_next_multiple_of(8)?;
        self.stack_bytes = self.stack_bytes.max(self.top);
        if self.top > u64::from(TABLES / 4) {
            return None;
        }
        Some(offset as u32)
    }

    pub(super) fn mark(&self) -> u64 {
        self.top
    }

    pub(super) fn release(&mut self, mark: u64) {
        if !self.keeps {
            self.top = mark;
        }
    }

    /// Offset of the table of `constants`, and true for a new table; `None` for too large a frame.
    pub(super) fn table(&mut self, leaves: &[ScalarLeaf], constants: &[Value]) -> Option<(u32, bool)> {
        let key: Vec<_> = leaves.iter().zip(constants).map(|(leaf, value)| (leaf.offset, *value)).collect();
        if let Some(offset) = self.tables.get(&key) {
            return Some((*offset, false));
        }
        let offset = TABLES + self.table_bytes as u32;
        let bytes = leaves.last().map_or(0, |leaf| u64::from(leaf.offset) + 8);
        self.table_bytes = (self.table_bytes + bytes).next_multiple_of(8);
        if self.table_bytes > u64::from(TABLES / 4) {
            return None;
        }
        self.tables.insert(key, offset);
        Some((offset, true))
    }

    /// Appends the tables to the stack, and sets the size of the frame.
    pub(super) fn finish(&self, kernel: &mut Kernel) {
        kernel.frame_bytes = (self.stack_bytes + self.table_bytes) as u32;
        if self.table_bytes == 0 {
            return;
        }
        let base = self.stack_bytes as u32;
        for (_, definition) in &mut kernel.values {
            if let Definition::Load(access) = definition {
                relocate(access, base);
            }
        }
        relocate_stores(&mut kernel.body, base);
    }
}

fn relocate(access: &mut Access, base: u32) {
    if access.memory == Memory::Frame && access.offset >= TABLES {
        access.offset = access.offset - TABLES + base;
    }
}

fn relocate_stores(body: &mut [Statement], base: u32) {
    for statement in body {
        if let Statement::Store(access, _) = statement {
            relocate(access, base);
        }
    }
}
