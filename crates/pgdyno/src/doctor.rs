//! `pgdyno doctor`: lists the machine's capabilities, and what each missing one would enable
//!
//! Starts only programs that print their version, and changes nothing. The empty control group that tests the limits is
//! removed at once.

use crate::terminal;
use clap::Parser;
use load::driver::{Driver, Requirement};
use model::product::Role;
use model::{LatencyHistogram, Nanos};
use serde_json::{Value, json};
use stack::component;
use stack::embedded;
use stack::find::{Installation, InstallationSearch, RejectedPlace, install_command};
use stack::host::{Cgroups, Controller, Host, Program, TimerJitter, program};
use stack::limits::{self, Limit, UnappliedLimit, UnappliedReason};
use stack::supervisor::scratch;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Prints what this machine offers, and what each missing thing would enable
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno doctor")]
struct Args {
    /// Directory of the server's programs, such as /usr/lib/postgresql/15/bin
    #[arg(long, value_name = "DIR")]
    pg_bin: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// pgbench, and the programs that a system under test may contain: name, option that prints the version, what it would
/// enable.
fn programs() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let components = component::programs().map(|(product, names)| {
        let enables = match product.role {
            Role::Pooler => "a pooler in front of the server",
            Role::Balancer => "a balancer in front of several servers",
            Role::Manager | Role::Store => "a primary that fails over to a replica",
            Role::Server | Role::Service => "a node of a stack",
        };
        (names.program, names.version_argument, enables)
    });
    [("pgbench", "--version", "comparing both programs on this machine")].into_iter().chain(components)
}

/// Capabilities of the machine.
#[derive(Debug)]
struct MachineReport {
    servers: Vec<Installation>,
    searched: Vec<RejectedPlace>,
    programs: Vec<(&'static str, &'static str, Option<Program>)>,
    host: Host,
    /// Drivers that not every system has, with what they need.
    drivers: Vec<(Driver, Requirement, bool)>,
    /// Limits that cannot be applied to a node of a stack, with the reasons.
    not_applied: Vec<UnappliedLimit>,
    jitter: LatencyHistogram,
}

/// Runs the command. The exit status is 1 if there is no server to start.
pub fn main(args: &[String]) -> ExitCode {
    let name = std::iter::once("pgdyno doctor");
    let args = match Args::try_parse_from(name.chain(args.iter().map(String::as_str))) {
        Ok(it) => it,
        Err(error) => return terminal::usage(&error),
    };
    let found = MachineReport::inspect(args.pg_bin);
    match args.json {
        true => terminal::json(&format!("{:#}\n", found.json())),
        false => outln!("{}", found.text().trim_end()),
    }
    if found.servers.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

impl MachineReport {
    fn inspect(pg_bin: Option<PathBuf>) -> MachineReport {
        let jitter = TimerJitter::start(Nanos::from_millis(1));
        let (mut servers, tried) = InstallationSearch::from_environment(pg_bin, None).find_all();
        servers.extend(embedded::MAJORS.rev().filter_map(|it| embedded::cached(Some(it))));
        let bins: Vec<PathBuf> = servers.iter().map(|it| it.bin.clone()).collect();
        let programs = programs()
            .map(|(name, version, enables)| (name, enables, program(name, version, &bins)))
            .collect();
        let host = Host::detect();
        let required = |driver: Driver| {
            let requirement = driver.properties().requirement?;
            Some((driver, requirement, (requirement.is_met)()))
        };
        let scratch = scratch().unwrap_or_else(|_| PathBuf::from("/"));
        let not_applied = limits::probe_limits(host.cgroups.clone(), &scratch);
        // About a thousand samples, enough for p99.
        std::thread::sleep(Duration::from_secs(1));
        MachineReport {
            servers,
            searched: tried,
            programs,
            host,
            drivers: Driver::ALL.into_iter().filter_map(required).collect(),
            not_applied,
            jitter: jitter.stop(),
        }
    }

    fn text(&self) -> String {
        let mut page = TextColumns::default();
        page.section("PostgreSQL servers");
        for it in &self.servers {
            let from =
                if it.origin == stack::find::Origin::Embedded { "fetched before" } else { "installed" };
            page.line(
                &it.version.major.to_string(),
                &format!("{}, {from}: {}", it.version.text, it.bin.display()),
            );
        }
        for it in &self.searched {
            page.line("not usable", &format!("{} {}", it.place.display(), it.reason));
        }
        if self.servers.is_empty() {
            let install = install_command(Path::new("/"));
            let majors = embedded::MAJORS;
            page.line("none", "");
            page.write_benefit("throw-away servers and the demo", Some(install));
            page.note(&format!(
                "PostgreSQL {} to {} can be fetched instead: pgdyno demo does so by itself",
                majors.start(),
                majors.end()
            ));
        }
        page.section("Programs around it");
        for (name, enables, program) in &self.programs {
            match program {
                Some(it) => {
                    let version = it.version.as_deref().unwrap_or("does not tell its version");
                    page.line(name, &format!("{version}: {}", it.path.display()));
                }
                None => {
                    page.line(name, "not found");
                    page.write_benefit(enables, None);
                }
            }
        }
        page.note(
            "pgdyno starts servers only, so far; whatever stands before them it measures where it runs",
        );
        self.write_machine(&mut page);
        page.0
    }

    fn write_machine(&self, page: &mut TextColumns) {
        let host = &self.host;
        let told = |it: &Option<String>| it.clone().unwrap_or_else(|| "not told".to_owned());
        page.section("This machine");
        page.line("system", &format!("{}, kernel {}", told(&host.system), told(&host.kernel)));
        page.line("processors", &format!("{} × {}", host.processors, told(&host.processor)));
        if host.processors < 2 {
            page.write_benefit(
                "a generator that does not take the server's processor",
                Some("a second processor"),
            );
        }
        page.line(
            "memory",
            &host.memory.map_or("not told".to_owned(), |it| format!("{:.1} GiB", it as f64 / GIB)),
        );
        page.line("open files", &format_file_limit(host.files));
        if host.files.0.is_some_and(|it| it < FILES) {
            page.write_benefit("more connections from one process", Some("ulimit -n 65536"));
        }
        match host.ports {
            Some((first, last)) => {
                let count = u32::from(last).saturating_sub(u32::from(first)) + 1;
                page.line(
                    "local ports",
                    &format!("{first} to {last}: {count} connections to one TCP address"),
                );
            }
            None => page.line("local ports", "not told"),
        }
        for (driver, requirement, works) in &self.drivers {
            page.line(driver.name(), if *works { "works" } else { "not available" });
            if !works {
                page.write_benefit("a driver that costs less", Some(requirement.text));
            }
        }
        page.line("clock source", &told(&host.clock_source));
        if host
            .clock_source
            .as_deref()
            .is_some_and(|it| !matches!(it, "tsc" | "kvm-clock" | "arch_sys_counter"))
        {
            page.write_benefit(
                "a clock that is read in 20 ns, without a system call",
                Some("the clock source tsc"),
            );
        }
        match host.governor.as_deref() {
            None => page.line("frequency", "no governor, as in virtual machines"),
            Some("performance") => page.line("frequency", "governor performance"),
            Some(it) => {
                page.line("frequency", &format!("governor {it}"));
                page.write_benefit(
                    "steadier response times at low load",
                    Some("cpupower frequency-set -g performance"),
                );
            }
        }
        write_cgroups(&host.cgroups, page);
        write_limits(&self.not_applied, page);
        page.line("timer jitter", &format_jitter(&self.jitter));
        page.note("arrivals cannot be sent more exactly than this host wakes a thread");
    }

    fn json(&self) -> Value {
        let server = |it: &Installation| {
            json!({
                "version": it.version.text,
                "major": it.version.major,
                "directory": it.bin,
                "origin": it.origin.to_string(),
            })
        };
        let quantile = |q: f64| self.jitter.quantile(q).map(|it| it.0);
        let programs = self.programs.iter().map(|(name, enables, program)| {
            let found = program.as_ref();
            json!({
                "name": name,
                "path": found.map(|it| &it.path),
                "version": found.and_then(|it| it.version.as_ref()),
                "enables": enables,
            })
        });
        let mut document = json!({
            "servers": self.servers.iter().map(server).collect::<Vec<_>>(),
            "programs": programs.collect::<Vec<_>>(),
            "host": self.host,
            "limits": Limit::ALL.map(|limit| {
                let not = self.not_applied.iter().find(|it| it.limit == limit);
                json!({ "name": limit.name(), "possible": not.is_none(), "why": not.map(|it| it.reason.to_string()) })
            }),
            "timer_jitter": {
                "wakes": self.jitter.count(),
                "p50_ns": quantile(0.5),
                "p99_ns": quantile(0.99),
                "max_ns": self.jitter.max().map(|it| it.0),
            },
        });
        for (driver, _, works) in &self.drivers {
            document[driver.name()] = json!(works);
        }
        document
    }
}

const GIB: f64 = (1u64 << 30) as f64;
/// Smallest open-file limit that suffices for ten thousand connections.
const FILES: u64 = 10_240;

fn format_file_limit((now, most): (Option<u64>, Option<u64>)) -> String {
    let shown = |limit: Option<u64>| limit.map_or("no limit".to_owned(), |it| it.to_string());
    if now == most { shown(now) } else { format!("{}, at most {}", shown(now), shown(most)) }
}

fn write_cgroups(them: &Cgroups, page: &mut TextColumns) {
    for (version, controllers) in [("cgroups v1", &them.v1), ("cgroups v2", &them.v2)] {
        let names: Vec<&str> = controllers.iter().map(|it: &Controller| it.name.as_str()).collect();
        page.line(version, &if names.is_empty() { "no controllers".to_owned() } else { names.join(", ") });
    }
}

/// Writes which limits can be applied here, and why the others cannot.
fn write_limits(not_applied: &[UnappliedLimit], page: &mut TextColumns) {
    let hold = Limit::ALL.into_iter().filter(|it| not_applied.iter().all(|not| not.limit != *it));
    let names: Vec<&str> = hold.map(Limit::name).collect();
    page.line("limits", &if names.is_empty() { "none can be applied".to_owned() } else { names.join(", ") });
    let mut told: Vec<&UnappliedReason> = Vec::new();
    for UnappliedLimit { reason: why, .. } in not_applied {
        if told.contains(&why) {
            continue;
        }
        told.push(why);
        let same = not_applied.iter().filter(|it| it.reason == *why).map(|it| it.limit.name());
        page.line("", &format!("not {}: {why}", same.collect::<Vec<_>>().join(", ")));
    }
    if !not_applied.is_empty() {
        let with = if not_applied.iter().all(|it| matches!(it.reason, UnappliedReason::NoDisk(_))) {
            "TMPDIR on a disk"
        } else {
            "root, or a delegated group"
        };
        page.write_benefit("these limits for parts of a system", Some(with));
    }
}

fn format_jitter(latency: &LatencyHistogram) -> String {
    let time =
        |time: Option<Nanos>| time.map_or("-".to_owned(), |it| format!("{:.1} us", it.as_micros_f64()));
    let (p50, p99) = (time(latency.quantile(0.5)), time(latency.quantile(0.99)));
    format!("p50 {p50}, p99 {p99}, max {}; {} wakes, one each ms", time(latency.max()), latency.count())
}

/// Text in two columns, at most 80 characters wide.
#[derive(Debug, Default)]
struct TextColumns(String);

const NAME: usize = 14;
const WIDTH: usize = 80;

impl TextColumns {
    fn section(&mut self, title: &str) {
        let space = if self.0.is_empty() { "" } else { "\n" };
        writeln!(self.0, "{space}{title}").expect("strings grow");
    }

    fn line(&mut self, name: &str, value: &str) {
        self.wrapped(&format!("  {name:<NAME$}"), value);
    }

    fn write_benefit(&mut self, what: &str, with: Option<&str>) {
        let with = with.map_or(String::new(), |it| format!(": {it}"));
        self.wrapped(&" ".repeat(NAME + 2), &format!("would enable {what}{with}"));
    }

    fn note(&mut self, what: &str) {
        self.wrapped("  ", what);
    }

    /// Writes `first`, then `words`. Continuation lines are indented to the column of the first word.
    fn wrapped(&mut self, first: &str, words: &str) {
        let indent = first.chars().count();
        let mut line = first.to_owned();
        let mut column = indent;
        for word in words.split(' ') {
            let length = word.chars().count();
            if column > indent && column + 1 + length > WIDTH {
                writeln!(self.0, "{}", line.trim_end()).expect("strings grow");
                line = " ".repeat(indent);
                column = indent;
            }
            if column > indent {
                line.push(' ');
                column += 1;
            }
            line.push_str(word);
            column += length;
        }
        writeln!(self.0, "{}", line.trim_end()).expect("strings grow");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_text_in_two_columns() {
        let check = |write: fn(&mut TextColumns), expected: &str| {
            let mut page = TextColumns::default();
            write(&mut page);
            assert_eq!(page.0, expected);
        };
        check(|it| it.line("io_uring", "works"), "  io_uring      works\n");
        check(|it| it.write_benefit("more", None), "                would enable more\n");
        let long = |it: &mut TextColumns| it.line("x", &"seventeen letters ".repeat(4));
        check(
            long,
            "  x             seventeen letters seventeen letters seventeen letters seventeen\n                letters\n",
        );
        check(
            |it| {
                it.section("One");
                it.section("Two");
            },
            "One\n\nTwo\n",
        );
    }

    #[test]
    fn lists_limits_that_hold_and_reasons() {
        let check = |not: &[(Limit, &UnappliedReason)], expected: &str| {
            let not: Vec<_> =
                not.iter().map(|&(limit, why)| UnappliedLimit { limit, reason: why.clone() }).collect();
            let mut page = TextColumns::default();
            write_limits(&not, &mut page);
            assert_eq!(page.0, expected);
        };
        check(&[], "  limits        cpu, memory, read_iops, write_iops, read_bps, write_bps, cpus\n");
        let disk = UnappliedReason::NoDisk("tmpfs".to_owned());
        let all_io =
            [Limit::ReadIops, Limit::WriteIops, Limit::ReadBps, Limit::WriteBps].map(|it| (it, &disk));
        check(
            &all_io,
            "  limits        cpu, memory, cpus\n                not read_iops, write_iops, read_bps, write_bps: \
             the data lies on\n                tmpfs, which is no disk that could be throttled\n                \
             would enable these limits for parts of a system: TMPDIR on a\n                disk\n",
        );
        let missing = UnappliedReason::NoController("cpu".to_owned());
        check(
            &Limit::ALL.map(|it| (it, &missing)),
            "  limits        none can be applied\n                not cpu, memory, read_iops, write_iops, \
             read_bps, write_bps,\n                cpus: there is no control group controller `cpu`\n                \
             would enable these limits for parts of a system: root, or a\n                delegated group\n",
        );
    }

    #[test]
    fn warns_of_a_low_file_limit() {
        assert_eq!(format_file_limit((Some(1024), Some(4096))), "1024, at most 4096");
        assert_eq!(format_file_limit((Some(1024), Some(1024))), "1024");
        assert_eq!(format_file_limit((None, None)), "no limit");
    }
}
