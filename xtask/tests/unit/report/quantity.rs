use super::*;

#[test]
fn number_has_three_significant_digits() {
    let shown = [0.0, 0.034_23, 3.423, 34.23, 3423.4].map(number);
    assert_eq!(shown, ["0.00", "0.0342", "3.42", "34.2", "3423"]);
}

#[test]
fn ratio_has_fewer_decimals_when_it_is_large() {
    assert_eq!(
        [0.0033, 0.0766, 0.618, 9.999, 45.3, 1327.4].map(ratio),
        ["0.0033", "0.077", "0.62", "10.0", "45.3", "1327"]
    );
}

#[test]
fn field_name_implies_the_unit() {
    assert_eq!(of_field("median_secs", 2.46e-3), "2.46 ms");
    assert_eq!(of_field("median_step_secs", 3e-10), "0.300 ns");
    assert_eq!(of_field("bytes_kept", 77_104.0), "75.3 KiB");
    assert_eq!(of_field("gb_per_sec", 3984.6), "3985 GB/s");
    assert_eq!(of_field("mlups", 20.2), "20.2");
}
