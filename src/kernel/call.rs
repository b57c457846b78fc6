use super::binding::Binding;
use super::params::{ParamValue, Record};
use super::pipeline::BoundBuffer;
use super::prepare::Prepared;
use super::uniforms::Uniforms;
use super::{Kernel, domain, geometry};
use crate::element::Element;
use crate::error::{KernelError, Result};
use crate::trace;

/// What a call does with a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
    Update,
}

/// A call of a kernel while it is put together. Mistakes are kept and reported by [`Call::run`].
#[derive(Debug)]
#[must_use = "a call does nothing before run()"]
pub struct Call<'k> {
    pub(super) kernel: &'k Kernel,
    pub(super) bound: Vec<(String, Binding, Access)>,
    pub(super) over: Option<Binding>,
    pub(super) params: Vec<(String, ParamValue)>,
    pub(super) records: Vec<(String, Record)>,
}

impl<'k> Call<'k> {
    pub(super) fn new(kernel: &'k Kernel) -> Self {
        Self { kernel, bound: Vec::new(), over: None, params: Vec::new(), records: Vec::new() }
    }

    fn bind(mut self, name: &str, section: impl Into<Binding>, access: Access) -> Self {
        self.bound.push((name.to_owned(), section.into(), access));
        self
    }

    /// Binds a section to a variable that the shader declares `var<storage, read>`.
    pub fn read(self, name: &str, section: impl Into<Binding>) -> Self {
        self.bind(name, section, Access::Read)
    }

    /// Binds a section to a `read_write` variable. The first written section gives the domain: one invocation a cell.
    pub fn write(self, name: &str, section: impl Into<Binding>) -> Self {
        self.bind(name, section, Access::Write)
    }

    /// Binds a section that the kernel both reads and writes to a `read_write` variable.
    pub fn update(self, name: &str, section: impl Into<Binding>) -> Self {
        self.bind(name, section, Access::Update)
    }

    /// Runs over the cells of this section instead of the first written one. Positions still count from the start of the
    /// written section, so that the ghost cells around it are negative or past its end.
    pub fn over(mut self, section: impl Into<Binding>) -> Self {
        self.over = Some(section.into());
        self
    }

    /// Gives a member of a uniform struct, or a uniform variable that is no struct, its value. `"params.name"` where two
    /// structs have a member of the same name; `"light.position"` for members of members.
    pub fn param(mut self, name: &str, value: impl Into<ParamValue>) -> Self {
        self.params.push((name.to_owned(), value.into()));
        self
    }

    /// Gives the uniform variable `name` all its members at once; they are matched by name and type. [`Call::param`] given
    /// as well goes before it.
    pub fn params<T: Element>(mut self, name: &str, value: &T) -> Self {
        self.records.push((name.to_owned(), Record::new(value)));
        self
    }

    /// Queues the kernel on this rank's device, after everything queued before; transfers and reads of the host wait for it.
    /// Local. An empty domain is nothing to do. A warm call allocates nothing on the device.
    ///
    /// # Errors
    /// Names that are missing, unknown, unused or given twice; element types, access or parameters that do not fit
    /// the shader; one buffer bound to be read and to be written; a section whose region was wrong; WGSL that is wrong for
    /// these arrays; a device that cannot run the kernel.
    pub fn run(self) -> Result<()> {
        self.kernel.reload();
        let done = self.attempt();
        if let Err(error) = &done
            && let Some(changed) = self.kernel.step_back()
        {
            if self.attempt().is_err() {
                // The call is wrong, not the change.
                self.kernel.step_forward(changed);
                return done;
            }
            trace::warn(&format!("kernel {} was changed, but stays as it was: {error}", self.kernel.name()));
            return Ok(());
        }
        done?;
        self.kernel.shared.state.borrow_mut().previous = None;
        Ok(())
    }

    fn attempt(&self) -> Result<()> {
        self.submit(&self.prepare()?)
    }

    /// Records the dispatches.
    fn submit(&self, prepared: &Prepared) -> Result<()> {
        let Prepared { version, compiled, order, boxes, step, uniforms } = prepared;
        let device = &self.kernel.shared.device;
        let (name, checked) = (&version.program.name, &compiled.checked);
        if boxes.is_empty() {
            return Ok(());
        }
        device.check(&format!("running kernel {name}"))?;
        let pipeline = compiled.pipeline(device, name)?;

        let mut words = Vec::new();
        let mut buffers = vec![None; order.len()];
        for (number, &bound) in order.iter().enumerate() {
            let Some(bound) = bound else {
                // Not used by this entry point; its place in the geometry stays empty.
                words.resize(4 * checked.map.after(number), 0);
                continue;
            };
            let (_, binding, _) = &self.bound[bound];
            let (slot_bytes, window_bytes) = window(binding, device.limits().binding_bytes);
            let array =
                geometry::array_words(binding, window_bytes / slot_bytes).ok_or_else(|| KernelError::Limit {
                    kernel: name.clone(),
                    problem: format!("{} is too large for 31-bit positions; cut it into more chunks", binding.label),
                })?;
            words.extend(array);
            buffers[number] = Some(match &binding.buffer {
                Some(buffer) => BoundBuffer {
                    raw: buffer.raw().clone(),
                    id: buffer.id(),
                    weak: Some(buffer.downgrade()),
                    window_bytes,
                },
                None => nothing(device, slot_bytes)?,
            });
        }
        let shape = domain::Shape { workgroup: checked.workgroup, limit: device.limits().workgroups, step: *step };
        let dispatches = domain::dispatches(boxes, &shape);
        let mut parts = uniforms.clone();
        for dispatch in &dispatches {
            let all: Vec<i32> = words.iter().chain(&dispatch.words).copied().collect();
            parts.push(bytemuck::cast_slice(&all).to_vec());
        }
        let (buffer, offsets) = device.with_cache(|cache: &mut Uniforms| cache.place(device, &parts))?;
        let groups =
            self.kernel.shared.groups.borrow_mut().get(device, name, (pipeline, checked), &buffers, &buffer)?;
        let (constants, geometries) = offsets.split_at(uniforms.len());
        device.record(|encoder| {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&pipeline.raw);
            for (dispatch, &geometry) in dispatches.iter().zip(geometries) {
                for (group, bind_group) in &groups {
                    pass.set_bind_group(*group, bind_group, &checked.offsets(*group, constants, geometry));
                }
                let [x, y, z] = dispatch.groups;
                pass.dispatch_workgroups(x, y, z);
            }
        });
        Ok(())
    }
}

/// `(bytes of what one index of the variable reaches, bytes of a window)`.
pub(super) fn window(binding: &Binding, limit: u64) -> (u64, u64) {
    const ALIGN: u64 = 256;
    let slot = match binding.element.kind {
        crate::element::ElementKind::Packed(_) => 4,
        _ => binding.element.bytes as u64,
    };
    // Windows begin at a multiple of both the slot and the alignment of bindings: their least common multiple.
    let shared = ALIGN.min(1 << slot.trailing_zeros());
    let unit = slot * (ALIGN / shared);
    (slot, (limit / unit).max(1) * unit)
}

/// What is bound for a chunk without cells.
fn nothing(device: &crate::device::Device, slot_bytes: u64) -> Result<BoundBuffer> {
    #[derive(Default)]
    struct Nothing(Option<(wgpu::Buffer, u64)>);
    device.with_cache(|cache: &mut Nothing| {
        let size = slot_bytes.next_multiple_of(256);
        if cache.0.as_ref().is_none_or(|(buffer, _)| buffer.size() < size) {
            let usage = wgpu::BufferUsages::STORAGE;
            let made = device.new_buffer(size, usage, "binding an empty chunk", "zippy: nothing", false)?;
            // Ids of chunks count up from 1.
            cache.0 = Some((made, u64::MAX - size));
        }
        let (raw, id) = cache.0.clone().expect("just made");
        let window_bytes = raw.size();
        Ok(BoundBuffer { raw, id, weak: None, window_bytes })
    })
}
