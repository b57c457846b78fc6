use super::*;

fn plot(scale: Scale, values: &[f64]) -> Plot {
    let mut plot = Plot::new("Ghosts & walls", scale);
    let series = plot.series("C");
    let row = |(index, value): (usize, &f64)| PlotRow {
        label: format!("case {index}"),
        bars: vec![Bar { series, value: *value, quartiles: None }],
    };
    let rows = values.iter().enumerate().map(row).collect();
    plot.panels.push(Panel { heading: "Xeon".into(), rows });
    plot
}

#[test]
fn svg_has_texts_values_and_colours_of_both_modes() {
    let svg = plot(Scale::Ratio, &[0.5, 19.14]).svg();
    for wanted in ["Ghosts &amp; walls", ">case 1<", ">0.50<", ">19.1<", "prefers-color-scheme: dark", ">C<", ">Xeon<"]
    {
        assert!(svg.contains(wanted), "{wanted}:\n{svg}");
    }
}

#[test]
fn bars_of_ratios_begin_at_one() {
    let plot = plot(Scale::Ratio, &[0.5, 2.0]);
    let axis = plot.axis();
    let (one, half) = (axis.x(1.0), axis.x(0.5));
    let svg = plot.svg();
    assert!(svg.contains(&format!("<rect x=\"{half:.1}\"")), "{svg}");
    assert!(svg.contains(&format!("<rect x=\"{one:.1}\"")), "{svg}");
    // Twice and half are at the same distance from 1.
    assert!((axis.x(2.0) - one - (one - half)).abs() < 1e-9);
}

#[test]
fn labels_of_ticks_do_not_overlap() {
    let fields = ["median_secs", "bytes_kept", "gb_per_sec"].map(|field| Scale::Field(field.into()));
    for scale in [Scale::Ratio].into_iter().chain(fields) {
        for values in [&[0.9, 1.1][..], &[0.003, 470.0], &[1e3, 1e9], &[1e-7, 3e-3]] {
            let plot = plot(scale.clone(), values);
            let axis = plot.axis();
            let ticks = plot.ticks(&axis);
            assert!(plot.labels_fit(&ticks, &axis), "{scale:?} {values:?}: {ticks:?}");
        }
    }
}

#[test]
fn values_beyond_the_axis_are_drawn_at_its_end() {
    let plot = plot(Scale::Ratio, &[1e-9, 1e9]);
    let axis = plot.axis();
    assert_eq!((axis.x(1e-9), axis.x(1e9)), (axis.left, axis.right));
}
