//! Options with which commands find NATS and agents

use crate::cli::CommandError;
use crate::files;
use agent::nats::{NatsOptions, without_password};
use model::message;
use model::message::Message;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Agents of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FleetOptions {
    /// Number of agents that are leased at once, at least 1.
    pub agents: u16,
    /// True if idle agents are added while the agents limit the load.
    pub grows: bool,
    /// True if a temporary NATS server and the agents are started on this machine.
    pub local: bool,
    /// Values of labels that agents must have; every label must match.
    pub select: Vec<LabelSelector>,
    pub nats: NatsArgs,
}

/// Label, and the values that are accepted for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelSelector {
    pub label: String,
    pub values: Vec<String>,
}

/// Options of the connection to NATS.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
pub struct NatsArgs {
    /// NATS servers, such as nats://10.0.0.5:4222 [default: $NATS_URL, else nats://127.0.0.1:4222]
    #[arg(long = "nats", value_name = "URL")]
    pub url: Option<String>,
    /// NATS credentials file [default: $NATS_CREDS]
    #[arg(long = "creds", value_name = "FILE")]
    pub credentials: Option<PathBuf>,
}

const DEFAULT_URL: &str = "nats://127.0.0.1:4222";

impl LabelSelector {
    /// Parses `zone=a` or `zone=a,b`.
    pub fn parse(text: &str) -> Result<LabelSelector, String> {
        let (label, values) = parse_pair(text)?;
        Ok(LabelSelector { label, values: values.split(',').map(|it| it.trim().to_owned()).collect() })
    }

    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        labels.get(&self.label).is_some_and(|it| self.values.contains(it))
    }
}

/// Parses `label=value`.
pub fn parse_pair(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').filter(|(label, value)| !label.is_empty() && !value.is_empty());
    let (label, value) = pair.ok_or_else(|| format!("\"{text}\" is no label; write it as in zone=a"))?;
    Ok((label.to_owned(), value.to_owned()))
}

impl NatsArgs {
    /// Options of the connection. Secrets come from the same environment variables and files as those of NATS's own
    /// command. `name` is the name of this client in the servers' lists.
    pub fn resolve(
        &self,
        name: &str,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<NatsOptions, CommandError> {
        let env = |name: &str| env(name).filter(|it| !it.is_empty());
        if let Some(url) = &self.url
            && *url != without_password(url)
        {
            // Every user of this machine can read the argument list.
            return Err(CommandError::usage(message!("nats-password-argument", url = without_password(url))));
        }
        let file = self.credentials.clone().or_else(|| env("NATS_CREDS").map(PathBuf::from));
        let read = |path: &Path| {
            let text = files::read(path).map(|it| String::from_utf8_lossy(&it).into_owned());
            text.map_err(|error| {
                let (path, error) = (path.display().to_string(), Message::from(&error));
                CommandError::usage(message!("feed-file-unreadable", path, error))
            })
        };
        Ok(NatsOptions {
            url: self.url.clone().or_else(|| env("NATS_URL")).unwrap_or_else(|| DEFAULT_URL.to_owned()),
            name: name.to_owned(),
            user: env("NATS_USER"),
            password: env("NATS_PASSWORD"),
            token: env("NATS_TOKEN"),
            credentials: file.as_deref().map(read).transpose()?,
            ca: env("NATS_CA").map(PathBuf::from),
            certificate: env("NATS_CERT").map(PathBuf::from).zip(env("NATS_KEY").map(PathBuf::from)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_match_labels() {
        let labels = BTreeMap::from([("zone".to_owned(), "a".to_owned())]);
        for (text, expected) in [
            ("zone=a", Some(true)),
            ("zone=b,a", Some(true)),
            ("zone=b", Some(false)),
            ("host=a", Some(false)),
            ("zone", None),
            ("=a", None),
            ("zone=", None),
        ] {
            assert_eq!(LabelSelector::parse(text).ok().map(|it| it.matches(&labels)), expected, "{text}");
        }
    }

    #[test]
    fn arguments_take_precedence_and_contain_no_password() {
        let env = |name: &str| match name {
            "NATS_URL" => Some("nats://u:p@env".to_owned()),
            "NATS_PASSWORD" => Some("secret".to_owned()),
            _ => Some(String::new()),
        };
        let resolve = |url: Option<&str>| {
            let args = NatsArgs { url: url.map(str::to_owned), credentials: None };
            args.resolve("me", &env).map(|it| (it.url, it.password.is_some(), it.user.is_some()))
        };
        assert_eq!(resolve(None), Ok(("nats://u:p@env".to_owned(), true, false)));
        assert_eq!(resolve(Some("nats://a")), Ok(("nats://a".to_owned(), true, false)));
        let error = resolve(Some("nats://u:hidden@a")).expect_err("a password is in the argument");
        assert!(!format!("{error:?}").contains("hidden"));
        assert_eq!(NatsArgs::default().resolve("me", &|_| None).map(|it| it.url), Ok(DEFAULT_URL.to_owned()));
    }
}
