//! Ranges, norms and colours.

use zippy_debugger::imaging::{ColourMap, Colouring, MapKind, Norm, Range, SPECIAL_COLOURS, Scale, Share};
use zippy_protocol::{Component, ScalarValue};

fn fraction_within(share: Share) -> f64 {
    match share {
        Share::Within(share) => share,
        other => panic!("{other:?} lies outside"),
    }
}

#[test]
fn share_follows_norm() {
    let linear = Scale::new(Norm::Linear, (-2.0, 6.0)).unwrap();
    assert_eq!([-2.0, 0.0, 2.0, 6.0].map(|value| fraction_within(linear.share(value))), [0.0, 0.25, 0.5, 1.0]);
    let log = Scale::new(Norm::Log, (1e-2, 1e2)).unwrap();
    for (value, share) in [(1e-2, 0.0), (1e-1, 0.25), (1.0, 0.5), (1e1, 0.75), (1e2, 1.0)] {
        assert!((fraction_within(log.share(value)) - share).abs() < 1e-12, "{value}");
    }
    // Linear up to 1. A factor of e beyond 1 covers the same distance as 0 to 1.
    let e = std::f64::consts::E;
    let symlog = Scale::new(Norm::SymLog(1.0), (-e * e, e * e)).unwrap();
    for (value, share) in
        [(-e, 1.0 / 6.0), (-1.0, 2.0 / 6.0), (0.0, 0.5), (0.5, 3.5 / 6.0), (1.0, 4.0 / 6.0), (e, 5.0 / 6.0)]
    {
        assert!((fraction_within(symlog.share(value)) - share).abs() < 1e-12, "{value}");
    }
    for scale in [linear, log, symlog] {
        let (low, high) = (scale.range().0.to_f64(), scale.range().1.to_f64());
        assert_eq!([scale.share(f64::NAN), scale.share(f64::INFINITY)], [Share::Nan, Share::PlusInfinity]);
        assert_eq!(scale.share(f64::NEG_INFINITY), Share::MinusInfinity);
        assert_eq!([scale.share(low.next_down()), scale.share(high.next_up())], [Share::Below, Share::Above]);
        for share in [0.0, 0.1, 0.4, 0.5, 0.9, 1.0] {
            assert!((fraction_within(scale.share(scale.value(share))) - share).abs() < 1e-12, "{scale:?} {share}");
        }
        assert_eq!((scale.value(0.0), scale.value(1.0)), scale.range());
    }
    let widest = Scale::new(Norm::Linear, (f64::MIN, f64::MAX)).unwrap();
    assert_eq!(fraction_within(widest.share(0.0)), 0.5);
    assert_eq!(widest.value(0.5), 0.0.into());
    let one = Scale::new(Norm::Linear, (3.0, 3.0)).unwrap();
    assert_eq!([one.share(3.0), one.share(2.9), one.share(3.1)], [Share::Within(0.5), Share::Below, Share::Above]);
}

#[test]
fn invalid_ranges_are_refused() {
    let refused = |norm, range| Scale::new(norm, range).unwrap_err();
    assert!(refused(Norm::Linear, (2.0, 1.0)).contains("from 2 to 1"));
    assert!(refused(Norm::Linear, (f64::NAN, 1.0)).contains("NaN"));
    assert!(refused(Norm::Linear, (0.0, f64::INFINITY)).contains("inf"));
    assert!(refused(Norm::Log, (0.0, 1.0)).contains("above 0"));
    assert!(refused(Norm::SymLog(0.0), (0.0, 1.0)).contains("symlog"));
    for text in ["", "1", "2:1", "p5:p", "p9:p5", "p-1:p5", "p1:p101", "nan:1", "0:inf", "a:b"] {
        assert!(Range::parse(text).unwrap_err().contains("p1:p99"), "{text}");
    }
    for text in ["", "logarithmic", "symlog:", "symlog:0", "symlog:-1", "symlog:inf", "log:2"] {
        assert!(Norm::parse(text).unwrap_err().contains("symlog:SIZE"), "{text}");
    }
    assert_eq!(Range::parse("-0.5:2e3"), Ok(Range::Fixed((-0.5).into(), 2e3.into())));
    assert_eq!(Range::parse("p1:p99.5"), Ok(Range::Percentile(1.0, 99.5)));
    let wide = Range::parse("9223372036854775806:18446744073709551615");
    assert_eq!(wide, Ok(Range::Fixed((i128::from(i64::MAX) - 1).into(), i128::from(u64::MAX).into())));
    assert_eq!(Range::parse("min:max"), Ok(Range::Extremes));
    assert_eq!(Norm::parse("symlog:0.01"), Ok(Norm::SymLog(0.01)));
}

#[test]
fn ranges_come_from_finite_numbers() {
    let mut numbers: Vec<f64> = (0..=100).map(f64::from).map(|value| value - 20.0).rev().collect();
    numbers.extend([f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
    let of =
        |range: Range, norm| range.of(numbers.iter().copied(), norm).map(|(low, high)| (low.to_f64(), high.to_f64()));
    assert_eq!(of(Range::Extremes, Norm::Linear), Some((-20.0, 80.0)));
    assert_eq!(of(Range::Extremes, Norm::Log), Some((1.0, 80.0)));
    assert_eq!(of(Range::Symmetric, Norm::Linear), Some((-80.0, 80.0)));
    assert_eq!(of(Range::Symmetric, Norm::Log), Some((1.0, 80.0)));
    assert_eq!(of(Range::Percentile(10.0, 95.0), Norm::Linear), Some((-10.0, 75.0)));
    assert_eq!(of(Range::Percentile(0.0, 100.0), Norm::Linear), Some((-20.0, 80.0)));
    assert_eq!(of(Range::Fixed(3.0.into(), 4.0.into()), Norm::Log), Some((3.0, 4.0)));
    for range in [Range::Extremes, Range::Symmetric, Range::Percentile(1.0, 99.0)] {
        assert_eq!(range.of([f64::NAN, f64::INFINITY].into_iter(), Norm::Linear), None);
        assert_eq!(range.of([-1.0, 0.0].into_iter(), Norm::Log), None);
    }
}

#[test]
fn range_of_summary_equals_range_of_whole_array() {
    let bins = vec![10; 10];
    let whole = Component {
        count: 103,
        nans: 2,
        infinities: 1,
        extremes: Some(((-0.5).into(), 9.5.into())),
        range: ((-0.5).into(), 9.5.into()),
        bins,
        outside: (0, 0),
        percentiles: vec![1.25.into(), 7.5.into()],
    };
    let of = |range: Range, norm| range.of_summary(&whole, norm).map(|(low, high)| (low.to_f64(), high.to_f64()));
    assert_eq!(of(Range::Extremes, Norm::Linear), Some((-0.5, 9.5)));
    assert_eq!(of(Range::Symmetric, Norm::Linear), Some((-9.5, 9.5)));
    assert_eq!(of(Range::Percentile(25.0, 75.0), Norm::Linear), Some((1.25, 7.5)));
    // For numbers above 0, the session requests a separate summary.
    assert_eq!(of(Range::Extremes, Norm::Log), None);
    let positive = Component { extremes: Some((0.25.into(), 9.5.into())), ..whole.clone() };
    assert_eq!(Range::Extremes.of_summary(&positive, Norm::Log), Some((0.25.into(), 9.5.into())));
    let nothing = Component { extremes: None, bins: vec![0; 10], percentiles: Vec::new(), ..whole.clone() };
    assert_eq!(Range::Percentile(1.0, 99.0).of_summary(&nothing, Norm::Linear), None);
    let fixed = Range::Fixed(ScalarValue::Integer(1), 2.0.into());
    assert_eq!(fixed.of_summary(&nothing, Norm::Log), Some((1.0.into(), 2.0.into())));
}

/// Numbers whose differences are below the digits of an `f64` or of a logarithm.
#[test]
fn numbers_far_from_zero_keep_exact_shares() {
    for base in [i128::from(i64::MIN), i128::from(i64::MAX) - 100, i128::from(u64::MAX) - 100, 1 << 53] {
        let of = |offset: i128| ScalarValue::Integer(base + offset);
        for norm in [Norm::Linear, Norm::SymLog(1.0), Norm::SymLog(1e30)] {
            let scale = Scale::new(norm, (of(0), of(100))).unwrap();
            for offset in 0..=100 {
                let share = fraction_within(scale.share(of(offset)));
                assert!((share - offset as f64 / 100.0).abs() < 1e-12, "{norm:?} {base} {offset}: {share}");
            }
            assert_eq!([scale.share(of(-1)), scale.share(of(101))], [Share::Below, Share::Above]);
            assert_eq!(Scale::new(Norm::Linear, (of(0), of(100))).unwrap().value(0.37), of(37));
        }
    }
    // A thousand consecutive numbers on a logarithmic scale.
    let ulp = 1e15_f64.next_up() - 1e15;
    let scale = Scale::new(Norm::Log, (1e15, 1e15 + 1000.0 * ulp)).unwrap();
    for step in 0..=1000 {
        let share = fraction_within(scale.share(1e15 + f64::from(step) * ulp));
        assert!((share - f64::from(step) / 1000.0).abs() < 1e-9, "{step}: {share}");
    }
    let scale = Scale::new(Norm::Linear, (101_325.0, 101_325.0_f64.next_up())).unwrap();
    assert_eq!([101_325.0, 101_325.0_f64.next_up()].map(|value| fraction_within(scale.share(value))), [0.0, 1.0]);
    // The full range of 64 bits.
    let whole =
        Scale::new(Norm::Linear, (ScalarValue::Integer(i64::MIN.into()), ScalarValue::Integer(i64::MAX.into())));
    assert!((fraction_within(whole.unwrap().share(0.0)) - 0.5).abs() < 1e-15);
}

#[test]
fn maps_have_published_colours_and_monotonic_lightness() {
    // Both ends and the middle, as published by the authors of the map.
    let viridis = ColourMap::named("viridis").unwrap();
    assert_eq!([viridis.at(0.0), viridis.at(1.0)], [[0x44, 0x01, 0x54], [0xfd, 0xe7, 0x25]]);
    let magma = ColourMap::named("magma").unwrap();
    assert_eq!([magma.at(0.0), magma.at(1.0)], [[0x00, 0x00, 0x04], [0xfc, 0xfd, 0xbf]]);
    let classes = ColourMap::named("tableau10").unwrap();
    assert_eq!(classes.class(0.0), [0x4e, 0x79, 0xa7]);
    assert_eq!((classes.class(3.0), classes.class(2.6)), (classes.class(13.0), classes.class(-7.0)));
    for (name, map) in [("Gray", "grey"), ("VIRIDIS", "viridis"), ("Blue_Red", "blue-red")] {
        assert_eq!(ColourMap::named(name).unwrap().name, map);
    }
    let error = ColourMap::named("jet").unwrap_err();
    assert!(error.contains("`jet`") && error.contains("viridis") && error.contains("cividis"), "{error}");
    for map in ColourMap::all() {
        assert_eq!(ColourMap::named(map.name), Ok(map));
        match map.kind {
            // Grey values rise monotonically.
            MapKind::Perceptual if map.name != "turbo" => {
                let grey = |share: f64| {
                    let [red, green, blue] = map.at(share).map(f64::from);
                    0.2126 * red + 0.7152 * green + 0.0722 * blue
                };
                let rising =
                    (0..255).all(|step| grey(f64::from(step + 1) / 255.0) > grey(f64::from(step) / 255.0) - 1.0);
                assert!(rising && grey(1.0) - grey(0.0) > 100.0, "{}", map.name);
            }
            // The middle is lighter than both ends.
            MapKind::Diverging => {
                let sum = |share| map.at(share).map(u32::from).iter().sum::<u32>();
                assert!(sum(0.5) > sum(0.0) + 100 && sum(0.5) > sum(1.0) + 100, "{}", map.name);
            }
            _ => {}
        }
    }
}

#[test]
fn special_values_have_special_colours() {
    for map in ColourMap::all() {
        let colouring = Colouring { map, scale: Scale::new(Norm::Linear, (0.0, 2.0)).unwrap() };
        let apart = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(|value| colouring.of(value));
        assert_eq!(apart, [SPECIAL_COLOURS.nan, SPECIAL_COLOURS.plus_infinity, SPECIAL_COLOURS.minus_infinity]);
        if map.kind != MapKind::Categorical {
            assert_eq!([colouring.of(-1e-9), colouring.of(2.1)], [SPECIAL_COLOURS.below, SPECIAL_COLOURS.above]);
            assert_eq!([colouring.of(0.0), colouring.of(1.0), colouring.of(2.0)], [0.0, 0.5, 1.0].map(|at| map.at(at)));
            let bar = colouring.bar(5, 2);
            let pixel = |column| bar.get(column, 1).unwrap()[..3].to_vec();
            assert_eq!([pixel(0), pixel(2), pixel(4)], [0.0, 0.5, 1.0].map(|at| map.at(at).to_vec()));
        }
        let of_map = |colour: [u8; 3]| (0..256).any(|step| map.at(f64::from(step) / 255.0) == colour);
        assert!(
            !of_map(SPECIAL_COLOURS.nan) && !of_map(SPECIAL_COLOURS.below) && !of_map(SPECIAL_COLOURS.above),
            "{}",
            map.name
        );
    }
}
