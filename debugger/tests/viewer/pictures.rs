//! Values of views, their differences and their pictures.

use zippy_debugger::imaging::{
    ColourMap, Colouring, Differences, Measure, Norm, Quantity, SPECIAL_COLOURS, Scale, Slice, TypedView, Values,
    VectorPart, cell, paint,
};
use zippy_protocol::{ElementType, ScalarType, View, ViewRequest};

use crate::support::{DENSITY, FLOW, SHAPE, cells, density, flow, flow_bytes, record_type, scalar, view};

fn whole_view(step: u64) -> zippy_protocol::View {
    view(FLOW, step, &SHAPE, 1, cells(SHAPE).flat_map(|at| flow_bytes(step, at)).collect())
}

#[test]
fn quantities_of_a_record_are_found_by_name() {
    let all: Vec<String> = Quantity::all(&record_type()).into_iter().map(|(name, _)| name).collect();
    assert_eq!(all, ["flag", "velocity.length", "velocity.x", "velocity.y", "velocity.z", "count"]);
    let named = |name| Quantity::named(&record_type(), name);
    assert_eq!(named(Some("velocity")), named(Some("velocity.length")));
    assert_eq!(named(Some("velocity.2")), named(Some("velocity.z")));
    assert_eq!(named(None), Ok(Quantity { numbers: 0, part: VectorPart::Component(0) }));
    for wrong in ["speed", "velocity.w", "velocity.3", "flag.x", "velocity.", ""] {
        let error = named(Some(wrong)).unwrap_err();
        assert!(error.contains("Parcel") && error.contains("velocity.x") && error.contains("count"), "{error}");
    }
    let mut vector = scalar("vec2<f32>", ScalarType::F32);
    (vector.bytes, vector.numbers[0].components) = (8, 2);
    let names: Vec<String> = Quantity::all(&vector).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["length", "x", "y"]);
    let y = Quantity::named(&vector, Some("y")).unwrap();
    assert_eq!((y, y.name(&vector)), (Quantity { numbers: 0, part: VectorPart::Component(1) }, "y".into()));
    vector.numbers[0].components = 5;
    assert_eq!(Quantity::named(&vector, Some("4")).unwrap().part, VectorPart::Component(4));
}

#[test]
fn values_equal_the_numbers_of_their_cells() {
    let element = record_type();
    let whole = whole_view(2);
    let only = zippy_protocol::View {
        of: ViewRequest { numbers: Some(1), ..whole.of.clone() },
        step: 2,
        cells: cells(SHAPE).flat_map(|at| flow_bytes(2, at)[4..16].to_vec()).collect(),
    };
    for (name, quantity) in Quantity::all(&element) {
        let wanted = |at| {
            let (flag, [x, y, z], count) = flow(2, at);
            let [x, y, z] = [x, y, z].map(f64::from);
            match name.as_str() {
                "flag" => f64::from(flag),
                "velocity.length" => (x * x + y * y + z * z).sqrt(),
                "velocity.x" => x,
                "velocity.y" => y,
                "velocity.z" => z,
                _ => count as f64,
            }
        };
        let values = Values::new(&whole, &element, quantity).unwrap();
        for (place, at) in cells(SHAPE).enumerate() {
            assert_eq!(values.index(place), at);
            let found = values.at(&at).unwrap();
            assert!((found - wanted(at)).abs() <= 1e-15 * wanted(at).abs(), "{name} at {at:?}: {found}");
        }
        match Values::new(&only, &element, quantity) {
            Ok(found) => assert!(name.starts_with("velocity") && found.numbers == values.numbers, "{name}"),
            Err(error) => assert!(!name.starts_with("velocity") && error.contains(&name), "{error}"),
        }
    }
    let mut short = whole.clone();
    short.cells.pop();
    assert!(
        Values::new(&short, &element, Quantity { numbers: 0, part: VectorPart::Component(0) })
            .unwrap_err()
            .contains("1439")
    );
    let mut vector = scalar("vec2<f64>", ScalarType::F64);
    (vector.bytes, vector.numbers[0].components) = (16, 2);
    let bytes: Vec<u8> = [f64::INFINITY, f64::NAN, 3e200, 4e200].iter().flat_map(|part| part.to_le_bytes()).collect();
    let pair = view(FLOW, 1, &[2], 1, bytes);
    let lengths = Values::new(&pair, &vector, Quantity { numbers: 0, part: VectorPart::Length }).unwrap();
    assert!(lengths.numbers[0].is_nan() && (lengths.numbers[1] / 5e200 - 1.0).abs() < 1e-15, "{:?}", lengths.numbers);
}

#[test]
fn cell_has_exact_digits_and_bits() {
    let (element, whole) = (record_type(), whole_view(2));
    let members = cell(&whole, &element, &[3, 1, 2]).unwrap();
    assert_eq!(members.iter().map(|member| member.name.as_str()).collect::<Vec<_>>(), ["flag", "velocity", "count"]);
    let (_, velocity, count) = flow(2, [3, 1, 2]);
    assert_eq!(members[0].components[0].bits, "0x00000004");
    assert_eq!(
        (members[1].components[1].text.as_str(), members[1].components[1].bits.as_str()),
        ("-0.1", "0xbdcccccd")
    );
    assert_eq!(members[1].components[2].value, f64::from(velocity[2]));
    // More digits than an `f64` has.
    assert_eq!(members[2].components[0].text, count.to_string());
    assert_eq!(members[2].components[0].bits, format!("{count:#018x}"));
    assert_eq!(cell(&whole, &element, &[5, 0, 0]), None);
    assert_eq!(cell(&whole, &element, &[0, 0]), None);
    let coarse = view(DENSITY, 1, &[9], 4, [10_f32, 11.0, 12.0].iter().flat_map(|v| v.to_le_bytes()).collect());
    let f32s = scalar("f32", ScalarType::F32);
    let values = Values::new(&coarse, &f32s, Quantity::first(&f32s).unwrap()).unwrap();
    assert_eq!((values.at(&[4]), values.at(&[5])), (Some(11.0), None));
    assert_eq!((values.near(&[7]), values.near(&[8]), values.near(&[-1])), (Some(11.0), Some(12.0), None));
    assert_eq!(cell(&coarse, &f32s, &[8]).unwrap()[0].components[0].text, "12.0");
}

fn typed_view<'a>(view: &'a View, element: &'a ElementType) -> TypedView<'a> {
    TypedView { view, element }
}

#[test]
fn differences_are_computed_for_every_measure() {
    let f32s = scalar("f32", ScalarType::F32);
    let quantity = Quantity::first(&f32s).unwrap();
    let of = |numbers: &[f32]| {
        view(DENSITY, 1, &[numbers.len() as i64], 1, numbers.iter().flat_map(|v| v.to_le_bytes()).collect())
    };
    let one = [1.0, 1.0, -0.0, f32::NAN, f32::NAN, f32::INFINITY, 4.0, -f32::MIN_POSITIVE];
    let other = [1.0, 1.0_f32.next_up(), 0.0, f32::NAN, 2.0, f32::INFINITY, 2.0, f32::MIN_POSITIVE];
    let (a, b) = (of(&one), of(&other));
    let found = Differences::new(typed_view(&a, &f32s), typed_view(&b, &f32s), quantity).unwrap();
    // −0 and 0 have different bits.
    assert_eq!((found.cells, found.first.clone(), found.nans), (5, Some(vec![1]), 1));
    let ulp = found.values(Measure::Ulp).numbers;
    let between = 2.0 * f64::from(f32::MIN_POSITIVE.to_bits());
    assert_eq!(ulp[..4], [0.0, 1.0, 0.0, 0.0]);
    assert!(ulp[4].is_nan());
    assert_eq!(ulp[5..], [0.0, f64::from(1_u32 << 23), between]);
    assert_eq!(found.largest_ulp, Some(between));
    assert_eq!((found.largest, found.largest_relative), (Some(2.0), Some(2.0)));
    assert_eq!(found.values(Measure::Signed).numbers[6], -2.0);
    assert_eq!(found.values(Measure::Absolute).numbers[6], 2.0);
    assert_eq!(found.values(Measure::Relative).numbers[6], 0.5);
    // Consecutive integers that are equal as doubles.
    let i64s = scalar("i64", ScalarType::I64);
    let [less, more] = [i64::MAX - 1, i64::MAX].map(|number| view(DENSITY, 1, &[1], 1, number.to_le_bytes().to_vec()));
    let found = Differences::new(typed_view(&more, &i64s), typed_view(&less, &i64s), quantity).unwrap();
    let each = [Measure::Signed, Measure::Absolute, Measure::Ulp].map(|measure| found.values(measure).numbers[0]);
    assert_eq!((each, found.largest_relative), ([-1.0, 1.0, 1.0], Some(0.5_f64.powi(63))));
    // Differences of integers, of half floats and of doubles.
    let huge = (u64::MAX as f64, 0.0);
    assert_eq!(Measure::Ulp.of(ScalarType::U64, huge.1, huge.0), huge.0);
    assert_eq!(Measure::Ulp.of(ScalarType::F16, 1.0, 1.0 + 1.0 / 1024.0), 1.0);
    assert_eq!(Measure::Ulp.of(ScalarType::F64, 1.0, 1.0_f64.next_down()), 1.0);
    assert_eq!(Measure::Relative.of(ScalarType::F64, f64::MAX, -f64::MAX), 2.0);
    let error = Differences::new(typed_view(&a, &f32s), typed_view(&of(&one[1..]), &f32s), quantity).unwrap_err();
    assert!(error.contains("boxes"), "{error}");
    assert!(
        Differences::new(typed_view(&a, &f32s), typed_view(&b, &record_type()), quantity)
            .unwrap_err()
            .contains("Parcel")
    );
}

#[test]
fn every_plane_is_painted_cell_by_cell() {
    let f32s = scalar("f32", ScalarType::F32);
    let bytes = cells(SHAPE).flat_map(|at| density(1, at).to_le_bytes()).collect();
    let values = Values::new(&view(DENSITY, 1, &SHAPE, 1, bytes), &f32s, Quantity::first(&f32s).unwrap()).unwrap();
    let colouring = Colouring { map: ColourMap::first(), scale: Scale::new(Norm::Linear, (1001.0, 1230.0)).unwrap() };
    for (across, up) in (0..3).flat_map(|across| (0..3).map(move |up| (across, up))).filter(|(across, up)| across != up)
    {
        let fixed = 3 - across - up;
        for at in 0..SHAPE[fixed] {
            let slice = Slice { across, up: Some(up), at: vec![at; 3] };
            let picture = paint(&values, &slice, &colouring).unwrap();
            assert_eq!([picture.width as i64, picture.height as i64], [SHAPE[across], SHAPE[up]]);
            for (column, row) in (0..picture.width).flat_map(|column| (0..picture.height).map(move |row| (column, row)))
            {
                let position = [column as i64, (picture.height - 1 - row) as i64];
                let index: [i64; 3] = slice.index(position).try_into().unwrap();
                let value = f64::from(density(1, index));
                let [red, green, blue] = match value {
                    value if value.is_nan() => SPECIAL_COLOURS.nan,
                    f64::INFINITY => SPECIAL_COLOURS.plus_infinity,
                    f64::NEG_INFINITY => SPECIAL_COLOURS.minus_infinity,
                    value if value < 1001.0 => SPECIAL_COLOURS.below,
                    value if value > 1230.0 => SPECIAL_COLOURS.above,
                    value => ColourMap::first().at((value - 1001.0) / 229.0),
                };
                assert_eq!(picture.get(column, row), Some([red, green, blue, 255]), "{slice:?} {index:?}");
            }
        }
    }
    let line = Slice { across: 0, up: None, at: vec![0, 2, 1] };
    let picture = paint(&values, &line, &colouring).unwrap();
    assert_eq!((picture.width, picture.height), (5, 1));
    assert_eq!(picture.get(4, 0).unwrap()[..3], ColourMap::first().at((1124.0 - 1001.0) / 229.0));
    let large = picture.enlarged(3);
    assert_eq!((large.width, large.height, large.pixels.len()), (15, 3, 15 * 3 * 4));
    assert!((0..15).all(|column| (0..3).all(|row| large.get(column, row) == picture.get(column / 3, 0))));
    let beyond = Slice { across: 0, up: Some(1), at: vec![0, 0, 3] };
    assert!(paint(&values, &beyond, &colouring).unwrap_err().contains("at 3 along axis 2"));
    assert!(paint(&values, &Slice::new(&[5, 4]), &colouring).unwrap_err().contains("3 axes"));
}
