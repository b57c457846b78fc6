//! Pictures of isosurfaces have the same bits for every cut, with device and host extraction.

use super::{alone, run};

fn check_cuts() {
    let common = ["--phantom-size", "31x40x36", "--size", "60x50", "--brick", "8", "--iso", "1500"];
    let without = alone(&common[..6]);
    let pictures: [(&[&str], usize, &[&str]); 2] = [
        (&[], 3, &["--split", "1+29+1x2x1"]),
        (&["--iso-opacity", "0.4"], 2, &["--cut", "bars", "--chunks-per-rank", "4"]),
    ];
    for (look, ranks, cut) in pictures {
        let words = [&common[..], look].concat();
        let expected = alone(&words);
        assert!(expected.difference(&without).unwrap().max_abs > 0.1, "no surface is seen");
        let Some(rendered) = run(ranks, &[&words[..], cut].concat()) else { continue };
        assert_eq!(rendered.image.difference(&expected).unwrap().max_abs, 0.0, "{ranks} ranks, {look:?}, {cut:?}");
    }
}

#[test]
fn drawn_by_driver_from_the_host() {
    check_cuts();
}

zippy_testing::with_variables! {
    by_driver, [("ZIPPY_HOST_MAP", "0")], check_cuts
}
