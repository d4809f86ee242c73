//! `pgdyno agents`: lists the agents at a NATS server, and prints manifests that start them

use crate::cli::language::LanguageArgs;
use crate::cli::{CommandError, Terminal};
use crate::command;
use crate::exit_status::ExitStatus;
use crate::fleet::options::NatsArgs;
use crate::fleet::{discover, version};
use agent::nats::{Nats, without_password};
use agent::protocol::Announcement;
use clap::{Parser, Subcommand};
use model::message;
use report::lang::Lang;
use report::say;

/// List the agents at a NATS server, or print a manifest that starts them
#[derive(Clone, Debug, Parser)]
#[command(name = "pgdyno agents", args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(flatten)]
    nats: NatsArgs,
    #[command(flatten)]
    language: LanguageArgs,
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Clone, Debug, Subcommand)]
enum Action {
    /// Print a Kubernetes manifest: a Job of agents, and the network policy that they need
    Manifest(ManifestArgs),
}

#[derive(Clone, Debug, clap::Args)]
struct ManifestArgs {
    /// Number of agents
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=4096))]
    agents: u16,
    /// Container image with pgdyno
    #[arg(long, value_name = "IMAGE", default_value = "pgdyno:latest", value_parser = parse_word)]
    image: String,
    /// NATS servers, as the pods reach them
    #[arg(long, value_name = "URL", default_value = "nats://nats:4222", value_parser = parse_word)]
    nats: String,
    /// Host or network that the agents may load, such as 10.0.0.0/8
    #[arg(long, value_name = "HOST", default_value = "10.0.0.0/8", value_parser = parse_word)]
    allow: String,
}

const MANIFEST: &str = include_str!("../../../deploy/kubernetes/agents.yaml");

/// Rejects texts that would change the structure of the manifest.
fn parse_word(text: &str) -> Result<String, String> {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-._:/@,[]".contains(it);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => Ok(text.to_owned()),
        false => Err("write letters, digits and -._:/@,[]".to_owned()),
    }
}

/// Runs the command.
pub fn main(args: &[String]) -> ExitStatus {
    command::run("pgdyno agents", args, run)
}

fn run(args: &Args, _: &Terminal) -> Result<ExitStatus, CommandError> {
    let lang = args.language.lang()?;
    if let Some(Action::Manifest(args)) = &args.action {
        out!("{}", manifest(args));
        return Ok(ExitStatus::Success);
    }
    let env = |name: &str| std::env::var(name).ok();
    let settings = args.nats.resolve("pgdyno agents", &env)?;
    let server = without_password(&settings.url);
    let nats = Nats::connect(&settings).map_err(|it| CommandError::usage(&it))?;
    let found = discover(&nats, usize::MAX);
    if found.is_empty() {
        return Err(CommandError::usage(message!("agents-none", server)));
    }
    found.iter().for_each(|it| outln!("{}", describe(it, lang)));
    Ok(ExitStatus::Success)
}

/// Describes an agent in one line.
fn describe(agent: &Announcement, lang: &Lang) -> String {
    let numbers = lang.numbers();
    let jitter = agent.jitter.map(|it| lang.time(it));
    let files = agent.files.map(|it| numbers.count(it));
    let other = Some(&agent.version).filter(|it| **it != version());
    let labels: Vec<String> = agent.labels.iter().map(|(label, value)| format!("{label}={value}")).collect();
    say!(
        lang,
        "agents-line",
        agent = &agent.agent,
        host = &agent.host,
        cpus = u64::from(agent.cpus),
        files,
        ports = numbers.count(u64::from(agent.ports)),
        drivers = agent.drivers.join(", "),
        jitter,
        labels = if labels.is_empty() { "-".to_owned() } else { labels.join(" ") },
        allowed = agent.allow.join(", "),
        coordinator = agent.leased_by.as_ref(),
        other
    )
}

fn manifest(args: &ManifestArgs) -> String {
    MANIFEST
        .replace("AGENTS", &args.agents.to_string())
        .replace("IMAGE", &args.image)
        .replace("NATS_SERVERS", &args.nats)
        .replace("ALLOWED", &args.allow)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_has_no_placeholder_left() {
        let args =
            Args::try_parse_from(["pgdyno agents", "manifest", "--agents", "20", "--image", "r.test/p:1"]);
        let Some(Action::Manifest(args)) = args.expect("valid arguments").action else {
            panic!("a manifest")
        };
        let text = manifest(&args);
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for line in ["completions: 20", "parallelism: 20", "image: r.test/p:1", "completionMode: Indexed"] {
            assert!(lines.contains(&line), "{line}\n{text}");
        }
        for placeholder in ["AGENTS", "IMAGE", "NATS_SERVERS", "ALLOWED"] {
            assert!(!text.contains(placeholder), "{placeholder}");
        }
        assert!(parse_word("a\nkind: Secret").is_err() && parse_word("").is_err());
    }
}
