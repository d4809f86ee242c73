//! Reasons why a product cannot be a node of the plan

use model::product::Product;
use std::fmt;

/// Reason why a product cannot be a node of the plan: a mistake of the plan's author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvalidNode {
    /// The node needs an upstream, but is the last of the chain.
    NoUpstream,
    /// The node must offer TLS, and the chain has no certificate.
    NoCertificate,
    TooOld {
        product: &'static Product,
        version: (u32, u32),
        oldest: (u32, u32),
    },
    /// The program is older than one of its settings.
    UnknownSetting {
        product: &'static Product,
        setting: &'static str,
        since: (u32, u32),
    },
    UnsupportedMode {
        product: &'static Product,
        mode: &'static str,
    },
    /// A node listens by the wrong transport.
    Transport {
        /// Name of the upstream node whose transport is wrong; `None` for this node.
        node: Option<String>,
        reason: String,
        /// Suitable values of `transport`.
        allowed: &'static [&'static str],
    },
    /// The program has one directory for both its own socket and its server's.
    SocketDirectories {
        product: &'static Product,
        upstream: String,
    },
    /// A balancer of several servers does not check which one is the primary.
    NoCheck,
    /// The configuration cannot hold this path of a readiness check.
    UnusablePath {
        product: &'static Product,
        path: String,
    },
    /// Environment variable that only pgdyno sets.
    ReservedVariable(String),
}

impl InvalidNode {
    /// Error for a wrong transport of the upstream node `node`, or of this node without one.
    pub fn transport(
        node: Option<&str>,
        reason: impl Into<String>,
        allowed: &'static [&'static str],
    ) -> InvalidNode {
        InvalidNode::Transport { node: node.map(str::to_owned), reason: reason.into(), allowed }
    }
}

impl fmt::Display for InvalidNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = |it: &(u32, u32)| format!("{}.{}", it.0, it.1);
        match self {
            InvalidNode::NoUpstream => f.write_str("no node is behind it; add one"),
            InvalidNode::NoCertificate => f.write_str("it uses TLS, but the stack has no certificate"),
            InvalidNode::TooOld { product, version: found, oldest } => {
                let (name, found, oldest) = (product.name, version(found), version(oldest));
                write!(f, "{name} {found} is not supported; install {name} {oldest} or newer")
            }
            InvalidNode::UnknownSetting { product, setting, since } => {
                write!(f, "`{setting}` requires {} {} or newer", product.name, version(since))
            }
            InvalidNode::UnsupportedMode { product, mode } => {
                write!(f, "{} has no {mode} mode; choose another `mode`", product.name)
            }
            InvalidNode::Transport { node, reason, allowed } => {
                let values: Vec<String> = allowed.iter().map(|it| format!("`transport: {it}`")).collect();
                write!(f, "{reason}; write {}", values.join(" or "))?;
                node.iter().try_for_each(|it| write!(f, " for {it}"))
            }
            InvalidNode::SocketDirectories { product, upstream } => {
                let name = product.name;
                write!(
                    f,
                    "{name} has one directory for sockets, and {upstream} uses another; write `transport: tcp` for \
                     one of them"
                )
            }
            InvalidNode::NoCheck => {
                f.write_str("a balancer of several servers must check which one is the primary; set `check`")
            }
            InvalidNode::UnusablePath { product, path } => {
                write!(
                    f,
                    "{} cannot request the path {path:?}; use one without spaces, quotes, `\\` and `#`",
                    product.name
                )
            }
            InvalidNode::ReservedVariable(name) => {
                write!(f, "pgdyno itself sets the environment variable {name}; remove it from `env`")
            }
        }
    }
}

impl std::error::Error for InvalidNode {}
