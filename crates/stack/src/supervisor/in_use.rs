//! Check whether a process, a mount or a listening socket uses a directory
//!
//! Processes are compared by the identity of their files, not only by paths. This also detects a process in a container
//! in which the directory has another name. See `proc(5)`.

use model::RetainReason;
use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
use rustix::io::Errno;
use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{read, read_dir, read_link};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Identity of a file: device (major, minor) and inode.
type FileIdentity = (u32, u32, u64);

/// Process id of the first process of a namespace.
const INIT: u32 = 1;

/// Files of a directory, including the directory itself.
struct Tree<'a> {
    path: &'a Path,
    files: HashSet<FileIdentity>,
    /// Users whose processes may use the directory: the current user and the files' owners.
    users: HashSet<u32>,
}

/// Finds a process, mount or socket that uses `directory`, an absolute path without symbolic links; `None` if there is
/// none.
///
/// Processes of the current user and of the files' owners count even if they cannot be inspected. Other processes count
/// only if they can be inspected. An error means that part of the directory cannot be read.
pub(super) fn in_use(directory: &Path) -> io::Result<Option<RetainReason>> {
    if let Some(mount) = mounts().into_iter().find(|it| it.starts_with(directory)) {
        return Ok(Some(RetainReason::MountOrSocket(mount)));
    }
    let tree = Tree::read(directory)?;
    let (mut networks, mut hidden) = (HashSet::new(), None);
    for entry in read_dir("/proc")?.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|it| it.parse::<u32>().ok()) else { continue };
        if pid == std::process::id() {
            continue;
        }
        let process = entry.path();
        let program = || {
            let name = read(process.join("comm")).unwrap_or_default();
            String::from_utf8_lossy(&name).chars().filter(|it| !it.is_control()).collect()
        };
        match tree.is_used_by(&process) {
            Ok(true) => return Ok(Some(RetainReason::InUse { pid, program: program() })),
            Ok(false) => {}
            Err(Errno::NOENT | Errno::SRCH) => continue,
            // A container's init may have more privileges than this process. It only starts other processes and opens
            // no files of a run.
            Err(_) if pid != INIT && user_of(&process).is_none_or(|it| tree.users.contains(&it)) => {
                hidden.get_or_insert_with(|| RetainReason::NotInspectable { pid, program: program() });
            }
            Err(_) => {}
        }
        if read_link(process.join("ns/net")).is_ok_and(|it| networks.insert(it))
            && let Some(socket) = sockets(&process).into_iter().find(|it| it.starts_with(directory))
        {
            return Ok(Some(RetainReason::MountOrSocket(socket)));
        }
    }
    Ok(hidden)
}

impl Tree<'_> {
    fn read(path: &Path) -> io::Result<Tree<'_>> {
        let mut tree = Tree { path, files: HashSet::new(), users: HashSet::new() };
        tree.users.insert(rustix::process::geteuid().as_raw());
        let mut waiting = vec![path.to_owned()];
        while let Some(path) = waiting.pop() {
            let metadata = path.symlink_metadata()?;
            let device = metadata.dev();
            tree.files.insert((rustix::fs::major(device), rustix::fs::minor(device), metadata.ino()));
            tree.users.insert(metadata.uid());
            if metadata.is_dir() {
                for entry in read_dir(&path)? {
                    waiting.push(entry?.path());
                }
            }
        }
        Ok(tree)
    }

    /// True if a process, `/proc/<pid>`, uses the files. An error means that it has ended or cannot be inspected.
    fn is_used_by(&self, process: &Path) -> Result<bool, Errno> {
        for name in ["cwd", "root", "exe"] {
            match self.holds(&process.join(name)) {
                // Kernel threads and ended processes have no such link.
                Err(Errno::NOENT) => {}
                Ok(false) => {}
                other => return other,
            }
        }
        for entry in read_dir(process.join("fd")).map_err(errno)? {
            match self.holds(&entry.map_err(errno)?.path()) {
                // The file was closed meanwhile.
                Err(Errno::NOENT) | Ok(false) => {}
                other => return other,
            }
        }
        let maps = read(process.join("maps")).map_err(errno)?;
        Ok(maps.split(|it| *it == b'\n').any(|it| self.maps(&String::from_utf8_lossy(it))))
    }

    /// True if a link of `/proc` leads into the tree. Does not block on a file server that does not respond.
    fn holds(&self, link: &Path) -> Result<bool, Errno> {
        if read_link(link).map_err(errno)?.starts_with(self.path) {
            return Ok(true);
        }
        let flags = AtFlags::STATX_DONT_SYNC;
        Ok(match statx(CWD, link, flags, StatxFlags::INO) {
            Ok(it) => self.files.contains(&(it.stx_dev_major, it.stx_dev_minor, it.stx_ino)),
            Err(Errno::ACCESS | Errno::PERM) => return Err(Errno::ACCESS),
            // If statx fails for another reason, such as ENOENT, the file cannot belong to the tree.
            Err(_) => false,
        })
    }

    /// True if a line of `/proc/<pid>/maps` names a file of the tree: range, permissions, offset, device, inode,
    /// path.
    fn maps(&self, line: &str) -> bool {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let [_, _, _, device, inode, ..] = fields[..] else { return false };
        let number = |it: &str| u32::from_str_radix(it, 16).ok();
        let identity = || {
            let (major, minor) = device.split_once(':')?;
            Some((number(major)?, number(minor)?, inode.parse::<u64>().ok()?))
        };
        let path = line.find('/').map(|at| Path::new(&line[at..]));
        identity().is_some_and(|it| self.files.contains(&it))
            || path.is_some_and(|it| it.starts_with(self.path))
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn errno(error: io::Error) -> Errno {
    Errno::from_io_error(&error).unwrap_or(if error.kind() == ErrorKind::NotFound {
        Errno::NOENT
    } else {
        Errno::IO
    })
}

/// ID of the effective user of a process; every user may read it. `None` if the process has ended or its status file
/// contains no user.
fn user_of(process: &Path) -> Option<u32> {
    let status = String::from_utf8_lossy(&read(process.join("status")).ok()?).into_owned();
    let line = status.lines().find_map(|it| it.strip_prefix("Uid:"))?;
    line.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Lists mount points of this namespace, with the escapes of `proc_pid_mountinfo(5)` undone.
fn mounts() -> Vec<PathBuf> {
    let text = read("/proc/self/mountinfo").unwrap_or_default();
    let lines = text.split(|it| *it == b'\n');
    lines.filter_map(|line| line.split(|it| *it == b' ').nth(4)).map(unescaped).collect()
}

fn unescaped(text: &[u8]) -> PathBuf {
    let (mut out, mut rest) = (Vec::new(), text);
    while let Some((&first, tail)) = rest.split_first() {
        let code = tail.get(..3).filter(|_| first == b'\\').and_then(|it| std::str::from_utf8(it).ok());
        match code.and_then(|it| u8::from_str_radix(it, 8).ok()) {
            Some(byte) => {
                out.push(byte);
                rest = &tail[3..];
            }
            None => {
                out.push(first);
                rest = tail;
            }
        }
    }
    OsString::from_vec(out).into()
}

/// Lists paths of the Unix sockets in the network namespace of a process.
fn sockets(process: &Path) -> Vec<PathBuf> {
    let text = read(process.join("net/unix")).unwrap_or_default();
    let paths = text
        .split(|it| *it == b'\n')
        .filter_map(|line| Some(&line[line.iter().position(|it| *it == b'/')?..]));
    paths.map(|it| OsString::from_vec(it.to_vec()).into()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};
    use std::os::unix::net::UnixListener;
    use std::process::{Child, Command, Stdio};

    /// Test case: a directory that the test removes, and a process that uses it in some way.
    struct UseCase {
        directory: PathBuf,
        child: Option<Child>,
    }

    impl UseCase {
        fn new(name: &str) -> UseCase {
            let directory = std::env::temp_dir().join(format!("stack-in-use-{name}-{}", std::process::id()));
            fs::create_dir_all(directory.join("home")).unwrap();
            fs::write(directory.join("home/file"), "text").unwrap();
            UseCase { directory: directory.canonicalize().unwrap(), child: None }
        }

        /// Starts a shell and waits until it has run the script.
        fn shell(mut self, script: &str) -> UseCase {
            let mut command = Command::new("/bin/sh");
            command
                .args(["-c", &format!("{script}; echo; read end")])
                .current_dir("/")
                .env("D", &self.directory);
            let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            let child = self.child.insert(child);
            io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut [0]).unwrap();
            self
        }
    }

    impl Drop for UseCase {
        fn drop(&mut self) {
            if let Some(child) = &mut self.child {
                let _ = child.kill();
                let _ = child.wait();
            }
            let _ = fs::remove_dir_all(&self.directory);
        }
    }

    #[test]
    fn finds_every_use_of_a_directory() {
        let check = |case: UseCase, expected: bool| {
            let found = in_use(&case.directory).unwrap();
            let pid = case.child.as_ref().map(Child::id);
            let by_it = matches!(&found, Some(RetainReason::InUse { pid: it, .. }) if Some(*it) == pid);
            assert_eq!(by_it, expected, "{}: {found:?}", case.directory.display());
        };
        check(UseCase::new("elsewhere").shell(":"), false);
        check(UseCase::new("cwd").shell("cd $D/home"), true);
        check(UseCase::new("read").shell("exec 5<$D/home/file"), true);
        check(UseCase::new("directory").shell("exec 5<$D"), true);
        check(UseCase::new("renamed").shell("exec 5<$D/home/file; mv $D/home/file $D/other"), true);
        // A deleted file is no longer in the directory; only the process keeps it.
        check(UseCase::new("deleted").shell("exec 5<$D/home/file; rm $D/home/file"), true);
        let linked = UseCase::new("linked");
        fs::hard_link(linked.directory.join("home/file"), linked.directory.with_extension("link")).unwrap();
        check(linked.shell("exec 5<$D.link; rm $D.link"), true);
        let program = UseCase::new("program");
        fs::copy("/bin/sleep", program.directory.join("home/sleep")).unwrap();
        let child = Command::new(program.directory.join("home/sleep")).arg("1000").spawn().unwrap();
        check(UseCase { child: Some(child), directory: program.directory.clone() }, true);
        drop(program);
    }

    #[test]
    fn finds_sockets_whose_process_is_not_inspected() {
        let case = UseCase::new("socket");
        let path = case.directory.join("home/socket");
        let listener = UnixListener::bind(&path).unwrap();
        assert_eq!(in_use(&case.directory).unwrap(), Some(RetainReason::MountOrSocket(path)));
        drop(listener);
    }

    #[test]
    fn ignores_own_files() {
        let case = UseCase::new("own");
        let file = File::open(case.directory.join("home/file")).unwrap();
        assert_eq!(in_use(&case.directory).unwrap(), None);
        drop(file);
    }

    #[test]
    fn undoes_escapes() {
        for (text, path) in
            [("/a", "/a"), ("/a\\040b", "/a b"), ("/a\\134\\011", "/a\\\t"), ("/a\\9", "/a\\9")]
        {
            assert_eq!(unescaped(text.as_bytes()), Path::new(path), "{text}");
        }
    }
}
