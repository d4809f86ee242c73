//! Assignment of a trial's load to agents

use super::workload::{HttpTarget, LoadInputs};
use crate::cli::CommandError;
use crate::fleet::Fleet;
use crate::fleet::assignment::{
    AssignedLoad, Assignment, ExperimentLoad, RecordedEnvironment, SSL_MODES, SentAddress, SentTarget,
    SentTls,
};
use crate::measure::LoadConfig;
use crate::secrets;
use model::message;
use model::message::Message;
use model::plan::{Experiment, Goal, Setup};
use model::row_table::Rows;
use stack::client::{Address, Target};
use wire::http::{Host, Url};
use wire::pg::Login;
use wire::tls::TlsVersion;

/// Reason why agents cannot generate the loads of an experiment; `None` if they can.
pub fn unsupported(experiment: &Experiment) -> Option<Message> {
    if experiment.goal == Goal::Failover {
        return Some(message!("experiment-generators-failover"));
    }
    experiment.cells.iter().find_map(|cell| {
        let setup = &cell.setup;
        match () {
            () if !setup.faults.is_empty() || setup.operations.iter().any(|it| it.ledger.is_some()) => {
                Some(message!("experiment-generators-failover"))
            }
            () if setup.load.is_recorded() => Some(message!("experiment-generators-recorded")),
            () => None,
        }
    })
}

/// Assignment of the load for which `config` was prepared from these inputs, and the rows of its feeds. Fails if agents
/// cannot reach a target.
pub fn assignment(
    fleet: &Fleet,
    setup: &Setup,
    inputs: &LoadInputs<'_>,
    config: &LoadConfig,
    seed: u64,
) -> Result<(Assignment, Vec<Vec<u8>>), CommandError> {
    let web = inputs.web.map(|it| &it.address);
    let targets = inputs.postgres.iter().chain(inputs.replicas).map(|it| &it.address);
    targets.chain(web).try_for_each(|it| fleet.check_target(it))?;
    let send = |targets: &[&Target]| targets.iter().map(|it| to_sent(it)).collect::<Result<Vec<_>, _>>();
    let load = ExperimentLoad {
        setup: setup.clone(),
        variables: inputs.variables.iter().map(|(name, it)| ((*name).to_owned(), *it)).collect(),
        postgres: send(inputs.postgres)?,
        replicas: send(inputs.replicas)?,
        web: inputs.web.map(|HttpTarget { url, address }| (url_text(url), to_address(address))),
        feeds: inputs.feeds.iter().map(|it| it.columns().to_vec()).collect(),
        environment: recorded_environment(setup),
        transactions: inputs.transactions,
    };
    let assignment = Assignment {
        seed,
        threads: config.work.plan().threads,
        driver: config.driver.name().to_owned(),
        load: AssignedLoad::Experiment(Box::new(load)),
    };
    Ok((assignment, inputs.feeds.iter().map(packed).collect()))
}

/// Secrets in the requests of a setup.
fn recorded_environment(setup: &Setup) -> RecordedEnvironment {
    // The serialised form also contains the texts that responses must contain.
    let to_text = |it| serde_json::to_string(it).expect("plain data can be serialised");
    let texts: Vec<String> = setup.on_start_and_operations().map(to_text).collect();
    let variables = secrets::values(texts.iter().map(String::as_str));
    RecordedEnvironment { variables, ..RecordedEnvironment::default() }
}

fn to_sent(target: &Target) -> Result<SentTarget, CommandError> {
    let login = &target.login;
    let usual = Login::new("", "");
    let is_sent = login.tls.is_some() == login.tls_source.is_some()
        && (login.methods, login.channel_binding) == (usual.methods, usual.channel_binding);
    if !is_sent {
        let target = target.address.to_string();
        return Err(CommandError::new(message!("agents-no-login", target)));
    }
    let tls = login.tls_source.as_ref().map(|source| SentTls {
        roots: source.roots.clone(),
        certificate: source.certificate.clone(),
        key: source.key.clone(),
        lowest_is_13: source.versions.lowest == TlsVersion::Tls13,
        highest_is_13: source.versions.highest == TlsVersion::Tls13,
    });
    Ok(SentTarget {
        address: to_address(&target.address),
        host: login.host.clone(),
        user: login.user.clone(),
        database: login.database.clone(),
        password: login.password.as_ref().map(|it| it.reveal().to_owned()),
        parameters: login.parameters.clone(),
        keep_parameters: login.keep_parameters,
        send_cancel: login.send_cancel,
        ssl: SSL_MODES.iter().position(|it| *it == login.ssl).expect("all modes are listed"),
        tls,
    })
}

fn to_address(address: &Address) -> SentAddress {
    match address {
        Address::Unix(path) => SentAddress::Unix(path.clone()),
        Address::Tcp(it) => SentAddress::Tcp(*it),
    }
}

/// Text from which `Url::parse` makes the same URL.
fn url_text(url: &Url) -> String {
    match &url.host {
        Host::Unix(path) => format!("unix:{path}:{}", url.target),
        Host::Tcp(..) if url.tls => format!("https://{}{}", url.host_header(), url.target),
        Host::Tcp(..) => format!("http://{}{}", url.host_header(), url.target),
    }
}

/// Rows in packed format.
fn packed(rows: &Rows) -> Vec<u8> {
    let mut bytes = Vec::new();
    for field in rows.iter().flatten() {
        bytes.extend((field.len() as u32).to_le_bytes());
        bytes.extend(field);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_arrive_unchanged() {
        for text in ["http://127.0.0.1:8080/a?b=1", "https://host/", "unix:/run/s.sock:/a"] {
            let url = Url::parse(text).expect("a URL");
            assert_eq!(Url::parse(&url_text(&url)), Ok(url), "{text}");
        }
    }
}
