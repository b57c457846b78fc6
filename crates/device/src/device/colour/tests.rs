//! Tests of the colour arithmetic against its definition, and of slices against single colours.

use zippy_testing::random::fibonacci_hash;

use super::*;

/// Compares all opacities and components with the exact division.
#[test]
fn over_rgba8_rounds_to_nearest_and_saturates_at_255() {
    for opacity in 0..=255_u32 {
        for back in 0..=255_u32 {
            let product = (back * (255 - opacity) * 2 + 255) / 510;
            let colours = |byte: u32| byte | byte << 8 | byte << 16;
            let back_colour = colours(back) | back << 24;
            for block in 0..256 / COLOURS_PER_BLOCK {
                let fronts: [u32; COLOURS_PER_BLOCK] = std::array::from_fn(|i| (block * COLOURS_PER_BLOCK + i) as u32);
                let expected = fronts.map(|front| colours((front + product).min(255)) | (opacity + product) << 24);
                let fronts = fronts.map(|front| opacity << 24 | colours(front));
                assert_eq!(fronts.map(|front| over_rgba8(front, back_colour)), expected, "{opacity} {back}");
                assert_eq!(block_over_rgba8(fronts, [back_colour; COLOURS_PER_BLOCK]), expected, "{opacity} {back}");
            }
        }
    }
    assert_eq!(over_rgba8(0x80_10_20_30, 0x80_40_40_40), 0xc0_30_40_50);
    assert_eq!(over_rgba8(0x80_ff_ff_ff, 0xff_ff_ff_ff), 0xff_ff_ff_ff);
}

#[test]
fn min_opaque_byte_is_smallest_opacity_at_threshold() {
    let thresholds = (0..=4_000_000).map(|step| step as f32 / 3_999_000.0);
    let exact = (0..=255).flat_map(|opacity| {
        let exact = opacity as f32 / 255.0;
        [exact.next_down(), exact, exact.next_up()]
    });
    for threshold in thresholds.chain(exact).chain([f32::NAN, f32::INFINITY, -1.0, 1e30, f32::MIN_POSITIVE]) {
        let first = (0..=255).find(|&opacity| opacity as f32 / 255.0 >= threshold).unwrap_or(256);
        assert_eq!(min_opaque_byte(threshold), first, "{threshold}");
    }
    assert_eq!([0x7f, 0x80, 0x81].map(|opacity| saturate_opacity_rgba8(opacity << 24, 0x80) >> 24), [0x7f, 0xff, 0xff]);
    assert_eq!(saturate_opacity_rgba8(0xff_12_34_56, 256), 0xff_12_34_56);
    let [front, back] = [[0.25, 0.0, 0.0, 0.5], [0.0, 0.5, 0.0, 0.75]];
    assert_eq!(over(front, back), [0.25, 0.25, 0.0, 0.875]);
    assert_eq!(saturate_opacity(over(front, back), 0.875), [0.25, 0.25, 0.0, 1.0]);
    assert_eq!(saturate_opacity(over(front, back), 0.8751), [0.25, 0.25, 0.0, 0.875]);
}

#[test]
fn conversion_to_floats_and_back_keeps_rgba8() {
    for byte in 0..=255_u32 {
        let colour = byte | 255 << 24 | (255 - byte) << 16;
        assert_eq!(to_rgba8(colour.to_floats()), colour);
    }
    assert_eq!(to_rgba8([2.0, 0.3, -1.0, 0.5]), 0x80_00_4d_80, "colour components are limited to the opacity");
}

/// Returns words of special values, numbers in [0, 1] and arbitrary bits.
fn mixed_words(n: usize) -> Vec<u32> {
    let specials = [f32::NAN, f32::INFINITY, -0.0, 0.0, 1.0, f32::MIN_POSITIVE / 2.0, f32::MAX, -1.5].map(f32::to_bits);
    let word = |i: u64| {
        let mixed = fibonacci_hash(i + 1) >> 20;
        match mixed % 5 {
            0 => specials[(mixed >> 8) as usize % specials.len()],
            1 => mixed as u32,
            _ => ((mixed >> 8 & 0xffff) as f32 / 65_535.0).to_bits(),
        }
    };
    (0..n as u64).map(word).collect()
}

/// Compares blends of slices with blends of single colours, for short and long slices of any
/// alignment.
fn compare_slices_with_colours<C: Colour>(
    min_opacity: Option<f32>,
    over: impl Fn(C, C) -> C,
    saturate: impl Fn(C) -> C,
) {
    for length in (0..70).chain([4099]) {
        let all = mixed_words(2 * length * size_of::<C>() / 4);
        let bytes: &[u8] = bytemuck::cast_slice(&all);
        let colours: Vec<C> = bytemuck::pod_collect_to_vec(bytes);
        let (sources, targets) = colours.split_at(length);
        let shifted = [&[7], &bytes[..bytes.len() / 2]].concat();
        for shift in [false, true] {
            let front = if shift { &shifted[1..] } else { &bytes[..bytes.len() / 2] };
            let run = |blend: &dyn Fn(&[u8], &mut [u8]), blend_one: &dyn Fn(C, C) -> C| {
                let mut found = bytes[bytes.len() / 2..].to_vec();
                blend(front, &mut found);
                let expected: Vec<C> =
                    sources.iter().zip(targets).map(|(source, target)| blend_one(*source, *target)).collect();
                assert!(have_equal_floats(&found, bytemuck::cast_slice(&expected)), "{length} colours");
            };
            run(&C::blend_over, &|source, target| over(source, target));
            run(&|back, target| C::blend_under(back, target, min_opacity), &|source, target| {
                saturate(over(target, source))
            });
        }
    }
}

/// True if all words are equal; NaNs of any payload are equal.
fn have_equal_floats(found: &[u8], expected: &[u8]) -> bool {
    let words = |bytes: &[u8]| -> Vec<u32> { bytemuck::pod_collect_to_vec(bytes) };
    let is_nan = |word: u32| f32::from_bits(word).is_nan();
    words(found).into_iter().zip(words(expected)).all(|(a, b)| a == b || (is_nan(a) && is_nan(b)))
}

#[test]
fn blends_of_slices_equal_blends_of_colours() {
    compare_slices_with_colours::<[f32; 4]>(None, over, |colour| colour);
    compare_slices_with_colours::<[f32; 4]>(Some(0.75), over, |colour| saturate_opacity(colour, 0.75));
    // Each component is rounded to nearest.
    let by_division = |front: u32, back: u32| {
        let (front, back) = (front.to_le_bytes(), back.to_le_bytes());
        let dimmed_back = |c: usize| (2 * (255 - u32::from(front[3])) * u32::from(back[c]) + 255) / 510;
        u32::from_le_bytes(std::array::from_fn(|c| (u32::from(front[c]) + dimmed_back(c)).min(255) as u8))
    };
    compare_slices_with_colours::<u32>(None, by_division, |colour| colour);
    compare_slices_with_colours::<u32>(Some(0.6), by_division, |colour| {
        if colour >> 24 >= 153 { colour | 0xff << 24 } else { colour }
    });
}
