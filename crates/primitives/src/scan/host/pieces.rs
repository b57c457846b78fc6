//! Sequential reads and writes over several slices.

use bytemuck::{Pod, cast_slice_mut, try_cast_slice};

/// Sequential reader of numbers in several slices.
pub(super) struct PieceReader<'a, S> {
    pieces: Vec<&'a [u8]>,
    next: usize,
    /// Unread part of the current slice.
    rest: &'a [u8],
    /// Copy of numbers that lie in different slices.
    joined: Vec<S>,
}

impl<'a, S: Pod> PieceReader<'a, S> {
    pub(super) fn new(pieces: &[&'a [u8]]) -> Self {
        Self { pieces: pieces.to_vec(), next: 0, rest: &[], joined: Vec::new() }
    }

    /// Reads the next `numbers` numbers; at least as many must be unread.
    pub(super) fn next(&mut self, numbers: usize) -> &[S] {
        let mut bytes = numbers * size_of::<S>();
        if self.rest.is_empty() {
            self.step();
        }
        if let Some((head, rest)) = self.rest.split_at_checked(bytes)
            && let Ok(found) = try_cast_slice(head)
        {
            self.rest = rest;
            return found;
        }
        let mut joined = std::mem::take(&mut self.joined);
        joined.resize(numbers, S::zeroed());
        let mut room: &mut [u8] = cast_slice_mut(&mut joined);
        while bytes > 0 {
            if self.rest.is_empty() {
                self.step();
            }
            let (head, rest) = self.rest.split_at(bytes.min(self.rest.len()));
            let (to, tail) = room.split_at_mut(head.len());
            to.copy_from_slice(head);
            (self.rest, room, bytes) = (rest, tail, bytes - head.len());
        }
        self.joined = joined;
        &self.joined
    }

    fn step(&mut self) {
        self.rest = self.pieces[self.next];
        self.next += 1;
    }
}

/// Sequential writer of bytes to several slices.
pub(super) struct PieceWriter<'a> {
    pieces: std::vec::IntoIter<&'a mut [u8]>,
    /// Unwritten part of the current slice.
    rest: &'a mut [u8],
}

impl<'a> PieceWriter<'a> {
    pub(super) fn new(pieces: Vec<&'a mut [u8]>) -> Self {
        Self { pieces: pieces.into_iter(), rest: &mut [] }
    }

    /// Returns the memory of the next `bytes` bytes, to be written; at least as many must be
    /// unwritten.
    pub(super) fn take(&mut self, mut bytes: usize) -> Vec<&'a mut [u8]> {
        let mut taken = Vec::with_capacity(1);
        while bytes > 0 {
            if self.rest.is_empty() {
                self.rest = self.pieces.next().expect("as many bytes as are taken");
            }
            let most = bytes.min(self.rest.len());
            let (head, rest) = std::mem::take(&mut self.rest).split_at_mut(most);
            bytes -= head.len();
            taken.push(head);
            self.rest = rest;
        }
        taken
    }
}
