//! Gather, scatter and copies within a device, by shaders and by the host, compared with plain
//! loops.

use zippy::device::{BufferBox, ChunkBuffer, Device, PackedBox, StridedBox};
use zippy::error::DeviceError;
use zippy::extents::Index;
use zippy_testing::random::LinearCongruential;

use super::devices::devices;

/// Pseudo-random generator with a seed, so that failures are reproducible.
struct Random(LinearCongruential);

impl Random {
    fn new(seed: u64) -> Self {
        Self(LinearCongruential::new(seed))
    }

    fn below(&mut self, n: u64) -> u64 {
        self.0.below(n)
    }

    fn shuffled(&mut self, n: usize) -> Vec<usize> {
        let mut out: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            out.swap(i, self.below(i as u64 + 1) as usize);
        }
        out
    }

    fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| self.below(256) as u8).collect()
    }
}

/// Element indices of a view's cells by definition, axis 0 fastest.
fn elements(view: &StridedBox) -> Vec<usize> {
    let mut out = vec![view.offset as usize];
    for axis in (0..view.extents.axes()).rev() {
        let along = |e: &usize| (0..view.extents[axis]).map(|i| e + (i * view.strides[axis]) as usize).collect();
        out = out.iter().flat_map(|e| -> Vec<usize> { along(e) }).collect();
    }
    // The last expanded axis is axis 0, which is the fastest.
    out
}

/// A storage with random shape and disjoint boxes in it: slabs along one axis, each randomly
/// shrunk.
fn storage(random: &mut Random, axes: usize, cells: u64) -> (Index, Vec<StridedBox>) {
    let mut room = cells;
    let shape = Index::from_fn(axes, |axis| {
        let most = if axis == 0 { 70 } else { 9 };
        let n = 1 + random.below(most.min(room));
        room /= n;
        n as i64
    });
    let cut_axis = random.below(axes as u64) as usize;
    let (mut boxes, mut at) = (Vec::new(), 0);
    let strides = shape.dense_strides();
    while at < shape[cut_axis] {
        let thick = (1 + random.below(4) as i64).min(shape[cut_axis] - at);
        let mut start = Index::zeros(axes);
        let extents = Index::from_fn(axes, |axis| {
            let room = if axis == cut_axis { thick } else { shape[axis] };
            let n = if random.below(3) == 0 { room } else { random.below(room as u64 + 1) as i64 };
            start[axis] = random.below((room - n) as u64 + 1) as i64 + if axis == cut_axis { at } else { 0 };
            n
        });
        let turn = random.shuffled(axes);
        boxes.push(StridedBox {
            offset: start.dot(&strides) as u64,
            extents: Index::from_fn(axes, |axis| extents[turn[axis]]),
            strides: Index::from_fn(axes, |axis| strides[turn[axis]]),
        });
        at += thick;
    }
    (shape, boxes)
}

/// Creates a chunk with the given bytes.
pub(crate) fn chunk(device: &Device, bytes: &[u8]) -> ChunkBuffer {
    let buffer = device.storage_buffer(bytes.len() as u64, "chunk").unwrap();
    let mut padded = bytes.to_vec();
    padded.resize(bytes.len().next_multiple_of(4), 0);
    device.queue().write_buffer(buffer.raw(), 0, &padded);
    device.queue().submit([]);
    buffer
}

/// Reads all bytes of a chunk with plain wgpu, independently of the device layer.
pub(crate) fn contents(device: &Device, chunk: &ChunkBuffer) -> Vec<u8> {
    device.flush().unwrap();
    let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
    let descriptor = wgpu::BufferDescriptor { label: None, size: chunk.bytes(), usage, mapped_at_creation: false };
    let back = device.raw().create_buffer(&descriptor);
    let mut encoder = device.raw().create_command_encoder(&Default::default());
    encoder.copy_buffer_to_buffer(chunk.raw(), 0, &back, 0, None);
    device.queue().submit([encoder.finish()]);
    back.map_async(wgpu::MapMode::Read, .., |result| result.unwrap());
    device.raw().poll(wgpu::PollType::wait_indefinitely()).unwrap();
    back.get_mapped_range(..).unwrap().to_vec()
}

#[test]
fn gather_and_scatter_agree_with_plain_loops() {
    for (which, device) in devices().iter().enumerate() {
        let mut random = Random::new(17);
        for round in 0..84 {
            let bytes = [1, 2, 4, 8, 12, 16, 20][round % 7];
            let axes = 1 + round / 7 % 7;
            let chunks: Vec<_> = (0..1 + random.below(3))
                .map(|_| {
                    let (shape, boxes) = storage(&mut random, axes, 6000);
                    let content = random.bytes(shape.product().unwrap() as usize * bytes);
                    (chunk(device, &content), content, boxes)
                })
                .collect();
            let mut pieces = Vec::new();
            let mut payload_bytes = 0;
            let mut expected: Vec<(usize, Vec<u8>)> = Vec::new();
            for (buffer, content, boxes) in &chunks {
                for view in boxes {
                    payload_bytes += 4 * random.below(3);
                    pieces.push(PackedBox { buffer, view: *view, payload_offset: payload_bytes });
                    let cells = elements(view);
                    let packed: Vec<u8> = cells.iter().flat_map(|&e| &content[e * bytes..][..bytes]).copied().collect();
                    expected.push((payload_bytes as usize, packed));
                    payload_bytes += (view.cells() * bytes as u64).next_multiple_of(4);
                }
            }
            let payload = device.gather(bytes, &pieces, payload_bytes).unwrap();
            assert_eq!(payload.as_ref().len(), payload_bytes as usize);
            for (at, packed) in &expected {
                assert_eq!(&payload.as_ref()[*at..][..packed.len()], packed, "device {which} round {round}");
                let filled = &payload.as_ref()[at + packed.len()..(at + packed.len()).next_multiple_of(4)];
                assert!(filled.iter().all(|&byte| byte == 0), "device {which} round {round}");
            }
            // Scatters into other chunks, with a different order of boxes.
            let fresh = random.bytes(payload_bytes as usize);
            let order = random.shuffled(pieces.len());
            let shuffled: Vec<_> = order.iter().map(|&i| pieces[i]).collect();
            device.scatter(bytes, &fresh, &shuffled).unwrap();
            let mut next = expected.iter();
            for (buffer, content, boxes) in &chunks {
                let mut content = content.clone();
                for view in boxes {
                    let (at, _) = next.next().unwrap();
                    for (i, e) in elements(view).into_iter().enumerate() {
                        content[e * bytes..][..bytes].copy_from_slice(&fresh[at + i * bytes..][..bytes]);
                    }
                }
                let found = contents(device, buffer);
                assert!(found[..content.len()] == content, "device {which} round {round} bytes {bytes}");
            }
        }
    }
}

#[test]
fn copies_behave_as_if_sources_were_read_first() {
    for (which, device) in devices().iter().enumerate() {
        let mut random = Random::new(23);
        for round in 0..84 {
            let bytes = [1, 2, 4, 8, 12, 16, 20][round % 7];
            let axes = 1 + round / 7 % 7;
            // Two chunks with one shape: copies between equal boxes of both, or shifted copies
            // within one.
            let (shape, boxes) = storage(&mut random, axes, 3000);
            let content: Vec<_> = (0..2).map(|_| random.bytes(shape.product().unwrap() as usize * bytes)).collect();
            let chunks: Vec<_> = content.iter().map(|bytes| chunk(device, bytes)).collect();
            let mut expected = content.clone();
            let mut copies = Vec::new();
            for view in &boxes {
                let end = view.offset
                    + view.extents.iter().zip(view.strides.iter()).map(|(n, s)| (n - 1).max(0) * s).sum::<i64>() as u64;
                let room = (shape.product().unwrap() - 1).saturating_sub(end);
                let (from, to) = (random.below(2) as usize, random.below(2) as usize);
                let src = StridedBox { offset: random.below(view.offset + room + 1), ..*view };
                copies.push((
                    BufferBox { buffer: &chunks[from], view: src },
                    BufferBox { buffer: &chunks[to], view: *view },
                ));
                for (s, d) in elements(&src).into_iter().zip(elements(view)) {
                    // Boxes of a chunk are disjoint, so the destinations are disjoint.
                    let cell = content[from][s * bytes..][..bytes].to_vec();
                    expected[to][d * bytes..][..bytes].copy_from_slice(&cell);
                }
            }
            device.copy_boxes(bytes, &copies).unwrap();
            for (buffer, content) in chunks.iter().zip(&expected) {
                let found = contents(device, buffer);
                assert!(found[..content.len()] == *content, "device {which} round {round} bytes {bytes}");
            }
        }
    }
}

/// A periodic ghost update of 3 x 3 chunks of one rank in one call: every pair of buffers exchanges
/// cells.
#[test]
fn chunks_of_one_rank_exchange_their_ghosts() {
    for device in devices() {
        for bytes in [1, 4, 12] {
            let (inner, outer) = (13_i64, 15_i64);
            let strides = Index::from([1, outer]);
            let content: Vec<Vec<u8>> =
                (0..9).map(|c| Random::new(c + 5).bytes((outer * outer) as usize * bytes)).collect();
            let chunks: Vec<_> = content.iter().map(|content| chunk(&device, content)).collect();
            let mut expected = content.clone();
            let mut copies = Vec::new();
            for (c, dx, dy) in
                (0..81_i64).map(|i| (i / 9, i % 3 - 1, i / 3 % 3 - 1)).filter(|(_, dx, dy)| (*dx, *dy) != (0, 0))
            {
                let to = ((c % 3 + dx).rem_euclid(3) + (c / 3 + dy).rem_euclid(3) * 3) as usize;
                let n = |d: i64| if d == 0 { inner } else { 1 };
                let from = |d: i64| if d > 0 { inner } else { 1 };
                let ghost = |d: i64| [inner + 1, 1, 0][(d + 1) as usize];
                let view = |x: i64, y: i64| StridedBox {
                    offset: (x + y * outer) as u64,
                    extents: [n(dx), n(dy)].into(),
                    strides,
                };
                let (src, dst) = (view(from(dx), from(dy)), view(ghost(dx), ghost(dy)));
                copies.push((
                    BufferBox { buffer: &chunks[c as usize], view: src },
                    BufferBox { buffer: &chunks[to], view: dst },
                ));
                for (s, d) in elements(&src).into_iter().zip(elements(&dst)) {
                    expected[to][d * bytes..][..bytes].copy_from_slice(&content[c as usize][s * bytes..][..bytes]);
                }
            }
            let before = device.counters().dispatches;
            device.copy_boxes(bytes, &copies).unwrap();
            assert!(device.counters().dispatches - before <= 18 * 4, "not one dispatch for every pair of chunks");
            for (buffer, content) in chunks.iter().zip(&expected) {
                assert!(contents(&device, buffer)[..content.len()] == *content);
            }
        }
    }
}

#[test]
fn moves_preserve_nan_payloads_and_negative_zeros() {
    let words: Vec<u32> =
        (0..4096).map(|i| [0x7fc0_0000, 0x7f80_0001, 0xffff_ffff, 0x8000_0000][i % 4] ^ i as u32).collect();
    for device in devices() {
        let buffer = chunk(&device, bytemuck::cast_slice(&words));
        let other = device.storage_buffer(4096 * 4, "other").unwrap();
        for view in [
            StridedBox::dense(0, [4096].into()),
            StridedBox { offset: 0, extents: [64, 64].into(), strides: [64, 1].into() },
        ] {
            let piece = PackedBox { buffer: &buffer, view, payload_offset: 0 };
            let payload = device.gather(4, &[piece], 4096 * 4).unwrap();
            device.scatter(4, payload.as_ref(), &[PackedBox { buffer: &other, ..piece }]).unwrap();
            device.copy_boxes(4, &[(BufferBox { buffer: &other, view }, BufferBox { buffer: &buffer, view })]).unwrap();
            assert_eq!(bytemuck::cast_slice::<u8, u32>(&contents(&device, &buffer)), words);
        }
    }
}

#[test]
fn payloads_larger_than_a_slice_are_complete_with_bounded_staging() {
    for device in devices() {
        // Slightly less than 72 MiB, with an element size that does not divide a slice.
        let (n, m) = (2_000_003_i64, 3_i64);
        let content: Vec<u8> = (0..n * m * 12).map(|i| (i ^ (i >> 8) ^ (i >> 16)) as u8).collect();
        if device.limits().binding_bytes < 1 << 20 {
            continue;
        }
        let buffer = chunk(&device, &content);
        let view = StridedBox::dense(0, [n, m].into());
        let before = device.counters().bytes_now;
        let payload =
            device.gather(12, &[PackedBox { buffer: &buffer, view, payload_offset: 0 }], content.len() as u64).unwrap();
        assert!(payload.as_ref() == content);
        let other = device.storage_buffer(content.len() as u64, "other").unwrap();
        device.scatter(12, payload.as_ref(), &[PackedBox { buffer: &other, view, payload_offset: 0 }]).unwrap();
        assert!(contents(&device, &other)[..content.len()] == content);
        let more = device.counters().bytes_peak - before - other.bytes();
        assert!(more <= 8 * (8 << 20), "{more} bytes of staging memory");
    }
}

#[test]
fn repeated_transfer_allocates_nothing() {
    for device in devices() {
        let pitch = [34, 34, 34].into();
        let content: Vec<u32> = (0..34 * 34 * 34).collect();
        let chunks: Vec<_> = (0..2).map(|_| chunk(&device, bytemuck::cast_slice(&content))).collect();
        let strides = Index::dense_strides(&pitch);
        let face = |axis: usize, at: i64| {
            let extents = Index::from_fn(3, |a| if a == axis { 1 } else { 32 });
            let start = Index::from_fn(3, |a| if a == axis { at } else { 1 });
            StridedBox { offset: start.dot(&strides) as u64, extents, strides }
        };
        let pieces: Vec<_> = (0..6)
            .map(|i| PackedBox { buffer: &chunks[i % 2], view: face(i / 2, 1), payload_offset: i as u64 * 4096 })
            .collect();
        let copies: Vec<_> = (0..3)
            .flat_map(|axis| [(0, 1), (1, 0)].map(|(a, b)| (axis, a, b)))
            .map(|(axis, a, b)| {
                let from = BufferBox { buffer: &chunks[a], view: face(axis, 1) };
                (from, BufferBox { buffer: &chunks[b], view: face(axis, 33) })
            })
            .collect();
        let step = || {
            let payload = device.gather(4, &pieces, 6 * 4096).unwrap();
            let message = payload.part(4096..8192).unwrap();
            assert_eq!(message.as_ref(), &payload.as_ref()[4096..8192]);
            device.scatter(4, payload.as_ref(), &pieces).unwrap();
            device.copy_boxes(4, &copies).unwrap();
            device.wait().unwrap();
        };
        (0..3).for_each(|_| step());
        let warm = device.counters();
        (0..5).for_each(|_| step());
        let after = device.counters();
        assert_eq!(after.buffers_made, warm.buffers_made);
        assert_eq!(after.bytes_now, warm.bytes_now);
        assert_eq!(after.host_made, warm.host_made);
        assert_eq!(after.pipelines_made, warm.pipelines_made);
        if device.host_mapped() {
            assert_eq!(after.submissions, warm.submissions, "host-mapped transfers submit nothing");
        } else {
            assert!(after.dispatches > warm.dispatches);
        }
    }
}

#[test]
fn payload_dropped_on_other_thread_returns_memory() {
    for device in devices() {
        let buffer = chunk(&device, &[7; 4096]);
        let piece = PackedBox { buffer: &buffer, view: StridedBox::dense(0, [1024].into()), payload_offset: 0 };
        for _ in 0..3 {
            let payload = device.gather(4, &[piece], 4096).unwrap();
            let parts = [payload.part(0..64).unwrap(), payload.part(64..4096).unwrap()];
            assert!(payload.part(0..4097).is_none());
            drop(payload);
            let sum =
                std::thread::spawn(move || parts.iter().flat_map(|p| p.as_ref()).map(|&b| u64::from(b)).sum::<u64>());
            assert_eq!(sum.join().unwrap(), 7 * 4096);
        }
        let made = device.counters();
        drop(device.gather(4, &[piece], 4096).unwrap());
        assert_eq!(device.counters().buffers_made, made.buffers_made);
        assert_eq!(device.counters().host_made, made.host_made);
    }
}

#[test]
fn empty_transfers_do_nothing() {
    for device in devices() {
        let buffer = chunk(&device, &[1; 256]);
        let empty = StridedBox { offset: 3, extents: [0, 5].into(), strides: [1, 10].into() };
        let piece = PackedBox { buffer: &buffer, view: empty, payload_offset: 0 };
        assert!(device.gather(4, &[piece], 0).unwrap().is_empty());
        assert!(device.gather(1, &[], 0).unwrap().is_empty());
        device.scatter(4, &[], &[piece]).unwrap();
        device.scatter(4, &[], &[]).unwrap();
        let of = BufferBox { buffer: &buffer, view: empty };
        device.copy_boxes(4, &[(of, of)]).unwrap();
        device.copy_boxes(4, &[]).unwrap();
        assert_eq!(contents(&device, &buffer), [1; 256]);
    }
}

#[test]
fn invalid_transfers_are_errors() {
    for device in devices() {
        let buffer = chunk(&device, &[1; 256]);
        let gather = |bytes, offset, n: i64, stride: i64, payload_offset, payload_bytes| {
            let view = StridedBox { offset, extents: [n].into(), strides: [stride].into() };
            device.gather(bytes, &[PackedBox { buffer: &buffer, view, payload_offset }], payload_bytes).map(drop)
        };
        gather(4, 0, 64, 1, 0, 256).unwrap();
        for wrong in [
            gather(3, 0, 4, 1, 0, 256),
            gather(0, 0, 4, 1, 0, 256),
            gather(4, 1, 64, 1, 0, 256),
            gather(4, 0, 33, 2, 0, 256),
            gather(4, 0, 64, 1, 4, 256),
            gather(4, 0, 4, 1, 2, 256),
            gather(4, 0, -4, 1, 0, 256),
            gather(4, 0, 4, -1, 0, 256),
            gather(4, u64::MAX, 4, 1, 0, 256),
            gather(4, 0, i64::MAX, i64::MAX, 0, 256),
        ] {
            assert!(matches!(wrong, Err(DeviceError::BadBox { .. })), "{wrong:?}");
        }
        let of = |n: i64, stride: i64| BufferBox {
            buffer: &buffer,
            view: StridedBox { offset: 0, extents: [n].into(), strides: [stride].into() },
        };
        assert!(device.copy_boxes(4, &[(of(4, 1), of(5, 1))]).is_err());
        assert!(device.copy_boxes(4, &[(of(4, 1), of(4, 0))]).is_err());
        device.copy_boxes(4, &[(of(4, 0), of(4, 1))]).unwrap();
    }
}
