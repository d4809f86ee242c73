//! Processes of nodes

use super::apart;
use std::fs;

/// Lists a process and its descendants, by the parents in `proc(5)`.
pub(super) fn descendants(pid: u32) -> Vec<u32> {
    let parents = apart::parents();
    let mut found = vec![pid];
    let mut at = 0;
    while let Some(&parent) = found.get(at) {
        found.extend(parents.iter().filter(|it| it.1 == parent).map(|it| it.0));
        at += 1;
    }
    found
}

/// Process id on this machine of the process that has the id `pid` in the PID namespace of the node whose main process is
/// `main`. The two ids differ if the node has its own namespace.
pub fn host_process(main: u32, pid: u32) -> Option<u32> {
    let is_process = |process: &u32| {
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        innermost_pid(&status) == Some(pid)
    };
    descendants(main).into_iter().find(is_process)
}

/// Process id in the innermost namespace: the last field of `NSpid`, `proc(5)`.
fn innermost_pid(status: &str) -> Option<u32> {
    let ids = status.lines().find_map(|it| it.strip_prefix("NSpid:"))?;
    ids.split_whitespace().last()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_innermost_process_id() {
        for (status, expected) in [
            ("Name:\tpostgres\nNSpid:\t1234\t25\nNSpgid:\t1\n", Some(25)),
            ("NSpid:\t1234\n", Some(1234)),
            ("Pid:\t1\n", None),
        ] {
            assert_eq!(innermost_pid(status), expected, "{status}");
        }
        let own = std::process::id();
        assert_eq!(host_process(own, own), Some(own));
    }
}
