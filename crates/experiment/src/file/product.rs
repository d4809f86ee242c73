//! Keys `kind` of nodes: the products with a role.

use model::product::{self, Product, Role};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;

/// Product of a pooler.
#[derive(Clone, Copy, Debug)]
pub struct PoolerKind(pub &'static Product);

/// Product of a balancer that pgdyno starts.
#[derive(Clone, Copy, Debug)]
pub struct BalancerKind(pub &'static Product);

macro_rules! product_key {
    ($name:ident, $keys:expr) => {
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<$name, D::Error> {
                let key = String::deserialize(from)?;
                let known = $keys.find(|it| *it == key).and_then(product::find);
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

product_key!(PoolerKind, product::keys(Role::Pooler));
product_key!(BalancerKind, product::keys(Role::Balancer).filter(|it| *it != product::BALANCER.key));
