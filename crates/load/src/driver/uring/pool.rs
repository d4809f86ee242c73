//! Receive buffers that the kernel fills

use io_uring::{IoUring, types::BufRingEntry};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use std::ffi::c_void;
use std::io;
use std::sync::atomic::{AtomicU16, Ordering};

/// Ring of provided buffers, shared by all connections of a thread; io_uring_register_buf_ring(3).
///
/// The kernel may write into a buffer from the call of `recycle` until a completion contains the buffer's number. At
/// other times, the driver owns the buffer.
pub(super) struct BufferPool {
    ring: *mut BufRingEntry,
    buffers: Box<[u8]>,
    tail: u16,
}

/// Number of buffers, a power of two.
const COUNT: u16 = 1024;
const SIZE: usize = 4096;
const RING_BYTES: usize = COUNT as usize * size_of::<BufRingEntry>();

impl BufferPool {
    /// Group id of the buffers; receives refer to it.
    pub const GROUP: u16 = 0;

    pub fn register(ring: &IoUring) -> io::Result<BufferPool> {
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: a new private mapping, unmapped in `drop`; the kernel requires page alignment.
        let memory = unsafe { mmap_anonymous(std::ptr::null_mut(), RING_BYTES, protection, flags) }?;
        let mut pool = BufferPool {
            ring: memory.cast(),
            buffers: vec![0; COUNT as usize * SIZE].into_boxed_slice(),
            tail: 0,
        };
        // SAFETY: the mapping has room for COUNT entries and lives as long as the pool, which outlives the ring.
        unsafe { ring.submitter().register_buf_ring_with_flags(memory as u64, COUNT, BufferPool::GROUP, 0) }?;
        for buffer in 0..COUNT {
            pool.recycle(buffer);
        }
        Ok(pool)
    }

    /// First `length` bytes of a buffer whose number a completion contained.
    #[inline]
    pub fn bytes(&self, buffer: u16, length: usize) -> &[u8] {
        let at = buffer as usize * SIZE;
        &self.buffers[at..at + length]
    }

    /// Returns `buffer` to the kernel.
    #[inline]
    pub fn recycle(&mut self, buffer: u16) {
        let at = &raw mut self.buffers[buffer as usize * SIZE];
        // SAFETY: the index is below COUNT, thus within the mapping. The kernel does not read an entry before the tail
        // has passed it, and the tail is stored later.
        unsafe {
            let entry = &mut *self.ring.add((self.tail & (COUNT - 1)) as usize);
            entry.set_addr(at as u64);
            entry.set_len(SIZE as u32);
            entry.set_bid(buffer);
            self.tail = self.tail.wrapping_add(1);
            let tail = BufRingEntry::tail(self.ring).cast::<AtomicU16>();
            (*tail).store(self.tail, Ordering::Release);
        }
    }
}

impl Drop for BufferPool {
    fn drop(&mut self) {
        // SAFETY: mapped in `register` with this length, and no longer referenced.
        let _ = unsafe { munmap(self.ring.cast::<c_void>(), RING_BYTES) };
    }
}
