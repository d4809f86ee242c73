//! Rate limits of a control group, which can be lifted for a while: the CPU quota and the limits of disk operations and bytes

use super::{CgroupVersion, Group, UnappliedReason};
use std::fs::{read_to_string, write};
use std::path::PathBuf;

/// Rate limits that [`Group::lift_rate_limits`] removed. They are set again when the value is dropped, or by
/// [`LiftedLimits::restore`], which reports errors.
#[derive(Debug, Default)]
#[must_use]
pub struct LiftedLimits {
    /// Files with the lines that set the limits.
    lines: Vec<(PathBuf, String)>,
}

impl Group {
    /// Removes the group's rate limits until the returned value is dropped.
    pub fn lift_rate_limits(&self) -> LiftedLimits {
        let all: &[(&str, &str)] = match self.version {
            CgroupVersion::V1 => &V1,
            CgroupVersion::V2 => &V2,
        };
        let mut lifted = LiftedLimits::default();
        for (controller, directory) in &self.directories {
            for (_, file) in all.iter().filter(|it| it.0 == controller) {
                let path = directory.join(file);
                let text = read_to_string(&path).unwrap_or_default();
                for line in text.lines() {
                    // If the kernel refuses, the limit remains in effect.
                    if let Some(unlimited) = unlimited(line)
                        && write(&path, unlimited).is_ok()
                    {
                        lifted.lines.push((path.clone(), line.to_owned()));
                    }
                }
            }
        }
        lifted
    }
}

impl LiftedLimits {
    /// Adds the limits of another group.
    pub fn extend(&mut self, mut other: LiftedLimits) {
        self.lines.append(&mut other.lines);
    }

    /// Sets the limits again. The error is that of the first file that the kernel refused; that limit is not in effect.
    pub fn restore(mut self) -> Result<(), UnappliedReason> {
        self.set()
    }

    fn set(&mut self) -> Result<(), UnappliedReason> {
        let mut result = Ok(());
        // The limits of a host were lifted after those of its nodes, and must be set before them. A refused limit does not
        // prevent the others.
        for (path, line) in self.lines.drain(..).rev() {
            let refused = write(&path, line).map_err(|error| UnappliedReason::refused(&path, &error));
            result = result.and(refused);
        }
        result
    }
}

impl Drop for LiftedLimits {
    fn drop(&mut self) {
        let _ = self.set();
    }
}

/// Line that removes the limits of a line of such a file; `None` if the line has none. A line is a CPU quota (`-1` or `max`
/// without a limit), perhaps with its period, or the limits of a disk (`254:0 …`).
fn unlimited(line: &str) -> Option<String> {
    let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
    let is_disk = first.contains(':');
    let unlimited = match (is_disk, rest.contains('=')) {
        (true, true) => format!("{first} rbps=max wbps=max riops=max wiops=max"),
        (true, false) => format!("{first} 0"),
        (false, _) if rest.is_empty() => "-1".to_owned(),
        (false, _) => format!("max {rest}"),
    };
    (unlimited != line && !line.is_empty()).then_some(unlimited)
}

/// Files of version 1: controller, file name.
const V1: [(&str, &str); 5] = [
    ("cpu", "cpu.cfs_quota_us"),
    ("blkio", "blkio.throttle.read_iops_device"),
    ("blkio", "blkio.throttle.write_iops_device"),
    ("blkio", "blkio.throttle.read_bps_device"),
    ("blkio", "blkio.throttle.write_bps_device"),
];

/// Files of version 2, like [`V1`].
const V2: [(&str, &str); 2] = [("cpu", "cpu.max"), ("io", "io.max")];

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{create_dir_all, remove_dir_all};

    #[test]
    fn removes_the_limits_of_a_line() {
        for (line, expected) in [
            ("2000", Some("-1")),
            ("-1", None),
            ("2000 10000", Some("max 10000")),
            ("max 10000", None),
            ("254:0 300000", Some("254:0 0")),
            (
                "254:0 rbps=max wbps=300000 riops=max wiops=max",
                Some("254:0 rbps=max wbps=max riops=max wiops=max"),
            ),
            ("254:0 rbps=max wbps=max riops=max wiops=max", None),
            ("", None),
        ] {
            assert_eq!(unlimited(line).as_deref(), expected, "{line:?}");
        }
    }

    #[test]
    fn sets_lifted_limits_again() {
        let directory = tempfile::tempdir().expect("a directory can be created");
        let [cpu, blkio] = ["cpu", "blkio"].map(|name| directory.path().join(name));
        for group in [&cpu, &blkio] {
            create_dir_all(group).expect("the group can be created");
        }
        let (quota, disk) = (cpu.join("cpu.cfs_quota_us"), blkio.join("blkio.throttle.write_bps_device"));
        write(&quota, "2000\n").expect("the quota can be written");
        write(&disk, "254:0 300000\n").expect("the limit can be written");
        let directories = vec![("cpu".to_owned(), cpu), ("blkio".to_owned(), blkio.clone())];
        let group = Group { version: CgroupVersion::V1, directories };
        let read = |path: &PathBuf| read_to_string(path).expect("the file can be read");
        let lifted = group.lift_rate_limits();
        assert_eq!([read(&quota), read(&disk)], ["-1", "254:0 0"]);
        drop(lifted);
        assert_eq!([read(&quota), read(&disk)], ["2000", "254:0 300000"]);
        // One refused limit is reported, and the other is set.
        let lifted = group.lift_rate_limits();
        remove_dir_all(&blkio).expect("the group can be removed");
        let error = lifted.restore().expect_err("the group is gone");
        assert!(matches!(&error, UnappliedReason::Refused { path, .. } if *path == disk), "{error:?}");
        assert_eq!(read(&quota), "2000");
    }
}
