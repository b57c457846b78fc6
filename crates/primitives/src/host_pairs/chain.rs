//! [`SliceChain`] and [`Pairs`]: sequences that consist of several slices.

use std::mem::take;

/// Sequence of cells in several slices, one after the other.
pub(super) struct SliceChain<'a, T>(Vec<&'a mut [T]>);

impl<'a, T: Copy> SliceChain<'a, T> {
    pub(super) fn new(slices: Vec<&'a mut [T]>) -> Self {
        Self(slices)
    }

    pub(super) fn len(&self) -> usize {
        self.0.iter().map(|slice| slice.len()).sum()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[T]> {
        self.0.iter().map(|slice| &**slice)
    }

    pub(super) fn into_slices(self) -> std::vec::IntoIter<&'a mut [T]> {
        self.0.into_iter()
    }

    pub(super) fn reborrow(&mut self) -> SliceChain<'_, T> {
        SliceChain(self.0.iter_mut().map(|slice| &mut **slice).collect())
    }

    /// Returns the only slice; `None` if the chain has several.
    pub(super) fn single(&mut self) -> Option<&mut [T]> {
        match &mut self.0[..] {
            [] => Some(&mut []),
            [only] => Some(only),
            _ => None,
        }
    }

    /// Copies all cells to a chain of the same length.
    pub(super) fn copy_to(&self, to: SliceChain<'_, T>) {
        let lengths: Vec<usize> = self.iter().map(<[T]>::len).collect();
        for (mut from, targets) in self.iter().zip(to.cut(lengths.into_iter())) {
            for target in targets.0 {
                let (head, tail) = from.split_at(target.len());
                target.copy_from_slice(head);
                from = tail;
            }
        }
    }

    /// Cuts the chain into consecutive chains of the given lengths. The chain must have at least as
    /// many cells.
    pub(super) fn cut(self, lengths: impl Iterator<Item = usize>) -> impl Iterator<Item = Self> {
        let (mut rest, mut later): (&'a mut [T], _) = (&mut [], self.0.into_iter());
        lengths.map(move |mut length| {
            let mut slices = Vec::with_capacity(1);
            while length > 0 {
                if rest.is_empty() {
                    rest = later.next().expect("as many cells as the lengths have");
                }
                let cells = length.min(rest.len());
                let (head, tail) = take(&mut rest).split_at_mut(cells);
                (rest, length) = (tail, length - cells);
                slices.push(head);
            }
            Self(slices)
        })
    }
}

/// Calls `f` with the consecutive parts of two sequences of equal length, so that each part is
/// within one slice of both.
pub(super) fn for_each_common<'a, A: 'a, B: 'a>(
    first: impl Iterator<Item = &'a [A]>,
    mut second: impl Iterator<Item = &'a [B]>,
    mut f: impl FnMut(&'a [A], &'a [B]),
) {
    let mut rest: &[B] = &[];
    for mut slice in first {
        while !slice.is_empty() {
            if rest.is_empty() {
                let Some(next) = second.next() else { return };
                rest = next;
                continue;
            }
            let cells = slice.len().min(rest.len());
            f(&slice[..cells], &rest[..cells]);
            (slice, rest) = (&slice[cells..], &rest[cells..]);
        }
    }
}

/// Keys and values of equal number, each in slices of their own.
pub(super) struct Pairs<'a, K, V> {
    pub keys: SliceChain<'a, K>,
    pub values: SliceChain<'a, V>,
}

impl<'a, K: Copy, V: Copy> Pairs<'a, K, V> {
    pub(super) fn of_slices(keys: &'a mut [K], values: &'a mut [V]) -> Self {
        Self { keys: SliceChain::new(vec![keys]), values: SliceChain::new(vec![values]) }
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    pub(super) fn reborrow(&mut self) -> Pairs<'_, K, V> {
        Pairs { keys: self.keys.reborrow(), values: self.values.reborrow() }
    }

    /// Cuts the pairs into consecutive parts of the given lengths.
    pub(super) fn cut(self, lengths: &[usize]) -> impl Iterator<Item = Self> {
        let keys = self.keys.cut(lengths.iter().copied());
        keys.zip(self.values.cut(lengths.iter().copied())).map(|(keys, values)| Self { keys, values })
    }

    /// Copies all pairs to pairs of the same number.
    pub(super) fn copy_to(&self, to: Pairs<'_, K, V>) {
        self.keys.copy_to(to.keys);
        self.values.copy_to(to.values);
    }

    /// Calls `f` with the consecutive keys and values that are each in one slice.
    pub(super) fn for_each_slice(&self, f: impl FnMut(&[K], &[V])) {
        for_each_common(self.keys.iter(), self.values.iter(), f);
    }
}
