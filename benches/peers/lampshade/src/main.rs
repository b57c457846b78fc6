//! Scans and sorts of u32 by the crate lampshade.
//!
//! Each line of standard input is a request: first `{"do": "open", "adapter": NAME}`, then
//! `{"do": "scan" or "sort", "cells": N}`. The answer `{}` or `{"error": TEXT}` follows when the
//! device has finished. The cells are on the device before the request; the first result of each
//! operation and length is checked.
#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::io::{BufRead, Write};

use lampshade::{Scanner, Sorter};
use serde_json::{Value, json};
use wgpu::util::DeviceExt;
use wgpu::{Backends, BufferUsages, Device, Queue};

fn main() {
    let mut open = None;
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let answer = answer(&mut open, &line).unwrap_or_else(|error| json!({ "error": error }));
        println!("{answer}");
        let _ = std::io::stdout().flush();
    }
}

fn answer(open: &mut Option<Lampshade>, line: &str) -> Result<Value, String> {
    let request: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let what = request["do"].as_str().unwrap_or_default();
    if what == "open" {
        *open = Some(Lampshade::open(request["adapter"].as_str().unwrap_or_default())?);
    } else {
        let cells =
            request["cells"].as_u64().and_then(|cells| u32::try_from(cells).ok()).ok_or("\"cells\" is not a u32")?;
        open.as_mut().ok_or("no adapter is open")?.run(what == "sort", cells)?;
    }
    Ok(json!({}))
}

struct Lampshade {
    device: Device,
    queue: Queue,
    scanner: Scanner,
    sorter: Sorter,
    /// Input and result of each operation (true: sort) and length.
    buffers: HashMap<(bool, u32), [wgpu::Buffer; 2]>,
}

impl Lampshade {
    fn open(name: &str) -> Result<Self, String> {
        let descriptor = wgpu::InstanceDescriptor {
            backends: Backends::PRIMARY,
            ..wgpu::InstanceDescriptor::new_without_display_handle()
        };
        let adapters = pollster::block_on(wgpu::Instance::new(descriptor).enumerate_adapters(Backends::PRIMARY));
        let adapter = adapters.into_iter().find(|adapter| adapter.get_info().name == name);
        let adapter = adapter.ok_or(format!("no adapter {name:?}"))?;
        // The same as lampshade's own context, without timestamps.
        let device = adapter.request_device(&wgpu::DeviceDescriptor {
            required_features: adapter.features() & wgpu::Features::SUBGROUP,
            required_limits: adapter.limits(),
            memory_hints: wgpu::MemoryHints::Performance,
            ..Default::default()
        });
        let (device, queue) = pollster::block_on(device).map_err(|error| error.to_string())?;
        let info = adapter.get_info();
        let scanner = Scanner::new_for_adapter(&device, &queue, &info);
        let sorter = Sorter::new_for_adapter(&device, &queue, &info);
        Ok(Self { device, queue, scanner, sorter, buffers: HashMap::new() })
    }

    fn run(&mut self, sort: bool, cells: u32) -> Result<(), String> {
        let is_new = !self.buffers.contains_key(&(sort, cells));
        if is_new {
            let input = self.device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
                label: None,
                contents: bytemuck::cast_slice(&pseudo_random(cells)),
                usage: BufferUsages::STORAGE | BufferUsages::COPY_SRC,
            });
            let found = self.device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: input.size(),
                usage: BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            self.buffers.insert((sort, cells), [input, found]);
        }
        let [input, found] = &self.buffers[&(sort, cells)];
        let result = if sort {
            self.sorter.sort_gpu_to_gpu(input, found, cells)
        } else {
            self.scanner.scan_gpu_to_gpu(input, found, cells)
        };
        result.map_err(|error| error.to_string())?;
        self.device.poll(wgpu::PollType::wait_indefinitely()).map_err(|error| error.to_string())?;
        if is_new { self.check(sort, cells) } else { Ok(()) }
    }

    fn check(&self, sort: bool, cells: u32) -> Result<(), String> {
        let mut expected = pseudo_random(cells);
        if sort {
            expected.sort_unstable();
        } else {
            let mut sum = 0_u32;
            expected.iter_mut().for_each(|cell| {
                sum = sum.wrapping_add(*cell);
                *cell = sum;
            });
        }
        let found = &self.buffers[&(sort, cells)][1];
        let host = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: found.size(),
            usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(found, 0, &host, 0, found.size());
        self.queue.submit([encoder.finish()]);
        host.map_async(wgpu::MapMode::Read, .., |_| ());
        self.device.poll(wgpu::PollType::wait_indefinitely()).map_err(|error| error.to_string())?;
        let bytes = host.get_mapped_range(..).map_err(|error| error.to_string())?;
        let is_right = bytemuck::cast_slice::<u8, u32>(&bytes) == expected;
        if is_right { Ok(()) } else { Err(format!("the {} is wrong", if sort { "sort" } else { "scan" })) }
    }
}

/// The same numbers as in benches/primitives.rs.
fn pseudo_random(cells: u32) -> Vec<u32> {
    let mixed = |i: u32| {
        let x = i.wrapping_mul(0x9e37_79b9);
        let x = (x ^ (x >> 16)).wrapping_mul(0x85eb_ca6b);
        let x = (x ^ (x >> 13)).wrapping_mul(0xc2b2_ae35);
        x ^ (x >> 16)
    };
    (0..cells).map(mixed).collect()
}
