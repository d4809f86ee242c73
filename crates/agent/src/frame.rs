//! Frames: reports of an agent, split so that each part fits into a NATS message
//!
//! A report has a number. The agent sends its parts again until the coordinator acknowledges them, and the coordinator
//! ignores parts that it already has. Therefore nothing is lost or counted twice when a NATS server restarts.

/// Maximum number of bytes of a report in one frame. The default limit of NATS for a message is 1 MiB.
const PART_MAX: usize = 512 << 10;
/// Maximum number of parts of a report.
const PARTS_MAX: usize = 256;
/// Length of the header: number of the report, number of the part, number of parts.
const HEADER: usize = 12;

/// Splits report `number` into frames.
///
/// # Panics
/// Panics if the report is longer than 128 MiB.
pub fn split(number: u64, report: &[u8]) -> Vec<Vec<u8>> {
    let count = report.len().div_ceil(PART_MAX).max(1);
    assert!(count <= PARTS_MAX, "a report of {} bytes", report.len());
    let part = |part: usize| {
        let bytes = &report[part * PART_MAX..report.len().min((part + 1) * PART_MAX)];
        let mut frame = Vec::with_capacity(HEADER + bytes.len());
        frame.extend(number.to_be_bytes());
        frame.extend((part as u16).to_be_bytes());
        frame.extend((count as u16).to_be_bytes());
        frame.extend(bytes);
        frame
    };
    (0..count).map(part).collect()
}

/// Assembles the reports of one agent, which arrive in order, from their frames.
#[derive(Debug, Default)]
pub struct Assembler {
    /// Number of the next report.
    next: u64,
    parts: Vec<Vec<u8>>,
}

/// Error: bytes that are no frame, or a frame of a later report than the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameError;

impl Assembler {
    /// Adds a frame, and returns the report if it is complete. Repeated frames are ignored.
    pub fn add(&mut self, frame: &[u8]) -> Result<Option<Vec<u8>>, FrameError> {
        let (number, rest) = frame.split_first_chunk().ok_or(FrameError)?;
        let (part, rest) = rest.split_first_chunk().ok_or(FrameError)?;
        let (count, bytes) = rest.split_first_chunk().ok_or(FrameError)?;
        let number = u64::from_be_bytes(*number);
        let [part, count] = [*part, *count].map(|it| usize::from(u16::from_be_bytes(it)));
        if part >= count || count > PARTS_MAX || bytes.len() > PART_MAX {
            return Err(FrameError);
        }
        if number < self.next || (number == self.next && part < self.parts.len()) {
            return Ok(None);
        }
        if number > self.next || part > self.parts.len() {
            return Err(FrameError);
        }
        self.parts.push(bytes.to_vec());
        if self.parts.len() < count {
            return Ok(None);
        }
        self.next += 1;
        Ok(Some(std::mem::take(&mut self.parts).concat()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_report_arrives_once() {
        for length in [0, 1, PART_MAX - 1, PART_MAX, PART_MAX + 1, 3 * PART_MAX + 7] {
            let mut assembler = Assembler::default();
            for number in 0..2 {
                let report: Vec<u8> = (0..length).map(|n| (n % 251) as u8).collect();
                let frames = split(number, &report);
                let mut arrived = Vec::new();
                for (n, frame) in frames.iter().enumerate() {
                    // Each frame is repeated, as after a lost acknowledgement.
                    for _ in 0..2 {
                        arrived.extend(assembler.add(frame).expect("a frame"));
                    }
                    let earlier = assembler.add(&frames[n / 2]);
                    assert_eq!(earlier, Ok(None));
                }
                assert_eq!(arrived.len(), 1);
                assert!(arrived[0] == report, "{length} bytes");
            }
        }
    }

    #[test]
    fn rejects_what_is_no_frame() {
        let header = |number: u64, part: u16, count: u16| {
            [&number.to_be_bytes()[..], &part.to_be_bytes(), &count.to_be_bytes()].concat()
        };
        for bytes in [vec![], vec![0; 11], header(0, 1, 1), header(0, 0, 0), header(1, 0, 1), header(0, 1, 2)]
        {
            assert_eq!(Assembler::default().add(&bytes), Err(FrameError), "{bytes:?}");
        }
    }
}
