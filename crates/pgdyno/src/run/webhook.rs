//! Notification to a webhook at the end of a run

use crate::cli::{CommandError, Terminal, os_error_text};
use crate::exit_status::ExitStatus;
use model::run_result::RunResult;
use report::lang::Lang;
use report::notification::notification;
use report::say;
use stack::https_client;
use std::path::{Path, PathBuf};
use std::time::Duration;
use wire::http::{Host, Url};
use wire::pg::Secret;

/// Environment variable with the URL.
const VARIABLE: &str = "PGDYNO_WEBHOOK";
/// URL in a hint.
const EXAMPLE: &str = "https://chat.example.org/hooks/KEY";
/// Timeout for the request.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Option of `pgdyno run` for a webhook.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct WebhookArgs {
    /// File with the URL of a webhook that receives the answer at the end of the run [default: PGDYNO_WEBHOOK]
    #[arg(long, value_name = "FILE")]
    webhook_file: Option<PathBuf>,
}

/// Webhook that is notified. Its URL is secret, because chat servers accept messages from everyone who knows it.
#[derive(Debug)]
pub struct Webhook {
    url: Secret,
    /// Host of the URL, for messages.
    host: String,
}

impl WebhookArgs {
    /// The webhook; `None` if neither the option nor the variable names one. Process lists and shell histories show
    /// arguments, so no argument contains the URL.
    pub fn webhook(&self, lang: &Lang) -> Result<Option<Webhook>, CommandError> {
        let (source, text) = match &self.webhook_file {
            Some(path) => (path.display().to_string(), Some(read(path, lang)?)),
            None => (VARIABLE.to_owned(), std::env::var(VARIABLE).ok()),
        };
        let text = text.map(|it| it.trim().to_owned()).filter(|it| !it.is_empty() || source != VARIABLE);
        let Some(text) = text else { return Ok(None) };
        let host = match Url::parse(&text) {
            Ok(Url { host: Host::Tcp(name, _), .. }) => name,
            Ok(_) | Err(_) => {
                return Err(CommandError::new(say!(lang, "webhook-no-url", source)).with_hint(say!(
                    lang,
                    "webhook-no-url-hint",
                    example = EXAMPLE
                )));
            }
        };
        Ok(Some(Webhook { url: Secret::new(text), host }))
    }
}

fn read(path: &Path, lang: &Lang) -> Result<String, CommandError> {
    std::fs::read_to_string(path).map_err(|error| {
        let (path, error) = (path.display().to_string(), os_error_text(&error));
        CommandError::new(say!(lang, "check-unreadable", path, error))
    })
}

impl Webhook {
    /// Sends the answer. A failure is only reported, because the run itself has ended.
    pub fn send(&self, result: &RunResult, status: ExitStatus, terminal: &Terminal, lang: &Lang) {
        let body = serde_json::to_vec(&notification(result, status.code(), lang));
        let body = body.expect("plain data can be serialised");
        let client = https_client::client(TIMEOUT);
        let request = client.post(self.url.reveal()).header("Content-Type", "application/json");
        let host = &self.host;
        match request.send(&body[..]) {
            Ok(_) => errln!("{}", say!(lang, "webhook-sent", host)),
            Err(error) => {
                let error = error.to_string().replace(self.url.reveal(), host);
                terminal.warning(&say!(lang, "webhook-failed", host, error));
            }
        }
    }
}
