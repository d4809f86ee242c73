//! Features of experiments that not every machine supports

use crate::find::Installation;
use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::path::{Path, PathBuf};

/// Feature that needs programs, libraries or permissions of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// Replicas that pgdyno copies and lets rejoin.
    Replicas,
    /// Separate network for each node, which a fault can disconnect.
    Networks,
    /// Separate disk for each node, which a fault can fill or freeze.
    Disks,
    /// Separate clock for each node, which a fault can shift.
    Clocks,
    /// Statistics of statements that poolers and services send.
    StatementStatistics,
    /// Hypothetical indexes for index advice.
    HypotheticalIndexes,
}

/// Item that a feature lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MissingItem {
    /// Program of a server's installation.
    ServerProgram(&'static str),
    /// Program of the system, and the package that contains it.
    SystemProgram { name: &'static str, package: &'static str },
    /// Library that the server loads.
    Library(&'static str),
    /// Library of the system, and the package that contains it.
    SystemLibrary { name: &'static str, package: &'static str },
    /// Permission to create namespaces. Contains the system's error.
    Namespaces(String),
}

impl Feature {
    pub const ALL: [Feature; 6] = [
        Feature::Replicas,
        Feature::Networks,
        Feature::Disks,
        Feature::Clocks,
        Feature::StatementStatistics,
        Feature::HypotheticalIndexes,
    ];

    /// Name in output for programs, at most 13 characters.
    pub fn name(self) -> &'static str {
        match self {
            Feature::Replicas => "replicas",
            Feature::Networks => "networks",
            Feature::Disks => "disks",
            Feature::Clocks => "clocks",
            Feature::StatementStatistics => "statements",
            Feature::HypotheticalIndexes => "index advice",
        }
    }

    /// Items that the feature lacks with this server; empty if it works.
    pub fn missing(self, server: &Installation) -> Vec<MissingItem> {
        let server_program = |name: &'static str| {
            (!server.bin.join(name).is_file()).then_some(MissingItem::ServerProgram(name))
        };
        let library = |name| (!server.has_library(name)).then_some(MissingItem::Library(name));
        let system = |name, package| {
            system_program(name).is_none().then_some(MissingItem::SystemProgram { name, package })
        };
        let namespaces = |flags| can_unshare(flags).err().map(|it| MissingItem::Namespaces(it.to_string()));
        let items = match self {
            Feature::Replicas => vec![server_program("pg_basebackup"), server_program("pg_rewind")],
            Feature::Networks => vec![
                namespaces(UnshareFlags::NEWNET | UnshareFlags::NEWPID | UnshareFlags::NEWIPC),
                system("ip", "iproute2"),
            ],
            Feature::Disks => vec![
                namespaces(UnshareFlags::NEWNS),
                system("mkfs.ext4", "e2fsprogs"),
                system("mount", "mount"),
            ],
            Feature::Clocks => {
                let missing = MissingItem::SystemLibrary { name: "libfaketime", package: "libfaketime" };
                vec![faketime_library().is_none().then_some(missing)]
            }
            Feature::StatementStatistics => vec![library("pg_stat_statements")],
            Feature::HypotheticalIndexes => vec![library("hypopg")],
        };
        items.into_iter().flatten().collect()
    }
}

/// Path of a system program. Searches the usual directories of system programs, whatever `PATH` contains.
pub(crate) fn system_program(name: &str) -> Option<PathBuf> {
    let places = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"];
    places.iter().map(|it| Path::new(it).join(name)).find(|it| it.exists())
}

/// Path of libfaketime for programs with one thread, if it is installed. Debian has a directory per architecture.
pub(crate) fn faketime_library() -> Option<PathBuf> {
    let debian = format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
    let directories = [debian.as_str(), "/usr/lib64", "/usr/lib", "/usr/local/lib"];
    let mut paths = directories.iter().map(|it| Path::new(it).join("faketime/libfaketime.so.1"));
    paths.find(|it| it.is_file())
}

/// Checks that namespaces can be created. Creates them in a thread; they end with the thread.
fn can_unshare(flags: UnshareFlags) -> rustix::io::Result<()> {
    // SAFETY: the thread does nothing else, and shares file descriptors as before, because `FILES` is not set.
    let thread = std::thread::spawn(move || unsafe { unshare_unsafe(flags) });
    thread.join().expect("the thread makes one system call")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find::{Origin, Version};

    #[test]
    fn finds_system_programs() {
        assert_eq!(system_program("sh").map(|it| it.ends_with("sh")), Some(true));
        assert_eq!(system_program("no-such-program"), None);
    }

    #[test]
    fn names_what_an_empty_installation_lacks() {
        let version = Version { major: 15, text: "15.1".to_owned() };
        let server = Installation { bin: PathBuf::from("/nowhere/bin"), version, origin: Origin::Path };
        let programs = ["pg_basebackup", "pg_rewind"].map(MissingItem::ServerProgram);
        assert_eq!(Feature::Replicas.missing(&server), programs);
        let library = [MissingItem::Library("pg_stat_statements")];
        assert_eq!(Feature::StatementStatistics.missing(&server), library);
    }
}
