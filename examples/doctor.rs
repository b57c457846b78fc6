//! Description of this machine's adapters for `cargo xtask doctor`: one line of JSON per adapter,
//! best first.
//!
//! If kernels run on a driver, a line has the result of a canary for drivers that stop loops early.
//! `--quick` describes only the adapter of rank 0, without a canary.

#[allow(unreachable_pub, reason = "shared by programs and libraries")]
#[path = "support/say.rs"]
mod say;

use std::rc::Rc;

use serde_json::{Value, json};
use zippy::Error;
use zippy::device::{Device, DeviceOptions};
use zippy::error::DeviceError;

use say::say;

/// Above 65,535, the limit after which some versions of Mesa's software Vulkan stop a loop.
const ITERATIONS: u32 = 100_000;

pub(crate) fn main() -> Result<(), Error> {
    zippy::prepare_process();
    if std::env::args().any(|argument| argument == "--quick") {
        let device = Device::open(&DeviceOptions::from_env(0, 1)?)?;
        say(describe(&device))?;
        return Ok(());
    }
    for number in 0.. {
        let options = DeviceOptions { adapter: Some(number.to_string()), ..DeviceOptions::from_env(0, 1)? };
        let device = match Device::open(&options) {
            Err(DeviceError::UnknownAdapter { .. }) if number > 0 => break,
            Err(error @ (DeviceError::NoAdapter { .. } | DeviceError::Setting { .. })) => return Err(error.into()),
            // One broken adapter must not hide the next.
            Err(error) => {
                say(json!({ "name": format!("adapter {number}"), "loop_canary": error.to_string() }))?;
                continue;
            }
            Ok(device) => device,
        };
        let mut line = describe(&device);
        if !device.is_native() {
            match canary(&device) {
                Ok((run, state)) => {
                    line["loop_iterations"] = run.into();
                    line["loop_canary"] = verdict(run, state).into();
                }
                Err(error) => line["loop_canary"] = error.to_string().into(),
            }
        }
        say(line)?;
    }
    Ok(())
}

fn describe(device: &Device) -> Value {
    let (adapter, limits) = (device.adapter(), device.limits());
    json!({
        "name": adapter.name,
        "backend": format!("{:?}", adapter.backend),
        "type": format!("{:?}", adapter.device_type),
        "driver": adapter.driver,
        "storage_binding_mib": limits.binding_bytes >> 20,
        "buffer_mib": limits.buffer_bytes >> 20,
        "memory_mib": adapter.memory_bytes.map(|bytes| bytes >> 20),
        "host_mapped": device.host_mapped(),
        "kernels": if device.is_native() { "native" } else { "driver" },
        "features": device.features().iter_names().map(|(name, _)| name).collect::<Vec<_>>(),
        "host_processor": host_processor(),
        "host_vector_extensions": host_vector_extensions(),
    })
}

/// Name of the processor; `None` if the system does not report a name.
fn host_processor() -> Option<String> {
    let name = if cfg!(target_os = "macos") {
        let sysctl = std::process::Command::new("sysctl").args(["-n", "machdep.cpu.brand_string"]).output().ok()?;
        String::from_utf8(sysctl.stdout).ok()?
    } else if cfg!(windows) {
        std::env::var("PROCESSOR_IDENTIFIER").ok()?
    } else {
        let processors = std::fs::read_to_string("/proc/cpuinfo").ok()?;
        let line = processors.lines().find(|line| line.starts_with("model name"))?;
        line.split_once(':')?.1.to_string()
    };
    Some(name.trim().to_string()).filter(|name| !name.is_empty())
}

/// Extensions of the processor with wide vectors, the widest last.
fn host_vector_extensions() -> Vec<&'static str> {
    #[cfg(target_arch = "x86_64")]
    let known = [("AVX2", std::arch::is_x86_feature_detected!("avx2")), ("AVX-512", zippy::device::has_wide_vectors())];
    #[cfg(target_arch = "aarch64")]
    let known = [("NEON", true), ("SVE", std::arch::is_aarch64_feature_detected!("sve"))];
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let known = [("", false); 0];
    known.into_iter().filter(|(_, is_present)| *is_present).map(|(name, _)| name).collect()
}

fn verdict(run: u32, state: u32) -> &'static str {
    let expected = (0..run).fold(1_u32, |state, _| state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    match run {
        _ if state != expected => "wrong results",
        ITERATIONS => "good",
        _ => "capped",
    }
}

/// Runs a loop and returns the number of iterations and the final state.
fn canary(device: &Rc<Device>) -> Result<(u32, u32), Error> {
    let raw = device.raw();
    let buffer = |usage, mapped| {
        raw.create_buffer(&wgpu::BufferDescriptor { label: None, size: 16, usage, mapped_at_creation: mapped })
    };
    use wgpu::BufferUsages as Usage;
    let (words, back) = device.checked("making the loop canary", || {
        let words = buffer(Usage::STORAGE | Usage::COPY_SRC | Usage::COPY_DST, false);
        let back = buffer(Usage::MAP_READ | Usage::COPY_DST, false);
        device.queue().write_buffer(&words, 0, &ITERATIONS.to_le_bytes());
        let module = raw.create_shader_module(wgpu::include_wgsl!("../shaders/loop_canary.wgsl"));
        let pipeline = raw.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some("loop canary"),
            layout: None,
            module: &module,
            entry_point: None,
            compilation_options: Default::default(),
            cache: None,
        });
        let bindings = raw.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: words.as_entire_binding() }],
        });
        let mut encoder = raw.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &bindings, &[]);
        pass.dispatch_workgroups(1, 1, 1);
        drop(pass);
        encoder.copy_buffer_to_buffer(&words, 0, &back, 0, 16);
        device.queue().submit([encoder.finish()]);
        (words, back)
    })?;
    back.map_async(wgpu::MapMode::Read, .., |_| {});
    raw.poll(wgpu::PollType::wait_indefinitely()).map_err(|error| Error::program(error.to_string()))?;
    let view = back.get_mapped_range(..).map_err(|error| Error::program(error.to_string()))?;
    let word = |at: usize| u32::from_le_bytes([view[at], view[at + 1], view[at + 2], view[at + 3]]);
    let result = (word(4), word(8));
    drop((view, words));
    Ok(result)
}
