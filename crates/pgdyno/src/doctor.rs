//! `pgdyno doctor`: lists the machine's capabilities, and the purpose of each missing capability
//!
//! The command only starts programs to print their versions. It changes nothing, except that it creates an empty
//! control group to test the limits, and namespaces to test the features, and removes them at once.

mod bug_report;
mod document;
mod features;

pub use document::DoctorDocument;

use crate::cli::language::LanguageArgs;
use crate::cli::{CommandError, Terminal};
use crate::command;
use crate::exit_status::ExitStatus;
use crate::files;
use crate::terminal;
use bug_report::bug_report;
use clap::Parser;
use document::{
    DriverSupport, FeatureSupport, LimitSupport, ProgramInfo, ServerInstallation, TimerJitterFigures,
};
use features::{feature_purpose, missing_items, missing_text};
use load::driver::{Driver, Requirement};
use model::message::Message;
use model::product::{Product, Role};
use model::{LatencyHistogram, Nanos};
use report::json_document::to_json;
use report::lang::{Lang, english};
use report::say;
use stack::component;
use stack::component::program::{ProgramInfo as ComponentInfo, Programs};
use stack::embedded;
use stack::features::{Feature, MissingItem};
use stack::find::{Installation, InstallationSearch, RejectedPlace, install_command};
use stack::host::{Cgroups, Controller, Host, Program, TimerJitter, program};
use stack::limits::{self, Limit, UnappliedLimit, UnappliedReason};
use stack::supervisor::{scratch, server_user};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// List the capabilities of this machine, and what each missing one is needed for
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno doctor")]
pub struct Args {
    /// Directory of PostgreSQL's programs, such as /usr/lib/postgresql/15/bin
    #[arg(long, value_name = "DIR")]
    pg_bin: Option<PathBuf>,
    /// Print one JSON document, in English
    #[arg(long)]
    json: bool,
    /// Write a new file for a bug report, in English: version, machine, and questions to answer
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    report: Option<PathBuf>,
    #[command(flatten)]
    language: LanguageArgs,
}

/// Purpose of a program.
#[derive(Clone, Copy, Debug)]
enum Purpose {
    /// Comparison with pgbench.
    Comparison,
    /// A node with this role.
    Node(Role),
}

impl Purpose {
    fn text(self, lang: &Lang) -> String {
        match self {
            Purpose::Comparison => say!(lang, "doctor-purpose-pgbench"),
            Purpose::Node(Role::Pooler) => say!(lang, "doctor-purpose-pooler"),
            Purpose::Node(Role::Balancer) => say!(lang, "doctor-purpose-balancer"),
            Purpose::Node(Role::Manager | Role::Store) => say!(lang, "doctor-purpose-manager"),
            Purpose::Node(Role::Server | Role::Service) => say!(lang, "doctor-purpose-node"),
        }
    }
}

/// Program that was searched for.
#[derive(Debug)]
struct FoundProgram {
    name: &'static str,
    purpose: Purpose,
    program: Option<Program>,
    /// Command that installs the program; `None` if the program belongs to PostgreSQL's package.
    install_hint: Option<Message>,
}

/// Searches for pgbench in the servers' directories, and for the programs of systems under test in the same places as a
/// run.
fn find_programs(bins: &[PathBuf]) -> Vec<FoundProgram> {
    let places = Programs::from_environment();
    let component = |(product, names): (&'static Product, &'static ComponentInfo)| {
        let found = places.find(names, None).ok();
        let program = found.map(|it| Program { name: names.program, path: it.path, version: Some(it.text) });
        let (purpose, install_hint) = (Purpose::Node(product.role), Some((names.install_hint)()));
        FoundProgram { name: names.program, purpose, program, install_hint }
    };
    let name = "pgbench";
    let program = program(name, "--version", bins);
    let pgbench = FoundProgram { name, purpose: Purpose::Comparison, program, install_hint: None };
    std::iter::once(pgbench).chain(component::programs().map(component)).collect()
}

/// Capabilities of the machine.
#[derive(Debug)]
struct MachineReport {
    servers: Vec<Installation>,
    searched: Vec<RejectedPlace>,
    programs: Vec<FoundProgram>,
    features: Vec<(Feature, Vec<MissingItem>)>,
    /// User that runs the servers; `None` for the current user. The error states why no server can run.
    user: Result<Option<String>, Message>,
    /// Directory for the data of servers, and the bytes that are free there. The error states why there is none.
    data: Result<(PathBuf, u64), Message>,
    host: Host,
    /// Drivers that are not available on every system, with their requirements.
    drivers: Vec<(Driver, Requirement, bool)>,
    /// Limits that cannot be applied to a node of a stack, with the reasons.
    not_applied: Vec<UnappliedLimit>,
    jitter: LatencyHistogram,
}

/// Runs the command. The exit status is 1 if no PostgreSQL server is installed that pgdyno can start.
pub fn main(args: &[String]) -> ExitStatus {
    command::run("pgdyno doctor", args, run)
}

fn run(args: &Args, _: &Terminal) -> Result<ExitStatus, CommandError> {
    let lang = args.language.lang()?;
    let found = MachineReport::inspect(args.pg_bin.clone());
    if let Some(path) = &args.report {
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let text = bug_report(&found.text(english()), home.as_deref());
        files::write_new(path, &text).map_err(|it| CommandError::new(Message::of_file(path, &it)))?;
        outln!("{}", say!(lang, "doctor-report-written", path = path.display().to_string()));
        return Ok(ExitStatus::Success);
    }
    match args.json {
        true => terminal::json(&to_json(&found.document())),
        false => outln!("{}", found.text(lang).trim_end()),
    }
    Ok(if found.servers.is_empty() { ExitStatus::Failed } else { ExitStatus::Success })
}

impl MachineReport {
    fn inspect(pg_bin: Option<PathBuf>) -> MachineReport {
        let jitter = TimerJitter::start(Nanos::from_millis(1));
        let (mut servers, tried) = InstallationSearch::from_environment(pg_bin, None).find_all();
        servers.extend(embedded::MAJORS.rev().filter_map(|it| embedded::cached(Some(it))));
        let bins: Vec<PathBuf> = servers.iter().map(|it| it.bin.clone()).collect();
        let programs = find_programs(&bins);
        let host = Host::detect();
        let required = |driver: Driver| {
            let requirement = driver.properties().requirement?;
            Some((driver, requirement, (requirement.is_met)()))
        };
        let data = scratch().map_err(|error| Message::from(&error));
        let not_applied =
            limits::probe_limits(host.cgroups.clone(), data.as_deref().unwrap_or(Path::new("/")));
        let data = data.map(|path| {
            let room = rustix::fs::statvfs(&path).map_or(0, |it| it.f_bavail * it.f_frsize);
            (path, room)
        });
        // Collect about a thousand samples, enough for a p99.
        std::thread::sleep(Duration::from_secs(1));
        MachineReport {
            features: missing_items(servers.first()),
            user: server_user().map_err(|error| Message::from(&error)),
            data,
            servers,
            searched: tried,
            programs,
            host,
            drivers: Driver::ALL.into_iter().filter_map(required).collect(),
            not_applied,
            jitter: jitter.stop(),
        }
    }

    fn text(&self, lang: &Lang) -> String {
        let mut page = TextColumns::new(lang);
        page.section(&say!(lang, "doctor-servers"));
        for server in &self.servers {
            let (version, path) = (&server.version.text, server.bin.display().to_string());
            let line = match server.origin {
                stack::find::Origin::Embedded => say!(lang, "doctor-server-downloaded", version, path),
                _ => say!(lang, "doctor-server-installed", version, path),
            };
            page.line(&server.version.major.to_string(), &line);
        }
        for rejected in &self.searched {
            let line = format!("{} {}", rejected.place.display(), lang.message(&rejected.reason));
            page.line(&say!(lang, "doctor-not-usable"), &line);
        }
        if self.servers.is_empty() {
            let install = install_command(Path::new("/"));
            page.line(&say!(lang, "doctor-none"), "");
            page.needed_for(&say!(lang, "doctor-purpose-server"), Some(install));
        }
        let (first, last) = (embedded::MAJORS.start().to_string(), embedded::MAJORS.end().to_string());
        page.note(&say!(lang, "doctor-download", first, last));
        page.section(&say!(lang, "doctor-programs"));
        for FoundProgram { name, purpose, program, install_hint } in &self.programs {
            match program {
                Some(program) => {
                    let version =
                        program.version.clone().unwrap_or_else(|| say!(lang, "doctor-version-unknown"));
                    page.line(name, &format!("{version}: {}", program.path.display()));
                }
                None => {
                    page.line(name, &say!(lang, "doctor-not-found"));
                    let hint = install_hint.as_ref().map(|hint| lang.message(hint));
                    page.needed_for(&purpose.text(lang), hint.as_deref());
                }
            }
        }
        self.write_features(&mut page);
        self.write_machine(&mut page);
        page.text
    }

    /// Writes which features work with the first server, and which items the other features lack.
    fn write_features(&self, page: &mut TextColumns<'_>) {
        let lang = page.lang;
        page.section(&say!(lang, "doctor-features"));
        for (feature, missing) in &self.features {
            if missing.is_empty() {
                page.line(feature.name(), &say!(lang, "doctor-available"));
                continue;
            }
            let missing: Vec<String> = missing.iter().map(|it| missing_text(it, lang)).collect();
            page.line(feature.name(), &say!(lang, "doctor-missing", missing = missing.join("; ")));
            page.needed_for(&feature_purpose(*feature, lang), None);
        }
        let user = match &self.user {
            Ok(None) => say!(lang, "doctor-current-user"),
            Ok(Some(user)) => user.clone(),
            Err(error) => lang.message(error),
        };
        page.line(&say!(lang, "doctor-user"), &user);
        let data = match &self.data {
            Ok((path, room)) => {
                let (path, room) = (path.display().to_string(), lang.bytes(*room as f64));
                say!(lang, "doctor-data-directory", path, room)
            }
            Err(error) => lang.message(error),
        };
        page.line(&say!(lang, "doctor-data"), &data);
    }

    fn write_machine(&self, page: &mut TextColumns<'_>) {
        let host = &self.host;
        let lang = page.lang;
        let or_unknown =
            |value: &Option<String>| value.clone().unwrap_or_else(|| say!(lang, "doctor-unknown"));
        page.section(&say!(lang, "doctor-machine"));
        let (system, kernel) = (or_unknown(&host.system), or_unknown(&host.kernel));
        page.line(&say!(lang, "doctor-system"), &say!(lang, "doctor-kernel", system, kernel));
        let processor = or_unknown(&host.processor);
        page.line(&say!(lang, "doctor-cpus"), &format!("{} × {processor}", host.processors));
        if host.processors < 2 {
            page.needed_for(&say!(lang, "doctor-purpose-cpu"), Some(&say!(lang, "doctor-remedy-cpu")));
        }
        let memory = host.memory.map(|bytes| lang.bytes(bytes as f64));
        page.line(&say!(lang, "doctor-memory"), &or_unknown(&memory));
        page.line(&say!(lang, "doctor-files"), &format_file_limit(host.files, lang));
        if host.files.0.is_some_and(|it| it < FILES) {
            page.needed_for(&say!(lang, "doctor-purpose-files"), Some("ulimit -n 65536"));
        }
        let ports = host.ports.map(|(first, last)| {
            let count = u32::from(last).saturating_sub(u32::from(first)) + 1;
            say!(lang, "doctor-port-range", first = first.to_string(), last = last.to_string(), count)
        });
        page.line(&say!(lang, "doctor-ports"), &or_unknown(&ports));
        for (driver, requirement, available) in &self.drivers {
            if *available {
                page.line(driver.name(), &say!(lang, "doctor-available"));
            } else {
                page.line(driver.name(), &say!(lang, "doctor-not-available"));
                page.needed_for(&say!(lang, "doctor-purpose-driver"), Some(requirement.text));
            }
        }
        page.line(&say!(lang, "doctor-clock"), &or_unknown(&host.clock_source));
        let is_fast = |source: &str| matches!(source, "tsc" | "kvm-clock" | "arch_sys_counter");
        if host.clock_source.as_deref().is_some_and(|source| !is_fast(source)) {
            page.needed_for(&say!(lang, "doctor-purpose-clock"), Some(&say!(lang, "doctor-remedy-clock")));
        }
        match host.governor.as_deref() {
            None => page.line(&say!(lang, "doctor-frequency"), &say!(lang, "doctor-no-governor")),
            Some(name) => {
                page.line(&say!(lang, "doctor-frequency"), &say!(lang, "doctor-governor", name));
                if name != "performance" {
                    let command = "cpupower frequency-set -g performance";
                    page.needed_for(&say!(lang, "doctor-purpose-frequency"), Some(command));
                }
            }
        }
        write_cgroups(&host.cgroups, page);
        write_limits(&self.not_applied, page);
        page.line(&say!(lang, "doctor-jitter"), &format_jitter(&self.jitter, lang));
        page.note(&say!(lang, "doctor-jitter-note"));
    }

    fn document(&self) -> DoctorDocument<'_> {
        let server = |installation: &Installation| ServerInstallation {
            version: installation.version.text.clone(),
            major: installation.version.major,
            directory: installation.bin.clone(),
            origin: english().error(installation.origin),
        };
        let program = |FoundProgram { name, purpose, program, .. }: &FoundProgram| ProgramInfo {
            name,
            path: program.as_ref().map(|it| it.path.clone()),
            version: program.as_ref().and_then(|it| it.version.clone()),
            enables: purpose.text(english()),
        };
        let feature = |(feature, missing): &(Feature, Vec<MissingItem>)| FeatureSupport {
            name: feature.name(),
            available: missing.is_empty(),
            missing: missing.iter().map(|it| missing_text(it, english())).collect(),
            enables: feature_purpose(*feature, english()),
        };
        let limit = |limit: Limit| {
            let unapplied = self.not_applied.iter().find(|it| it.limit == limit);
            let reason = unapplied.map(|it| english().error(&it.reason));
            LimitSupport { name: limit.name(), available: reason.is_none(), reason }
        };
        DoctorDocument {
            servers: self.servers.iter().map(server).collect(),
            programs: self.programs.iter().map(program).collect(),
            features: self.features.iter().map(feature).collect(),
            data_directory: self.data.as_ref().ok().map(|it| it.0.clone()),
            host: &self.host,
            limits: Limit::ALL.map(limit).to_vec(),
            drivers: (self.drivers.iter())
                .map(|(driver, _, available)| DriverSupport { name: driver.name(), available: *available })
                .collect(),
            timer_jitter: TimerJitterFigures {
                count: self.jitter.count(),
                p50: self.jitter.quantile(0.5),
                p99: self.jitter.quantile(0.99),
                max: self.jitter.max(),
            },
        }
    }
}

/// Smallest open-file limit that suffices for ten thousand connections.
const FILES: u64 = 10_240;

fn format_file_limit((now, most): (Option<u64>, Option<u64>), lang: &Lang) -> String {
    let shown =
        |limit: Option<u64>| limit.map_or_else(|| say!(lang, "doctor-unlimited"), |it| it.to_string());
    if now == most {
        shown(now)
    } else {
        say!(lang, "doctor-file-limit", now = shown(now), most = shown(most))
    }
}

fn write_cgroups(cgroups: &Cgroups, page: &mut TextColumns<'_>) {
    for (version, controllers) in [("cgroups v1", &cgroups.v1), ("cgroups v2", &cgroups.v2)] {
        let names: Vec<&str> = controllers.iter().map(|it: &Controller| it.name.as_str()).collect();
        let none = || say!(page.lang, "doctor-no-controllers");
        page.line(version, &if names.is_empty() { none() } else { names.join(", ") });
    }
}

/// Writes the limits that can be applied on this machine, and the reasons why other limits cannot.
fn write_limits(not_applied: &[UnappliedLimit], page: &mut TextColumns<'_>) {
    let lang = page.lang;
    let applied = Limit::ALL.into_iter().filter(|limit| not_applied.iter().all(|not| not.limit != *limit));
    let names: Vec<&str> = applied.map(Limit::name).collect();
    let names = if names.is_empty() { say!(lang, "doctor-no-limits") } else { names.join(", ") };
    page.line(&say!(lang, "doctor-limits"), &names);
    let mut written: Vec<&UnappliedReason> = Vec::new();
    for UnappliedLimit { reason, .. } in not_applied {
        if written.contains(&reason) {
            continue;
        }
        written.push(reason);
        let same = not_applied.iter().filter(|other| other.reason == *reason).map(|other| other.limit.name());
        let limits = same.collect::<Vec<_>>().join(", ");
        page.line("", &say!(lang, "doctor-limits-not-applied", limits, reason = lang.error(reason)));
    }
    if !not_applied.is_empty() {
        let remedy = if not_applied.iter().all(|it| matches!(it.reason, UnappliedReason::NoDisk(_))) {
            say!(lang, "doctor-remedy-disk")
        } else {
            say!(lang, "doctor-remedy-cgroup")
        };
        page.needed_for(&say!(lang, "doctor-purpose-limits"), Some(&remedy));
    }
}

fn format_jitter(latency: &LatencyHistogram, lang: &Lang) -> String {
    let time = |time: Option<Nanos>| time.map_or("-".to_owned(), |time| lang.time(time));
    let (p50, p99, max) = (time(latency.quantile(0.5)), time(latency.quantile(0.99)), time(latency.max()));
    say!(lang, "doctor-jitter-values", p50, p99, max, count = latency.count())
}

/// Text in two columns, at most 80 characters wide.
#[derive(Debug)]
struct TextColumns<'a> {
    lang: &'a Lang,
    text: String,
}

const NAME: usize = 14;
const WIDTH: usize = 80;

impl TextColumns<'_> {
    fn new(lang: &Lang) -> TextColumns<'_> {
        TextColumns { lang, text: String::new() }
    }

    fn section(&mut self, title: &str) {
        let space = if self.text.is_empty() { "" } else { "\n" };
        writeln!(self.text, "{space}{title}").expect("writing to a String cannot fail");
    }

    fn line(&mut self, name: &str, value: &str) {
        self.wrapped(&format!("  {name:<NAME$}"), value);
    }

    /// Writes the purpose of a missing item, and how to install or enable it.
    fn needed_for(&mut self, purpose: &str, remedy: Option<&str>) {
        let line = say!(self.lang, "doctor-needed-for", purpose, remedy);
        self.wrapped(&" ".repeat(NAME + 2), &line);
    }

    fn note(&mut self, text: &str) {
        self.wrapped("  ", text);
    }

    /// Writes `first`, then `words`. Continuation lines are indented to the column of the first word.
    fn wrapped(&mut self, first: &str, words: &str) {
        let indent = first.chars().count();
        let mut line = first.to_owned();
        let mut column = indent;
        for word in words.split(' ') {
            let length = word.chars().count();
            if column > indent && column + 1 + length > WIDTH {
                writeln!(self.text, "{}", line.trim_end()).expect("writing to a String cannot fail");
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
        writeln!(self.text, "{}", line.trim_end()).expect("writing to a String cannot fail");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_text_in_two_columns() {
        let check = |write: fn(&mut TextColumns<'_>), expected: &str| {
            let mut page = TextColumns::new(english());
            write(&mut page);
            assert_eq!(page.text, expected);
        };
        check(|page| page.line("io_uring", "available"), "  io_uring      available\n");
        check(|page| page.needed_for("more", None), "                needed for more\n");
        check(|page| page.needed_for("more", Some("root")), "                needed for more: root\n");
        let long = |page: &mut TextColumns<'_>| page.line("x", &"seventeen letters ".repeat(4));
        check(
            long,
            "  x             seventeen letters seventeen letters seventeen letters seventeen\n                letters\n",
        );
        check(
            |page| {
                page.section("One");
                page.section("Two");
            },
            "One\n\nTwo\n",
        );
    }

    #[test]
    fn lists_limits_that_hold_and_reasons() {
        let check = |not: &[(Limit, &UnappliedReason)], expected: &str| {
            let not: Vec<_> =
                not.iter().map(|&(limit, reason)| UnappliedLimit { limit, reason: reason.clone() }).collect();
            let mut page = TextColumns::new(english());
            write_limits(&not, &mut page);
            assert_eq!(page.text, expected);
        };
        check(&[], "  limits        cpu, memory, read_iops, write_iops, read_bps, write_bps, cpus\n");
        let disk = UnappliedReason::NoDisk("tmpfs".to_owned());
        let all_io =
            [Limit::ReadIops, Limit::WriteIops, Limit::ReadBps, Limit::WriteBps].map(|it| (it, &disk));
        check(
            &all_io,
            "  limits        cpu, memory, cpus\n                not read_iops, write_iops, read_bps, write_bps: \
             the data is on\n                tmpfs, which is not a disk that can be throttled\n                \
             needed for these limits on the nodes of a stack: TMPDIR on a\n                disk\n",
        );
        let missing = UnappliedReason::NoController("cpu".to_owned());
        check(
            &Limit::ALL.map(|it| (it, &missing)),
            "  limits        none can be applied\n                not cpu, memory, read_iops, write_iops, \
             read_bps, write_bps,\n                cpus: the control group controller `cpu` is not available\n                \
             needed for these limits on the nodes of a stack: root or a\n                delegated cgroup\n",
        );
    }

    #[test]
    fn warns_of_a_low_file_limit() {
        assert_eq!(format_file_limit((Some(1024), Some(4096)), english()), "1024, can be raised to 4096");
        assert_eq!(format_file_limit((Some(1024), Some(1024)), english()), "1024");
        assert_eq!(format_file_limit((None, None), english()), "unlimited");
    }

    #[test]
    fn labels_fit_their_column_in_every_language() {
        for lang in report::lang::all() {
            for label in [
                say!(lang, "doctor-not-usable"),
                say!(lang, "doctor-user"),
                say!(lang, "doctor-data"),
                say!(lang, "doctor-none"),
                say!(lang, "doctor-system"),
                say!(lang, "doctor-cpus"),
                say!(lang, "doctor-memory"),
                say!(lang, "doctor-files"),
                say!(lang, "doctor-ports"),
                say!(lang, "doctor-clock"),
                say!(lang, "doctor-frequency"),
                say!(lang, "doctor-limits"),
                say!(lang, "doctor-jitter"),
            ] {
                assert!(label.chars().count() < NAME, "{}: {label}", lang.code());
            }
        }
    }
}
