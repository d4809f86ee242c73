//! Mainboard, disks and memory modules of this machine

use schemars::JsonSchema;
use serde::Serialize;
use std::fs::{read_dir, read_link, read_to_string};
use std::path::Path;

/// Disk. A property that the system does not report is `None`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct InstalledDisk {
    /// Name of the device, such as `nvme0n1`.
    pub name: String,
    pub model: Option<String>,
    pub kind: Option<DiskKind>,
    /// Size in bytes.
    pub size: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DiskKind {
    Nvme,
    Ssd,
    Hdd,
    /// Disk of a virtual machine; the hardware behind it is unknown.
    Virtual,
}

/// Memory module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MemoryModule {
    /// Size in bytes.
    pub size: u64,
    /// Such as `DDR4`.
    pub kind: Option<String>,
    /// Speed in million transfers per second.
    pub speed: Option<u32>,
}

/// Disks in the directory `/sys/block`, by name; `None` if the directory has none. Devices without hardware, such as
/// loop devices and RAM disks, have no link `device`, and are no disks.
pub fn disks(blocks: &Path) -> Option<Vec<InstalledDisk>> {
    let mut all: Vec<InstalledDisk> =
        read_dir(blocks).ok()?.flatten().filter_map(|it| disk(&it.path())).collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    (!all.is_empty()).then_some(all)
}

fn disk(device: &Path) -> Option<InstalledDisk> {
    let name = device.file_name()?.to_str()?.to_owned();
    let is_disk =
        !["sr", "fd"].iter().any(|prefix| name.starts_with(prefix)) && device.join("device").exists();
    let line = |file: &str| Some(read_to_string(device.join(file)).ok()?.trim().to_owned());
    // The kernel counts sectors of 512 bytes, whatever the sectors of the disk are.
    let size = line("size").and_then(|it| it.parse::<u64>().ok()).map(|it| it * 512);
    let driver = read_link(device.join("device/driver")).ok();
    let driver = driver.as_deref().and_then(Path::file_name).and_then(|it| it.to_str());
    let kind = match (driver, line("queue/rotational").as_deref()) {
        (Some("virtio_blk" | "vbd"), _) => Some(DiskKind::Virtual),
        _ if name.starts_with("nvme") => Some(DiskKind::Nvme),
        (_, Some("0")) => Some(DiskKind::Ssd),
        (_, Some("1")) => Some(DiskKind::Hdd),
        _ => None,
    };
    let model = line("device/model").filter(|it| !it.is_empty());
    (is_disk && size != Some(0)).then_some(InstalledDisk { name, model, kind, size })
}

/// Texts that manufacturers leave in the firmware instead of a name.
const PLACEHOLDERS: [&str; 6] =
    ["to be filled by o.e.m.", "default string", "not specified", "system manufacturer", "none", "n/a"];

/// Manufacturer and model of the mainboard in the directory `/sys/class/dmi/id`. `None` if the firmware names neither,
/// as in many virtual machines. Serial numbers are not read.
pub fn mainboard(directory: &Path) -> Option<String> {
    let name = |file: &str| {
        let text = read_to_string(directory.join(file)).ok()?.trim().to_owned();
        (!text.is_empty() && !PLACEHOLDERS.contains(&text.to_lowercase().as_str())).then_some(text)
    };
    let names: Vec<String> = ["board_vendor", "board_name"].into_iter().filter_map(name).collect();
    (!names.is_empty()).then(|| names.join(" "))
}

/// Memory modules in the directory `/sys/firmware/dmi/entries`, which only root may read; `None` if they are unknown.
pub fn memory_modules(entries: &Path) -> Option<Vec<MemoryModule>> {
    let mut paths: Vec<_> = read_dir(entries).ok()?.flatten().map(|it| it.path()).collect();
    let is_module =
        |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("17-"));
    paths.retain(|it| is_module(it));
    paths.sort();
    let mut all = Vec::new();
    for path in paths {
        all.extend(memory_module(&std::fs::read(path.join("raw")).ok()?));
    }
    (!all.is_empty()).then_some(all)
}

/// Memory module of a record of type 17; `None` for an empty slot. Source: DMTF DSP0134, System Management BIOS,
/// section "Memory Device (Type 17)".
fn memory_module(record: &[u8]) -> Option<MemoryModule> {
    // The strings behind the formatted area are not needed.
    let area = record.get(..usize::from(*record.get(1)?))?;
    let word = |at: usize| Some(u16::from_le_bytes([*area.get(at)?, *area.get(at + 1)?]));
    let size = match word(0x0C)? {
        0 | 0xFFFF => return None,
        0x7FFF => {
            let extended = area.get(0x1C..0x20)?.try_into().ok()?;
            u64::from(u32::from_le_bytes(extended)) << 20
        }
        // The highest bit selects kilobytes instead of megabytes.
        size if size & 0x8000 != 0 => u64::from(size & 0x7FFF) << 10,
        size => u64::from(size) << 20,
    };
    let kind = match area.get(0x12)? {
        0x13 => Some("DDR2"),
        0x18 => Some("DDR3"),
        0x1A => Some("DDR4"),
        0x1D => Some("LPDDR3"),
        0x1E => Some("LPDDR4"),
        0x22 => Some("DDR5"),
        0x23 => Some("LPDDR5"),
        _ => None,
    };
    let speed = word(0x15).filter(|it| ![0, 0xFFFF].contains(it)).map(u32::from);
    Some(MemoryModule { size, kind: kind.map(str::to_owned), speed })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{create_dir_all, remove_dir_all, write};
    use std::os::unix::fs::symlink;

    #[test]
    fn lists_disks_and_states_what_is_unknown() {
        let root = std::env::temp_dir().join(format!("pgdyno-disks-{}", std::process::id()));
        let file = |path: &str, text: &str| {
            let path = root.join(path);
            create_dir_all(path.parent().expect("the path has a parent")).expect("there is room");
            write(path, text).expect("there is room");
        };
        file("sda/device/model", "Samsung SSD 870 \n");
        file("sda/queue/rotational", "0\n");
        file("sda/size", "2000409264\n");
        file("sdb/device/type", "0\n");
        file("sdb/queue/rotational", "1\n");
        file("sdb/size", "8\n");
        file("nvme0n1/device/model", "WD_BLACK SN850X\n");
        file("nvme0n1/queue/rotational", "0\n");
        file("vda/device/vendor", "0x1af4\n");
        file("vda/queue/rotational", "1\n");
        file("vda/size", "16\n");
        symlink("../../drivers/virtio_blk", root.join("vda/device/driver")).expect("there is room");
        // Neither a loop device nor an optical drive nor an empty reader is a disk.
        file("loop0/size", "8\n");
        file("sr0/device/model", "DVD\n");
        file("sdc/device/model", "Card Reader\n");
        file("sdc/size", "0\n");
        let shown: Vec<String> = disks(&root)
            .expect("there are disks")
            .iter()
            .map(|it| format!("{} {:?} {:?} {:?}", it.name, it.model.as_deref(), it.kind, it.size))
            .collect();
        remove_dir_all(&root).expect("the directory is ours");
        assert_eq!(
            shown,
            [
                "nvme0n1 Some(\"WD_BLACK SN850X\") Some(Nvme) None",
                "sda Some(\"Samsung SSD 870\") Some(Ssd) Some(1024209543168)",
                "sdb None Some(Hdd) Some(4096)",
                "vda None Some(Virtual) Some(8192)",
            ]
        );
        assert_eq!(disks(&root), None);
        assert_eq!(memory_modules(&root), None);
    }

    #[test]
    fn names_the_mainboard_unless_the_firmware_has_placeholders() {
        let root = std::env::temp_dir().join(format!("pgdyno-mainboard-{}", std::process::id()));
        create_dir_all(&root).expect("there is room");
        for (vendor, name, expected) in [
            ("ASRock\n", "B450M Pro4\n", Some("ASRock B450M Pro4")),
            ("To Be Filled By O.E.M.\n", "B450M Pro4\n", Some("B450M Pro4")),
            ("Default string\n", "Default string\n", None),
            ("\n", "  \n", None),
        ] {
            write(root.join("board_vendor"), vendor).expect("there is room");
            write(root.join("board_name"), name).expect("there is room");
            assert_eq!(mainboard(&root).as_deref(), expected, "{vendor:?} {name:?}");
        }
        remove_dir_all(&root).expect("the directory is ours");
        assert_eq!(mainboard(&root), None);
    }

    #[test]
    fn reads_memory_modules() {
        let record = |size: u16, extended: u32, kind: u8, speed: u16| {
            let mut area = vec![0_u8; 0x22];
            (area[0], area[1]) = (17, 0x22);
            area[0x0C..0x0E].copy_from_slice(&size.to_le_bytes());
            area[0x12] = kind;
            area[0x15..0x17].copy_from_slice(&speed.to_le_bytes());
            area[0x1C..0x20].copy_from_slice(&extended.to_le_bytes());
            area.extend(b"DIMM 0\0\0");
            area
        };
        let check = |record: &[u8], expected: Option<(u64, Option<&str>, Option<u32>)>| {
            let found = memory_module(record);
            let found = found.as_ref().map(|it| (it.size, it.kind.as_deref(), it.speed));
            assert_eq!(found, expected, "{record:?}");
        };
        check(&record(8192, 0, 0x1A, 3200), Some((8 << 30, Some("DDR4"), Some(3200))));
        check(&record(0x7FFF, 65_536, 0x22, 5600), Some((64 << 30, Some("DDR5"), Some(5600))));
        check(&record(0x8200, 0, 0x02, 0), Some((512 << 10, None, None)));
        check(&record(0, 0, 0x1A, 3200), None);
        check(&record(0xFFFF, 0, 0x1A, 3200), None);
        check(&[17, 0x22, 0], None);
        check(&[], None);
    }
}
