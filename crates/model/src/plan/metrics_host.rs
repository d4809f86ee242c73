//! Hosts whose metrics are sampled.

use super::Node;

/// Host whose metrics node_exporter serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricsHost {
    /// Name of the host in samples: host and port of the URL, such as `db:9100`. The port distinguishes the name from
    /// the name of a node.
    pub name: String,
    pub url: String,
    /// Names of the nodes that run on the host, in the order of the stack.
    pub nodes: Vec<String>,
}

impl MetricsHost {
    /// Hosts of these nodes. A host with several nodes is listed once.
    pub fn all(nodes: &[Node]) -> Vec<MetricsHost> {
        let mut hosts: Vec<MetricsHost> = Vec::new();
        for (node, url) in
            nodes.iter().flat_map(|node| node.kind.metrics().iter().map(move |url| (node, url)))
        {
            let name = host_name(url);
            let host = match hosts.iter().position(|it| it.name == name) {
                Some(known) => &mut hosts[known],
                None => {
                    hosts.push(MetricsHost { name, url: url.clone(), nodes: Vec::new() });
                    hosts.last_mut().expect("a host was just added")
                }
            };
            if !host.nodes.contains(&node.name) {
                host.nodes.push(node.name.clone());
            }
        }
        hosts
    }
}

/// Host and port of a URL.
fn host_name(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    let is_ported = authority.rsplit_once(':').is_some_and(|it| !it.1.is_empty() && !it.1.contains(']'));
    match (is_ported, scheme.eq_ignore_ascii_case("https")) {
        (true, _) => authority,
        (false, true) => format!("{}:443", authority.trim_end_matches(':')),
        (false, false) => format!("{}:80", authority.trim_end_matches(':')),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{AttachedNode, Limits, NodeKind, Transport};
    use super::*;
    use crate::product;

    fn node(name: &str, metrics: &[&str]) -> Node {
        let metrics = metrics.iter().map(|&it| it.to_owned()).collect();
        let (dsn, product) = ("host=db".to_owned(), &product::POSTGRESQL);
        let kind = AttachedNode {
            dsn,
            admin: None,
            product,
            allow: None,
            other_sessions: 0,
            metrics,
            servers: Vec::new(),
        };
        let (transport, limits) = (Transport::Tcp, Limits::default());
        Node { name: name.to_owned(), kind: NodeKind::Attached(kind), transport, limits }
    }

    #[test]
    fn lists_each_host_once() {
        let pooler = node("pooler", &["http://DB:9100/metrics"]);
        let postgres = node("postgres", &["http://db:9100/metrics", "https://db-2/node?x=1"]);
        let shown: Vec<String> = MetricsHost::all(&[pooler, postgres])
            .iter()
            .map(|it| format!("{} {} {}", it.name, it.url, it.nodes.join("+")))
            .collect();
        assert_eq!(
            shown,
            ["db:9100 http://DB:9100/metrics pooler+postgres", "db-2:443 https://db-2/node?x=1 postgres"]
        );
    }

    #[test]
    fn host_names_have_a_port() {
        for (url, expected) in [
            ("http://db/metrics", "db:80"),
            ("http://db:/metrics", "db:80"),
            ("https://db", "db:443"),
            ("http://[::1]:9100/metrics", "[::1]:9100"),
            ("http://[::1]/metrics", "[::1]:80"),
        ] {
            assert_eq!(host_name(url), expected, "{url}");
        }
    }
}
