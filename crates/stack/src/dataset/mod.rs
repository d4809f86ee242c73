//! What do the tables under test hold?

mod names;
pub mod pgbench;
pub mod tickets;

/// Bytes of one message of COPY data: large enough that messages cost nothing, small enough to stay in the cache.
const CHUNK: usize = 64 * 1024;

/// Appends a number in decimal digits.
fn decimal(out: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return out.extend_from_slice(&digits[at..]);
        }
    }
}
