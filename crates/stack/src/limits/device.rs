//! Disk that holds a directory

use super::UnappliedReason;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Major and minor number of a disk, which identify it for throttling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disk {
    pub major: u32,
    pub minor: u32,
}

/// Finds the whole disk that holds a directory's file system. The kernel throttles only whole disks, not partitions.
pub fn find_disk(directory: &Path) -> Result<Disk, UnappliedReason> {
    let refused = |path: &Path, error: std::io::Error| UnappliedReason::Refused {
        path: path.to_owned(),
        error: error.to_string(),
    };
    let directory = directory.canonicalize().map_err(|it| refused(directory, it))?;
    let device = directory.metadata().map_err(|it| refused(&directory, it))?.dev();
    let mounts = PathBuf::from("/proc/self/mountinfo");
    let mounts = std::fs::read_to_string(&mounts).map_err(|it| refused(&mounts, it))?;
    let number = |path: &Path| path.metadata().ok().map(|it| Disk::from_number(it.rdev()));
    // `/sys/dev/block/8:1` links to `…/block/sda/sda1`; the parent of a partition is its disk.
    let parent = |disk: Disk| {
        let place = format!("/sys/dev/block/{disk}");
        let place = Path::new(&place).canonicalize().ok()?;
        place.join("partition").exists().then(|| std::fs::read_to_string(place.parent()?.join("dev")).ok())?
    };
    find_whole_disk(&directory, Disk::from_number(device), &mounts, &number, &parent)
}

fn find_whole_disk(
    directory: &Path,
    device: Disk,
    mounts: &str,
    number: &dyn Fn(&Path) -> Option<Disk>,
    parent: &dyn Fn(Disk) -> Option<String>,
) -> Result<Disk, UnappliedReason> {
    // Major 0 is not a device. The file system may report its source, as btrfs does, or have none, as overlay and
    // tmpfs.
    let device = if device.major != 0 {
        device
    } else {
        let (kind, source) = find_mount(directory, mounts).unwrap_or(("an unknown file system", ""));
        let on_disk = source.starts_with("/dev/").then(|| number(Path::new(source))).flatten();
        on_disk.ok_or_else(|| UnappliedReason::NoDisk(kind.to_owned()))?
    };
    let disk = parent(device).and_then(|it| Disk::parse(it.trim()));
    Ok(disk.unwrap_or(device))
}

/// Finds type and source of the file system that holds a path, from `/proc/self/mountinfo`; `proc_pid_mountinfo(5)`.
fn find_mount<'a>(path: &Path, mounts: &'a str) -> Option<(&'a str, &'a str)> {
    let lines = mounts.lines().filter_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        let place = Path::new(left.split(' ').nth(4)?);
        let mut right = right.split(' ');
        path.starts_with(place).then_some((place.components().count(), right.next()?, right.next()?))
    });
    // If several mounts have the same mount point, the last mount is visible.
    lines.max_by_key(|it| it.0).map(|it| (it.1, it.2))
}

impl Disk {
    /// Unpacks `st_dev`; see `makedev(3)`.
    fn from_number(number: u64) -> Disk {
        Disk { major: rustix::fs::major(number), minor: rustix::fs::minor(number) }
    }

    fn parse(text: &str) -> Option<Disk> {
        let (major, minor) = text.split_once(':')?;
        Some(Disk { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }
}

impl std::fmt::Display for Disk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::message::Message;

    #[test]
    fn finds_whole_disk() {
        let mounts = "22 1 0:21 / / rw - overlay overlay rw,lowerdir=/l\n\
                      23 22 0:40 / /data rw,relatime shared:1 - btrfs /dev/sda2 rw\n\
                      24 22 0:41 / /data/tmp rw - tmpfs tmpfs rw\n";
        let check = |directory: &str, device: &str, expected: &str| {
            let number = |it: &Path| (it == Path::new("/dev/sda2")).then_some(Disk { major: 8, minor: 2 });
            let parent = |it: Disk| (it.major == 8 && it.minor != 0).then(|| "8:0\n".to_owned());
            let device = Disk::parse(device).unwrap();
            let found = find_whole_disk(Path::new(directory), device, mounts, &number, &parent);
            assert_eq!(
                found.map_or_else(|it| Message::from(&it).describe(), |it| it.to_string()),
                expected,
                "{directory}"
            );
        };
        let none = |kind: &str| format!("limits-no-disk({kind})");
        check("/home", "8:1", "8:0");
        check("/home", "254:0", "254:0");
        check("/data/base", "0:40", "8:0");
        check("/data/tmp/x", "0:41", &none("tmpfs"));
        check("/var/tmp", "0:21", &none("overlay"));
        check("/database", "0:99", &none("overlay"));
    }
}
