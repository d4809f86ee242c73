//! etcd: a consensus store

use super::manager::{ConsensusStore, StoreMember};
use super::program::ProgramInfo;
use model::message;
use model::product::{self, Product};
use std::path::Path;

#[derive(Debug)]
pub struct Etcd;

static NAMES: ProgramInfo = ProgramInfo {
    name: "etcd",
    program: "etcd",
    package: Some("etcd-server"),
    version_argument: "--version",
    env_var: "PGDYNO_ETCD",
    install_hint: || message!("install-package", package = "etcd-server"),
};

impl ConsensusStore for Etcd {
    fn product(&self) -> &'static Product {
        &product::ETCD
    }

    fn names(&self) -> &'static ProgramInfo {
        &NAMES
    }

    fn arguments(&self, members: &[StoreMember], index: usize, home: &Path) -> Vec<String> {
        let StoreMember { name, clients, peers } = &members[index];
        let all: Vec<String> = members.iter().map(|it| format!("{}=http://{}", it.name, it.peers)).collect();
        let pairs = [
            ("name", name.clone()),
            ("data-dir", home.join(name).display().to_string()),
            ("listen-client-urls", format!("http://{clients}")),
            ("advertise-client-urls", format!("http://{clients}")),
            ("listen-peer-urls", format!("http://{peers}")),
            ("initial-advertise-peer-urls", format!("http://{peers}")),
            ("initial-cluster", all.join(",")),
            ("initial-cluster-state", "new".to_owned()),
            ("initial-cluster-token", "pgdyno".to_owned()),
        ];
        pairs.into_iter().map(|(name, value)| format!("--{name}={value}")).collect()
    }

    fn health_path(&self) -> &'static str {
        "/health"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn initial_cluster_lists_all_members() {
        let member = |number: u16| StoreMember {
            name: format!("etcd-{number}"),
            clients: ([127, 0, 0, 1], 5000 + number).into(),
            peers: ([127, 0, 0, 1], 6000 + number).into(),
        };
        let arguments = Etcd.arguments(&[member(1), member(2)], 1, Path::new("/home"));
        assert_eq!(
            arguments.join(" "),
            "--name=etcd-2 --data-dir=/home/etcd-2 --listen-client-urls=http://127.0.0.1:5002 \
             --advertise-client-urls=http://127.0.0.1:5002 --listen-peer-urls=http://127.0.0.1:6002 \
             --initial-advertise-peer-urls=http://127.0.0.1:6002 \
             --initial-cluster=etcd-1=http://127.0.0.1:6001,etcd-2=http://127.0.0.1:6002 \
             --initial-cluster-state=new --initial-cluster-token=pgdyno"
        );
    }
}
