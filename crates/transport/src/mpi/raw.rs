//! MPI calls of the transport: checked return codes, and ownership of the memory that MPI uses.

use std::ffi::{c_char, c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::rc::Rc;

use mpi::ffi;

use super::pool::PooledBytes;
use crate::Payload;
use zippy_base::error::TransportError;

type Result<T, E = TransportError> = std::result::Result<T, E>;

/// Converts the return code of an MPI call to a result with the error text of the MPI library.
fn checked(call: &str, code: c_int) -> Result<()> {
    // MPI_SUCCESS is 0 in every MPI.
    if code == 0 {
        return Ok(());
    }
    let mut text = vec![0_u8; ffi::MPI_MAX_ERROR_STRING as usize + 1];
    let mut length = 0;
    // SAFETY: the buffer has the size that the function requires.
    unsafe { ffi::MPI_Error_string(code, text.as_mut_ptr().cast::<c_char>(), &mut length) };
    let message = String::from_utf8_lossy(&text[..usize::try_from(length).unwrap_or(0)]).into_owned();
    Err(TransportError::Mpi { call: call.into(), message })
}

/// Converts a number of bytes or ranks to MPI's integer type.
fn count(value: usize) -> Result<c_int> {
    c_int::try_from(value).map_err(|_| TransportError::Other(format!("{value} is more than MPI can count")))
}

/// Intracommunicator. A duplicate must be freed with [`free`](Self::free).
pub(super) struct Communicator(ffi::MPI_Comm);

/// Nonblocking MPI operation with the memory that it uses. A drop before completion leaks the
/// memory.
///
/// Moving a box or a reference would assert unique access, so the memory has a raw pointer.
pub(super) struct InFlight<T> {
    request: ffi::MPI_Request,
    done: bool,
    /// Pointer from a box. MPI has exclusive access until the operation completes.
    buffer: NonNull<T>,
}

impl<T> InFlight<T> {
    /// Moves `buffer` to the heap and starts an operation on it. `call` gets a unique pointer to
    /// the buffer, valid until the operation completes, and a pointer to the request, which `call`
    /// sets on success.
    fn start(buffer: T, call: impl FnOnce(*mut T, *mut ffi::MPI_Request) -> Result<()>) -> Result<Self> {
        let buffer = NonNull::from(Box::leak(Box::new(buffer)));
        let mut request = MaybeUninit::uninit();
        match call(buffer.as_ptr(), request.as_mut_ptr()) {
            // SAFETY: the call has succeeded, so that there is a request.
            Ok(()) => Ok(Self { request: unsafe { request.assume_init() }, done: false, buffer }),
            Err(error) => {
                // SAFETY: from a box, and nothing has been started that would use it.
                drop(unsafe { Box::from_raw(buffer.as_ptr()) });
                Err(error)
            }
        }
    }

    /// Tests for completion (`MPI_Test`).
    pub(super) fn done(&mut self) -> Result<bool> {
        if !self.done {
            let mut flag = 0;
            // SAFETY: the request is active, and the buffer belongs to `self`.
            let code = unsafe { ffi::MPI_Test(&mut self.request, &mut flag, ffi::RSMPI_STATUS_IGNORE) };
            checked("MPI_Test", code)?;
            self.done = flag != 0;
        }
        Ok(self.done)
    }

    pub(super) fn was_complete(&self) -> bool {
        self.done
    }

    /// Returns the buffer if the operation was complete at the last test.
    pub(super) fn buffer(&self) -> Option<&T> {
        // SAFETY: from a box, and MPI no longer uses it.
        if self.done { Some(unsafe { self.buffer.as_ref() }) } else { None }
    }

    /// Takes the buffer if the operation was complete at the last test.
    pub(super) fn into_buffer(self) -> Option<T> {
        if !self.done {
            return None;
        }
        let buffer = self.buffer.as_ptr();
        std::mem::forget(self);
        // SAFETY: from a box, taken once as `self` is forgotten, and MPI no longer uses it.
        Some(*unsafe { Box::from_raw(buffer) })
    }
}

impl<T> Drop for InFlight<T> {
    fn drop(&mut self) {
        if self.done {
            // SAFETY: from a box, dropped once, and MPI no longer uses it.
            drop(unsafe { Box::from_raw(self.buffer.as_ptr()) });
        }
    }
}

/// The numbers of this rank, and the numbers of all ranks in order of rank.
type Gathered<const N: usize> = ([u64; N], Vec<[u64; N]>);

/// Matched message that has not been received (`MPI_Message`).
pub(super) struct Matched {
    message: ffi::MPI_Message,
    pub(super) source: usize,
    pub(super) tag: u32,
    pub(super) bytes: usize,
}

impl Matched {
    /// Starts to receive the message. The buffer has the size of the message.
    pub(super) fn receive(mut self, into: PooledBytes) -> Result<InFlight<PooledBytes>> {
        assert_eq!(into.as_ref().len(), self.bytes, "the buffer of a message has another size");
        let length = count(self.bytes)?;
        // SAFETY: MPI has exclusive access to a buffer of the message's size until completion.
        InFlight::start(into, |into, request| unsafe {
            let pointer = (*into).as_mut().as_mut_ptr().cast::<c_void>();
            let code = ffi::MPI_Imrecv(pointer, length, ffi::RSMPI_UINT8_T, &mut self.message, request);
            checked("MPI_Imrecv", code)
        })
    }
}

impl Communicator {
    pub(super) fn world() -> Self {
        // SAFETY: a constant of the library.
        Self(unsafe { ffi::RSMPI_COMM_WORLD })
    }

    /// Wraps a communicator of the program. An intercommunicator is an error.
    pub(super) fn from_raw(raw: ffi::MPI_Comm) -> Result<Self> {
        let mut between = 0;
        // SAFETY: the handle is a communicator's, and the call only reads it.
        checked("MPI_Comm_test_inter", unsafe { ffi::MPI_Comm_test_inter(raw, &mut between) })?;
        match between {
            0 => Ok(Self(raw)),
            _ => Err(TransportError::Foreign("the communicator joins two groups; give one inside of a group".into())),
        }
    }

    pub(super) fn rank(&self) -> Result<usize> {
        let mut rank = 0;
        // SAFETY: the call only reads the communicator.
        checked("MPI_Comm_rank", unsafe { ffi::MPI_Comm_rank(self.0, &mut rank) })?;
        Ok(rank as usize)
    }

    pub(super) fn size(&self) -> Result<usize> {
        let mut size = 0;
        // SAFETY: the call only reads the communicator.
        checked("MPI_Comm_size", unsafe { ffi::MPI_Comm_size(self.0, &mut size) })?;
        Ok(size as usize)
    }

    /// Rank of this process on its node, and number of ranks on the node. Collective; blocks.
    pub(super) fn node_rank_and_size(&self) -> Result<(usize, usize)> {
        let mut node = MaybeUninit::uninit();
        // SAFETY: the handle is valid; the new one is read only after the call has succeeded.
        let node = unsafe {
            let (kind, info) = (ffi::RSMPI_COMM_TYPE_SHARED, ffi::RSMPI_INFO_NULL);
            let code = ffi::MPI_Comm_split_type(self.0, kind, 0, info, node.as_mut_ptr());
            checked("MPI_Comm_split_type", code)?;
            Self(node.assume_init())
        };
        let rank_and_size = (node.rank()?, node.size()?);
        node.free()?;
        Ok(rank_and_size)
    }

    /// Starts to duplicate the communicator (`MPI_Comm_idup`). Collective.
    pub(super) fn duplicate(&self) -> Result<InFlight<ffi::MPI_Comm>> {
        // SAFETY: a constant of the library.
        let none = unsafe { ffi::RSMPI_COMM_NULL };
        // SAFETY: the memory for the new communicator belongs to MPI until the request has ended.
        InFlight::start(none, |duplicate, request| unsafe {
            checked("MPI_Comm_idup", ffi::MPI_Comm_idup(self.0, duplicate, request))
        })
    }

    /// Wraps a duplicated communicator and sets its error handler to `MPI_ERRORS_RETURN`.
    pub(super) fn from_duplicate(raw: ffi::MPI_Comm) -> Result<Self> {
        // SAFETY: a constant of the library and a new communicator.
        let code = unsafe { ffi::MPI_Comm_set_errhandler(raw, ffi::RSMPI_ERRORS_RETURN) };
        checked("MPI_Comm_set_errhandler", code)?;
        Ok(Self(raw))
    }

    /// Frees a duplicated communicator. Collective.
    pub(super) fn free(mut self) -> Result<()> {
        // SAFETY: the handle is valid, and used for the last time as `self` is consumed.
        checked("MPI_Comm_free", unsafe { ffi::MPI_Comm_free(&mut self.0) })
    }

    /// Starts to send a byte range of a payload (`MPI_Isend`).
    pub(super) fn send(
        &self,
        to: usize,
        tag: u32,
        payload: &Rc<Payload>,
        part: std::ops::Range<usize>,
    ) -> Result<InFlight<Rc<Payload>>> {
        let (length, to, tag) = (count(part.len())?, count(to)?, count(tag as usize)?);
        // SAFETY: the payload is kept and not changed until completion.
        InFlight::start(Rc::clone(payload), |payload, request| unsafe {
            let bytes: &[u8] = (***payload).as_ref();
            let pointer = bytes[part].as_ptr().cast::<c_void>();
            let code = ffi::MPI_Isend(pointer, length, ffi::RSMPI_UINT8_T, to, tag, self.0, request);
            checked("MPI_Isend", code)
        })
    }

    /// Matches an arrived message (`MPI_Improbe`). `None` stands for any source or any tag.
    pub(super) fn match_message(&self, from: Option<usize>, tag: Option<u32>) -> Result<Option<Matched>> {
        let mut flag = 0;
        let mut message = MaybeUninit::uninit();
        let mut status = MaybeUninit::<ffi::MPI_Status>::uninit();
        // SAFETY: message and status are read only after a successful match.
        unsafe {
            let from = from.map_or(Ok(ffi::RSMPI_ANY_SOURCE), count)?;
            let tag = tag.map_or(Ok(ffi::RSMPI_ANY_TAG), |tag| count(tag as usize))?;
            let code = ffi::MPI_Improbe(from, tag, self.0, &mut flag, message.as_mut_ptr(), status.as_mut_ptr());
            checked("MPI_Improbe", code)?;
            if flag == 0 {
                return Ok(None);
            }
            let status = status.assume_init();
            let mut bytes = 0;
            checked("MPI_Get_count", ffi::MPI_Get_count(&status, ffi::RSMPI_UINT8_T, &mut bytes))?;
            let (source, tag) = (status.MPI_SOURCE as usize, status.MPI_TAG as u32);
            Ok(Some(Matched { message: message.assume_init(), source, tag, bytes: bytes as usize }))
        }
    }

    /// Starts to sum `N` numbers over all ranks. The second array receives the sums. Collective.
    pub(super) fn all_reduce_sum<const N: usize>(&self, own: [u64; N]) -> Result<InFlight<[[u64; N]; 2]>> {
        let n = count(N)?;
        // SAFETY: both arrays belong to MPI until completion; they do not overlap.
        InFlight::start([own, [0; N]], |buffers, request| unsafe {
            let (kind, operation) = (ffi::RSMPI_UINT64_T, ffi::RSMPI_SUM);
            let own = buffers.cast::<[u64; N]>();
            let (from, to) = (own.cast_const().cast::<c_void>(), own.add(1).cast::<c_void>());
            let code = ffi::MPI_Iallreduce(from, to, n, kind, operation, self.0, request);
            checked("MPI_Iallreduce", code)
        })
    }

    /// Starts to gather `N` numbers of each rank on all ranks. Collective.
    pub(super) fn all_gather<const N: usize>(&self, own: [u64; N]) -> Result<InFlight<Gathered<N>>> {
        let n = count(N)?;
        // SAFETY: MPI has exclusive access until completion; the vector has an entry per rank.
        InFlight::start((own, vec![[0; N]; self.size()?]), |buffers, request| unsafe {
            let kind = ffi::RSMPI_UINT64_T;
            let (from, to) = ((&raw const (*buffers).0).cast::<c_void>(), (*buffers).1.as_mut_ptr().cast::<c_void>());
            checked("MPI_Iallgather", ffi::MPI_Iallgather(from, n, kind, to, n, kind, self.0, request))
        })
    }
}

pub(super) fn largest_tag() -> Result<u32> {
    let (mut value, mut flag) = (std::ptr::null_mut::<c_int>(), 0);
    // SAFETY: this attribute of the world is a pointer to an int that lives as long as MPI.
    let found = unsafe {
        let (world, key, destination) =
            (ffi::RSMPI_COMM_WORLD, ffi::MPI_TAG_UB as c_int, (&raw mut value).cast::<c_void>());
        checked("MPI_Comm_get_attr", ffi::MPI_Comm_get_attr(world, key, destination, &mut flag))?;
        (flag != 0 && !value.is_null()).then(|| *value)
    };
    // The MPI standard guarantees tags up to this value.
    Ok(found.and_then(|largest| u32::try_from(largest).ok()).unwrap_or(32_767))
}

/// Initialises MPI with `MPI_THREAD_SERIALIZED`. Returns true if MPI provides that level.
pub(super) fn initialise() -> Result<bool> {
    let mut provided = 0;
    // SAFETY: called once per process, before any other call that needs it. Arguments are optional.
    unsafe {
        let (none, wanted) = (std::ptr::null_mut(), ffi::RSMPI_THREAD_SERIALIZED);
        checked("MPI_Init_thread", ffi::MPI_Init_thread(none, std::ptr::null_mut(), wanted, &mut provided))?;
        Ok(provided >= wanted)
    }
}

/// Finalises MPI, on the thread that initialised it. Collective; blocks.
pub(super) fn finalise() {
    // SAFETY: no communication is left, and no call follows. A failure comes too late for a report.
    unsafe { ffi::MPI_Finalize() };
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum CallPermission {
    NotInitialised,
    Finalised,
    /// MPI was initialised for single-threaded programs.
    OneThread,
    /// Only the thread that has initialised MPI may call it, and this is another thread.
    OtherThread,
    Yes,
}

pub(super) fn call_permission() -> Result<CallPermission> {
    let (mut initialised, mut finalised, mut level, mut main) = (0, 0, 0, 0);
    // SAFETY: the first two may be called at any time, the others while MPI is initialised.
    unsafe {
        checked("MPI_Initialized", ffi::MPI_Initialized(&mut initialised))?;
        checked("MPI_Finalized", ffi::MPI_Finalized(&mut finalised))?;
        if finalised != 0 || initialised == 0 {
            return Ok(if finalised != 0 { CallPermission::Finalised } else { CallPermission::NotInitialised });
        }
        checked("MPI_Query_thread", ffi::MPI_Query_thread(&mut level))?;
        checked("MPI_Is_thread_main", ffi::MPI_Is_thread_main(&mut main))?;
        Ok(if level < ffi::RSMPI_THREAD_FUNNELED {
            CallPermission::OneThread
        } else if level < ffi::RSMPI_THREAD_SERIALIZED && main == 0 {
            CallPermission::OtherThread
        } else {
            CallPermission::Yes
        })
    }
}

/// Ends all processes of the job with an exit code. Returns only if MPI fails.
pub(super) fn abort(code: i32) {
    // SAFETY: MPI is initialised; the world is a constant of the library.
    unsafe { ffi::MPI_Abort(ffi::RSMPI_COMM_WORLD, code) };
}

pub(super) fn library() -> String {
    let text = mpi::environment::library_version().unwrap_or_default();
    text.split(['\n', ',', '\0']).next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}
