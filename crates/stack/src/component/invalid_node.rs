//! Reasons why a product cannot be a node of the plan

use model::message;
use model::message::Message;
use model::product::Product;

/// Reason why a product cannot be a node of the plan. The user must change the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvalidNode {
    /// The node needs an upstream, but is the last of the chain.
    NoUpstream,
    /// The node must offer TLS, but the chain has no certificate.
    NoCertificate,
    TooOld {
        product: &'static Product,
        version: (u32, u32),
        oldest: (u32, u32),
    },
    /// The program's version does not support one of the node's settings.
    UnknownSetting {
        product: &'static Product,
        setting: &'static str,
        since: (u32, u32),
    },
    UnsupportedMode {
        product: &'static Product,
        mode: &'static str,
    },
    /// The product cannot use a node's transport.
    Transport {
        /// Name of the upstream node whose transport is wrong; `None` for this node.
        node: Option<String>,
        reason: Message,
        /// Suitable values of `transport`.
        allowed: &'static [&'static str],
    },
    /// The program has one setting for its own socket directory and the server's, but the two directories differ.
    SocketDirectories {
        product: &'static Product,
        upstream: String,
    },
    /// A balancer in front of several servers does not check which one is the primary.
    NoCheck,
    /// The configuration syntax cannot express this path of a readiness check.
    UnusablePath {
        product: &'static Product,
        path: String,
    },
    /// The user set an environment variable that only pgdyno may set.
    ReservedVariable(String),
    /// A variable in a file, argument or environment variable of a service has no value in this stack.
    NoValue(String),
}

impl InvalidNode {
    /// Creates the error for a wrong transport of the upstream node `node`; `None` means this node.
    pub fn transport(node: Option<&str>, reason: Message, allowed: &'static [&'static str]) -> InvalidNode {
        InvalidNode::Transport { node: node.map(str::to_owned), reason, allowed }
    }
}

impl From<&InvalidNode> for Message {
    fn from(error: &InvalidNode) -> Message {
        let text = |version: &(u32, u32)| format!("{}.{}", version.0, version.1);
        match error {
            InvalidNode::NoUpstream => message!("invalid-node-no-upstream"),
            InvalidNode::NoCertificate => message!("invalid-node-no-certificate"),
            InvalidNode::TooOld { product, version, oldest } => {
                message!(
                    "invalid-node-too-old",
                    product = product.name,
                    version = text(version),
                    oldest = text(oldest)
                )
            }
            InvalidNode::UnknownSetting { product, setting, since } => {
                message!(
                    "invalid-node-setting",
                    product = product.name,
                    setting = *setting,
                    since = text(since)
                )
            }
            InvalidNode::UnsupportedMode { product, mode } => {
                message!("invalid-node-mode", product = product.name, mode = *mode)
            }
            InvalidNode::Transport { node, reason, allowed } => {
                let allowed =
                    allowed.iter().map(|it| Message::text(format!("`transport: {it}`"))).collect::<Vec<_>>();
                message!("invalid-node-transport", reason, allowed, node = node.as_ref())
            }
            InvalidNode::SocketDirectories { product, upstream } => {
                message!("invalid-node-socket-directories", product = product.name, upstream)
            }
            InvalidNode::NoCheck => message!("invalid-node-no-check"),
            InvalidNode::UnusablePath { product, path } => {
                message!("invalid-node-path", product = product.name, path)
            }
            InvalidNode::NoValue(variable) => message!("invalid-node-no-value", variable),
            InvalidNode::ReservedVariable(name) => message!("invalid-node-variable", name),
        }
    }
}
