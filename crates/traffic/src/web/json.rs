//! JSON values that keep the order of members

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use std::fmt;

/// JSON value. Members keep the order and the repetitions of the text.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Json {
    Null,
    Bool(bool),
    /// Number as it is written in JSON, without insignificant digits.
    Number(String),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// Integers beyond this value may have been rounded by the parser, because it reads them as floating-point numbers.
const EXACT_MAX: f64 = 9e15;

impl Json {
    pub fn parse(text: &str) -> Result<Json, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Members of an object; empty for other values.
    pub fn members(&self) -> &[(String, Json)] {
        match self {
            Json::Object(members) => members,
            _ => &[],
        }
    }

    /// Elements of a list; empty for other values.
    pub fn items(&self) -> &[Json] {
        match self {
            Json::List(items) => items,
            _ => &[],
        }
    }

    /// First member of this name; `None` if it is missing or the value is no object.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.members().iter().find(|member| member.0 == name).map(|member| &member.1)
    }

    pub fn text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Text of the member of this name.
    pub fn text_of(&self, name: &str) -> Option<&str> {
        self.get(name)?.text()
    }

    pub fn number(&self) -> Option<f64> {
        match self {
            Json::Number(number) => number.parse().ok(),
            _ => None,
        }
    }

    /// True if the parser may have rounded a number of this value.
    pub fn is_rounded(&self) -> bool {
        match self {
            Json::Number(number) => {
                number.parse::<i64>().is_err()
                    && number.parse::<u64>().is_err()
                    && number.parse::<f64>().map_or(true, |number| number.abs() > EXACT_MAX)
            }
            Json::List(items) => items.iter().any(Json::is_rounded),
            Json::Object(members) => members.iter().any(|member| member.1.is_rounded()),
            _ => false,
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Json::Null => serializer.serialize_unit(),
            Json::Bool(value) => serializer.serialize_bool(*value),
            Json::Text(text) => serializer.serialize_str(text),
            Json::Number(number) => match serde_json::from_str::<serde_json::Number>(number) {
                Ok(number) => number.serialize(serializer),
                Err(_) => serializer.serialize_str(number),
            },
            Json::List(items) => serializer.collect_seq(items),
            Json::Object(members) => {
                serializer.collect_map(members.iter().map(|(name, value)| (name, value)))
            }
        }
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(serde_json::Number::from_f64(value).map_or(Json::Null, |number| Json::Number(number.to_string())))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(Json::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Json::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = access.next_entry()? {
            members.push(member);
        }
        Ok(Json::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_order_of_members() {
        let json = Json::parse(r#"{"b": 1, "a": [null, true, "x", -2, 1.5], "b": {}}"#).expect("valid");
        let names: Vec<&str> = json.members().iter().map(|member| member.0.as_str()).collect();
        assert_eq!(names, ["b", "a", "b"]);
        assert_eq!(json.get("b"), Some(&Json::Number("1".to_owned())));
        assert_eq!(json.get("a").map(Json::items).map(<[Json]>::len), Some(5));
        assert_eq!(json.get("c"), None);
    }

    #[test]
    fn notices_rounded_numbers() {
        for (text, expected) in [
            ("[1, 18446744073709551615, -9223372036854775808, 1.5, 1e3]", false),
            ("{\"a\": [18446744073709551616]}", true),
            ("1e300", true),
        ] {
            assert_eq!(Json::parse(text).expect("valid").is_rounded(), expected, "{text}");
        }
    }
}
