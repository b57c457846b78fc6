//! Memory that traps accesses past its end.

/// Bytes at an address that is a multiple of 8, and less than 8 bytes before memory that traps.
pub struct Guarded {
    #[cfg(target_os = "linux")]
    pages: *mut u8,
    #[cfg(target_os = "linux")]
    mapped: usize,
    #[cfg(not(target_os = "linux"))]
    words: Vec<u64>,
    count: usize,
}

#[cfg(target_os = "linux")]
mod system {
    pub(super) const READ_WRITE: i32 = 3;
    pub(super) const PRIVATE_ANONYMOUS: i32 = 0x22;
    pub(super) const PAGE: usize = 1 << 16;

    // SAFETY: the C library's own signatures.
    unsafe extern "C" {
        pub(super) fn mmap(
            address: *mut u8,
            bytes: usize,
            protection: i32,
            flags: i32,
            file: i32,
            offset: i64,
        ) -> *mut u8;
        pub(super) fn mprotect(address: *mut u8, bytes: usize, protection: i32) -> i32;
        pub(super) fn munmap(address: *mut u8, bytes: usize) -> i32;
    }
}

#[cfg(target_os = "linux")]
impl Guarded {
    pub fn new(bytes: &[u8]) -> Self {
        let used = bytes.len().next_multiple_of(system::PAGE);
        let mapped = used + system::PAGE;
        // SAFETY: a new mapping touches no other memory; its last page is unused.
        let pages = unsafe {
            let flags = system::PRIVATE_ANONYMOUS;
            let pages = system::mmap(std::ptr::null_mut(), mapped, system::READ_WRITE, flags, -1, 0);
            assert!(!pages.is_null() && pages.addr() != usize::MAX, "no memory");
            assert_eq!(system::mprotect(pages.add(used), system::PAGE, 0), 0);
            pages
        };
        let mut guarded = Self { pages, mapped, count: bytes.len() };
        guarded.bytes().copy_from_slice(bytes);
        guarded
    }

    pub fn bytes(&mut self) -> &mut [u8] {
        let start = self.mapped - system::PAGE - self.count.next_multiple_of(8);
        // SAFETY: the bytes are mapped as long as `self` is, and borrowed with it.
        unsafe { std::slice::from_raw_parts_mut(self.pages.add(start), self.count) }
    }
}

#[cfg(target_os = "linux")]
impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: borrows of the mapping have ended.
        unsafe { system::munmap(self.pages, self.mapped) };
    }
}

#[cfg(not(target_os = "linux"))]
impl Guarded {
    pub fn new(bytes: &[u8]) -> Self {
        let mut guarded = Self { words: vec![0; bytes.len().div_ceil(8)], count: bytes.len() };
        guarded.bytes().copy_from_slice(bytes);
        guarded
    }

    pub fn bytes(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.count]
    }
}
