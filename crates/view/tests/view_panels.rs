//! The panels change the values that they show.

use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use zippy_render::volume::{ClipPlane, Colouring, Crop, Distribution, Material, Shading};
use zippy_view::panels::{self, ClipEditor};

#[test]
fn a_preset_is_chosen_by_name() {
    let names = ["ct-bone", "mr", "grey-ramp"];
    let show = |ui: &mut egui::Ui, chosen: &mut Option<usize>| {
        if let Some(number) = panels::presets(ui, &names, *chosen) {
            *chosen = Some(number);
        }
    };
    let mut harness = Harness::new_ui_state(show, None);
    harness.get_by_label("grey-ramp").click();
    harness.run();
    assert_eq!(*harness.state(), Some(2));
}

#[test]
fn a_clip_plane_follows_its_slider() {
    let mut editor = ClipEditor::new([[0.0; 3], [40.0, 60.0, 80.0]], &[]);
    let mut harness = Harness::new_ui_state(
        move |ui, planes: &mut Vec<ClipPlane>| {
            editor.show(ui, planes);
        },
        Vec::new(),
    );
    harness.get_by_label("y").click();
    harness.run();
    assert_eq!(*harness.state(), [ClipPlane { normal: [0.0, 1.0, 0.0], offset: 0.0 }]);
    harness.get_by_role_and_label(Role::Slider, "clip y").set_value_accesskit(24.0);
    harness.run();
    assert_eq!(*harness.state(), [ClipPlane { normal: [0.0, 1.0, 0.0], offset: 24.0 }]);
    harness.get_by_label("y").click();
    harness.run();
    assert!(harness.state().is_empty());
}

#[test]
fn the_ends_of_the_crop_box_push_each_other() {
    let size = [40.0, 60.0, 80.0];
    let show = |ui: &mut egui::Ui, crop: &mut Option<Crop>| {
        panels::crop(ui, size, crop);
    };
    let mut harness = Harness::builder().with_size([500.0, 400.0]).build_ui_state(show, None);
    harness.get_by_label("crop to a box").click();
    harness.run();
    assert_eq!(*harness.state(), Some(Crop { low: [0.0; 3], high: size }));
    harness.get_by_role_and_label(Role::Slider, "z to").set_value_accesskit(30.0);
    harness.run();
    harness.get_by_role_and_label(Role::Slider, "z from").set_value_accesskit(50.0);
    harness.run();
    assert_eq!(*harness.state(), Some(Crop { low: [0.0, 0.0, 50.0], high: [40.0, 60.0, 50.0] }));
    harness.get_by_label("crop to a box").click();
    harness.run();
    assert_eq!(*harness.state(), None);
}

#[test]
fn light_is_switched_on_and_changed() {
    let show = |ui: &mut egui::Ui, light: &mut Option<Shading>| {
        panels::shading(ui, light);
    };
    let mut harness = Harness::new_ui_state(show, None);
    harness.get_by_label("shade by gradients").click();
    harness.run();
    assert_eq!(*harness.state(), Some(Shading::default()));
    harness.get_by_role_and_label(Role::Slider, "specular").set_value_accesskit(0.75);
    harness.run();
    assert_eq!(*harness.state(), Some(Shading { specular: 0.75, ..Shading::default() }));
}

#[test]
fn an_isovalue_follows_slider_and_pointer() {
    let values = Distribution { min: -10.0, max: 30.0, counts: vec![5, 0, 9, 2] };
    let show = move |ui: &mut egui::Ui, isovalue: &mut f64| {
        panels::isovalue(ui, &values, isovalue);
    };
    let mut harness = Harness::new_ui_state(show, 2.0);
    harness.get_by_role_and_label(Role::Slider, "isovalue").set_value_accesskit(7.5);
    harness.run();
    assert_eq!(*harness.state(), 7.5);
    let plot = harness.get_by_label("distribution; drag to move the isovalue").rect();
    // A click at a quarter of the plot, then a drag beyond its end.
    harness.drag_at(plot.lerp_inside(egui::vec2(0.25, 0.5)));
    harness.run();
    assert!(harness.state().abs() < 0.1, "{}", harness.state());
    harness.hover_at(plot.right_center() + egui::vec2(40.0, 0.0));
    harness.run();
    assert_eq!(*harness.state(), 30.0);
    harness.drop_at(plot.right_center());
    harness.run();
    harness.hover_at(plot.center());
    harness.run();
    assert_eq!(*harness.state(), 30.0, "nothing is pressed any more");
}

#[test]
fn a_surface_becomes_transparent() {
    let show = |ui: &mut egui::Ui, material: &mut Material| {
        panels::material(ui, material);
    };
    let mut harness = Harness::new_ui_state(show, Material::default());
    harness.get_by_role_and_label(Role::Slider, "opacity").set_value_accesskit(0.25);
    harness.run();
    assert_eq!(*harness.state(), Material { opacity: 0.25, ..Material::default() });
    assert!(matches!(harness.state().colour, Colouring::Plain(_)));
}
