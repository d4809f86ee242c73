//! Identity of the process that writes a run

use std::fs;

/// Unique identity of this process: boot id of the machine, process id and start time.
///
/// `None` if the kernel does not provide these values.
pub fn current_process() -> Option<String> {
    process_name(std::process::id())
}

/// True if the process with this identity is running on this machine.
pub fn is_alive(name: &str) -> bool {
    let pid = name.split(' ').nth(1).and_then(|it| it.parse().ok());
    pid.and_then(process_name).is_some_and(|it| it == name)
}

fn process_name(pid: u32) -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // Count the fields after the command's name, because the name may contain blanks and parentheses. Field 3 is the
    // state; proc(5).
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let ended = matches!(fields.next()?, "Z" | "X");
    let start_time = fields.nth(18)?;
    (!ended).then(|| format!("{} {pid} {start_time}", boot.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_running_processes_are_alive() {
        let Some(me) = current_process() else { return };
        assert!(is_alive(&me));
        for name in ["", "x", "boot 1", &format!("{me}0"), &format!("x{me}"), "boot x 1"] {
            assert!(!is_alive(name), "{name:?}");
        }
    }
}
