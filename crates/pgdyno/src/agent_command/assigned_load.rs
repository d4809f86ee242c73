//! Load of an assignment, prepared as the coordinator prepares it

use crate::bench::{connect, http, options, ready, scripts};
use crate::cli::CommandError;
use crate::fleet::assignment::{
    AssignedLoad, Assignment, BenchLoad, ExperimentLoad, SSL_MODES, SentAddress, SentTarget,
};
use crate::measure::{LoadConfig, LoadPart};
use crate::run::workload::{self, HttpTarget, LoadInputs};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use load::driver::Driver;
use load::script::call::SecretLookup;
use model::message;
use model::row_table::{RowFormat, RowLayout, Rows};
use options::BenchCommand;
use report::lang::english;
use stack::client::{self, Target};
use std::fmt;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use wire::http::Url;
use wire::pg::{Login, Secret};
use wire::tls::{TlsSource, TlsVersion, TlsVersionRange};

/// Targets that an agent may load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowList {
    all: bool,
    entries: Vec<AllowedHost>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct AllowedHost {
    name: String,
    /// Address and length of the network prefix; `None` for a host name.
    network: Option<(IpAddr, u8)>,
}

/// Entry that allows all targets.
const ANY: &str = "any";

impl AllowList {
    /// List from the command line. Without entries, only this machine is allowed.
    pub fn new(entries: &[String]) -> Result<AllowList, CommandError> {
        let all = entries.iter().any(|it| it == ANY);
        let entries: Result<Vec<AllowedHost>, CommandError> =
            entries.iter().map(|it| AllowedHost::parse(it)).collect();
        Ok(AllowList { all, entries: entries? })
    }

    /// Entries, for the announcement.
    pub fn names(&self) -> Vec<String> {
        match self.entries.is_empty() {
            true => vec!["loopback".to_owned()],
            false => self.entries.iter().map(|it| it.name.clone()).collect(),
        }
    }

    /// True if an agent may load this address. Names of the list are looked up now.
    fn allows(&self, address: IpAddr) -> bool {
        self.all
            || match self.entries.is_empty() {
                true => address.is_loopback(),
                false => self.entries.iter().any(|it| it.contains(address)),
            }
    }

    /// Error if an agent may not load this address. Sockets of this machine are allowed as its loopback addresses are.
    fn check(&self, address: &client::Address) -> Result<(), CommandError> {
        let (ip, shown) = match address {
            client::Address::Tcp(tcp) => (tcp.ip(), tcp.to_string()),
            client::Address::Unix(path) => ([127, 0, 0, 1].into(), path.display().to_string()),
        };
        match self.allows(ip) {
            true => Ok(()),
            false => {
                let allowed = self.to_string();
                Err(CommandError::new(message!("agents-not-allowed", target = shown, allowed)))
            }
        }
    }
}

impl fmt::Display for AllowList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names().join(", "))
    }
}

impl AllowedHost {
    fn parse(text: &str) -> Result<AllowedHost, CommandError> {
        let wrong = || CommandError::usage(message!("agents-wrong-network", text));
        let network = match text.split_once('/') {
            None => text.parse().ok().map(|it: IpAddr| (it, if it.is_ipv4() { 32 } else { 128 })),
            Some((address, length)) => {
                let address: IpAddr = address.parse().map_err(|_| wrong())?;
                let length: u8 = length.parse().map_err(|_| wrong())?;
                if length > if address.is_ipv4() { 32 } else { 128 } {
                    return Err(wrong());
                }
                Some((address, length))
            }
        };
        Ok(AllowedHost { name: text.to_owned(), network })
    }

    fn contains(&self, address: IpAddr) -> bool {
        let bits = |address: IpAddr| match address {
            IpAddr::V4(v4) => u128::from(v4.to_bits()) << 96,
            IpAddr::V6(v6) => v6.to_bits(),
        };
        match self.network {
            Some((network, length)) => {
                let shift = 128 - u32::from(length);
                let prefix = |it| bits(it).checked_shr(shift).unwrap_or(0);
                network.is_ipv4() == address.is_ipv4() && prefix(network) == prefix(address)
            }
            None => {
                let found = (self.name.as_str(), 0).to_socket_addrs();
                found.is_ok_and(|mut all| all.any(|it| it.ip() == address))
            }
        }
    }
}

/// Prepares the part of agent `part.0` of `part.1`. `feeds` are the rows of the feeds. `abandon` cancels transactions in
/// flight.
pub fn prepare(
    assignment: &Assignment,
    feeds: &[Vec<u8>],
    part: (u16, u16),
    abandon: &Arc<AtomicBool>,
    allow: &AllowList,
) -> Result<LoadConfig, CommandError> {
    let (agent, agents) = part;
    let part = LoadPart::Agent { agent, agents };
    let driver = Driver::from_name(&assignment.driver)
        .filter(|it| it.is_available())
        .ok_or_else(|| CommandError::new(message!("agents-no-driver", driver = &assignment.driver)))?;
    let mut config = match &assignment.load {
        AssignedLoad::Bench(load) => bench(load, assignment, driver, part, allow)?,
        AssignedLoad::Experiment(load) => {
            experiment(load, feeds, assignment, (driver, part), abandon, allow)?
        }
    };
    if config.work.plan().threads != assignment.threads {
        return Err(CommandError::new(message!("agents-lost-damaged")));
    }
    config.abandon = Arc::clone(abandon);
    Ok(config)
}

fn bench(
    load: &BenchLoad,
    assignment: &Assignment,
    driver: Driver,
    part: LoadPart,
    allow: &AllowList,
) -> Result<LoadConfig, CommandError> {
    let env = |name: &str| load.environment.variables.get(name).cloned();
    let Ok(BenchCommand::Run(mut options)) = options::parse(&load.arguments, &env) else {
        return Err(damaged());
    };
    // An agent executes no command of its coordinator, and writes no file.
    (options.allow_shell, options.log, options.save) = (false, None, None);
    (options.threads, options.driver) = (assignment.threads.into(), Some(driver));
    if let Some(http_options) = &options.http {
        let environment = &load.environment;
        let seed_and_part = (assignment.seed, part);
        let prepared =
            http::prepare_part(&options, http_options, environment, seed_and_part, |it| allow.check(it))?;
        return Ok(prepared.load);
    }
    let texts: Result<Vec<Vec<u8>>, _> = load.scripts.iter().map(|it| STANDARD.decode(it)).collect();
    let sources: Vec<_> = options.scripts.iter().zip(texts.map_err(|_| damaged())?).collect();
    let program = scripts::compile_sources(&options, &sources).map_err(|_| damaged())?;
    let settings = connect::recorded_settings(&options.target, "pgdyno bench", &load.environment);
    let settings = settings.map_err(|_| damaged())?;
    for host in &settings.hosts {
        for address in connect::addresses(host).map_err(CommandError::new)? {
            allow.check(&address)?;
        }
    }
    let (connected, connection) = connect::open(&settings, english())?;
    drop(connection);
    let prepared = ready::prepare(&options, program, &connected, load.scale, assignment.seed, part)?;
    Ok(prepared.load)
}

fn experiment(
    load: &ExperimentLoad,
    feeds: &[Vec<u8>],
    assignment: &Assignment,
    (driver, part): (Driver, LoadPart),
    abandon: &Arc<AtomicBool>,
    allow: &AllowList,
) -> Result<LoadConfig, CommandError> {
    let targets = |all: &[SentTarget]| all.iter().map(to_target).collect::<Result<Vec<_>, _>>();
    let (postgres, replicas) = (targets(&load.postgres)?, targets(&load.replicas)?);
    let (postgres, replicas): (Vec<&Target>, Vec<&Target>) =
        (postgres.iter().collect(), replicas.iter().collect());
    let web = load.web.as_ref().map(|(url, address)| {
        let url = Url::parse(url).ok()?;
        Some(HttpTarget { url, address: to_address(address) })
    });
    let web = web.map(|it| it.ok_or_else(damaged)).transpose()?;
    let targets = postgres.iter().chain(&replicas).map(|it| &it.address);
    targets.chain(web.iter().map(|it| &it.address)).try_for_each(|it| allow.check(it))?;
    if load.feeds.len() != feeds.len() {
        return Err(damaged());
    }
    let feeds: Vec<Rows> =
        load.feeds.iter().zip(feeds).map(|(columns, bytes)| to_rows(columns, bytes)).collect();
    let variables: Vec<(&str, i64)> = load.variables.iter().map(|(name, it)| (name.as_str(), *it)).collect();
    let lookup = |name: &str| load.environment.variables.get(name).cloned().map(Secret::new);
    let inputs = LoadInputs {
        postgres: &postgres,
        replicas: &replicas,
        secret: None,
        web: web.as_ref(),
        feeds: &feeds,
        variables: &variables,
        transactions: load.transactions,
        additional: None,
        abandoned: abandon,
        part,
        driver: Some(driver),
        secrets: SecretLookup(&lookup),
    };
    Ok(workload::prepare(&load.setup, &inputs, assignment.seed)?.config)
}

fn to_address(address: &SentAddress) -> client::Address {
    match address {
        SentAddress::Unix(path) => client::Address::Unix(path.clone()),
        SentAddress::Tcp(it) => client::Address::Tcp(*it),
    }
}

fn to_target(sent: &SentTarget) -> Result<Target, CommandError> {
    let mut login = Login::new(&sent.user, &sent.database);
    login.password = sent.password.clone().map(Secret::new);
    login.parameters.clone_from(&sent.parameters);
    login.host.clone_from(&sent.host);
    (login.keep_parameters, login.send_cancel) = (sent.keep_parameters, sent.send_cancel);
    login.ssl = *SSL_MODES.get(sent.ssl).ok_or_else(damaged)?;
    if let Some(tls) = &sent.tls {
        let version = |is_13| if is_13 { TlsVersion::Tls13 } else { TlsVersion::Tls12 };
        let (lowest, highest) = (version(tls.lowest_is_13), version(tls.highest_is_13));
        let source = TlsSource {
            roots: tls.roots.clone(),
            certificate: tls.certificate.clone(),
            key: tls.key.clone(),
            versions: TlsVersionRange { lowest, highest },
        };
        login.tls = Some(source.config(login.ssl).map_err(|it| CommandError::new(&it))?);
    }
    Ok(Target::new(to_address(&sent.address), Arc::new(login)))
}

fn damaged() -> CommandError {
    CommandError::new(message!("agents-lost-damaged"))
}

/// Rows in packed format.
fn to_rows(columns: &[String], bytes: &[u8]) -> Rows {
    let mut layout = RowLayout::new(RowFormat::Packed, columns.to_vec());
    let mut at = 0;
    while at < bytes.len() {
        layout.push(at as u64);
        for _ in columns {
            let length = bytes.get(at..at + 4).map_or([0; 4], |it| it.try_into().expect("four bytes"));
            at += 4 + u32::from_le_bytes(length) as usize;
        }
    }
    Rows::new(Arc::new(bytes.to_vec()), layout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_targets_are_allowed() {
        let check = |entries: &[&str], address: &str, expected: bool| {
            let entries: Vec<String> = entries.iter().map(|it| (*it).to_owned()).collect();
            let list = AllowList::new(&entries).expect("valid entries");
            let address: IpAddr = address.parse().expect("an address");
            assert_eq!(list.allows(address), expected, "{entries:?} {address}");
        };
        check(&[], "127.0.0.1", true);
        check(&[], "::1", true);
        check(&[], "10.0.0.1", false);
        check(&["10.0.0.0/8"], "10.255.0.1", true);
        check(&["10.0.0.0/8"], "11.0.0.1", false);
        check(&["10.0.0.0/8"], "127.0.0.1", false);
        check(&["10.0.0.7", "fd00::/8"], "10.0.0.7", true);
        check(&["10.0.0.7", "fd00::/8"], "fd12::1", true);
        check(&["0.0.0.0/0"], "::1", false);
        check(&["::/0"], "fd12::1", true);
        check(&["localhost"], "127.0.0.1", true);
        check(&["any"], "192.0.2.1", true);
        for wrong in ["10.0.0.0/33", "10.0.0/8", "x/8", "fd00::/129", "/8"] {
            assert!(AllowList::new(&[wrong.to_owned()]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn packed_rows_arrive_unchanged() {
        let columns = ["a".to_owned(), "b".to_owned()];
        let mut bytes = Vec::new();
        for field in ["1", "", "long enough", "x"] {
            bytes.extend((field.len() as u32).to_le_bytes());
            bytes.extend(field.as_bytes());
        }
        let rows = to_rows(&columns, &bytes);
        let read: Vec<Vec<&[u8]>> = rows.iter().map(Iterator::collect).collect();
        assert_eq!(read, [[&b"1"[..], b""], [b"long enough", b"x"]]);
        assert_eq!(to_rows(&columns, &[]).len(), 0);
    }
}
