//! Keywords of the file that the product table defines: the products of each role.

use model::plan::FaultScope;
use model::product::{self, Product, Role};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::iter::once;

/// Product of a pooler.
#[derive(Clone, Copy, Debug)]
pub struct PoolerKind(pub &'static Product);

/// Product of a balancer that pgdyno starts.
#[derive(Clone, Copy, Debug)]
pub struct BalancerKind(pub &'static Product);

/// Cluster manager that promotes replicas; `None` means that pgdyno promotes them.
#[derive(Clone, Copy, Debug)]
pub struct ManagerKind(pub Option<&'static Product>);

/// Processes of a node that a fault kills: `node`, `postmaster` or a cluster manager.
#[derive(Clone, Copy, Debug)]
pub struct Part(pub FaultScope);

macro_rules! product_key {
    ($name:ident, $keys:expr, $value:expr) => {
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<$name, D::Error> {
                let key = String::deserialize(from)?;
                let known = $keys.find(|it| *it == key).map($value);
                known.map($name).ok_or_else(|| D::Error::custom(format_args!("unknown product `{key}`")))
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "enum": $keys.collect::<Vec<_>>() })
            }
        }
    };
}

product_key!(PoolerKind, product::keys(Role::Pooler), known);
product_key!(BalancerKind, product::keys(Role::Balancer).filter(|it| *it != product::BALANCER.key), known);
product_key!(ManagerKind, once("pgdyno").chain(product::keys(Role::Manager)), product::find);
product_key!(Part, ["node", "postmaster"].into_iter().chain(product::keys(Role::Manager)), |key| match key {
    "node" => FaultScope::Node,
    "postmaster" => FaultScope::Postmaster,
    _ => FaultScope::Manager(known(key)),
});

/// Returns the product whose key the product table contains.
fn known(key: &str) -> &'static Product {
    product::find(key).expect("the table has its own keys")
}
