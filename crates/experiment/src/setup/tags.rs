//! Operations with one kind of a feed's requests each

use super::operations::{Context, MAX_OPERATIONS};
use super::{SetupBuilder, mix, too_many};
use crate::RequestGroup;
use crate::diagnostic::quote;
use crate::name::plain;
use model::message;
use model::plan::{Operation, OperationKind};

/// Maximum length of an operation's name, in bytes.
const NAME_BYTES_MAX: usize = 64;

/// Number of parts into which a mix with other operations is divided. The row of a request selects its operation, so the
/// weights of one feed's operations only describe the feed.
const WEIGHT_PARTS: f64 = 10_000.0;

impl SetupBuilder<'_> {
    /// Replaces each operation for which `by_tag` is true by an operation for each tag of its feed. Their shares in the mix
    /// are those of the requests.
    pub(super) fn split_by_tag(
        &mut self,
        all: Vec<Operation>,
        by_tag: &[bool],
        context: &Context<'_>,
    ) -> Vec<Operation> {
        if !by_tag.contains(&true) {
            return all;
        }
        let mut taken: Vec<String> =
            all.iter().zip(by_tag).filter(|it| !it.1).map(|it| it.0.name.clone()).collect();
        let (mut operations, mut shares, mut split_requests) = (Vec::new(), Vec::new(), 0);
        for (operation, split) in all.into_iter().zip(by_tag) {
            let weight = f64::from(operation.weight);
            let groups = if *split { self.tags_of(&operation, context) } else { Vec::new() };
            if groups.is_empty() {
                operations.push(operation);
                shares.push(weight);
                continue;
            }
            let requests: u64 = groups.iter().map(|it| it.requests).sum();
            split_requests += requests;
            for group in groups {
                let share = group.requests as f64 / requests as f64;
                let name = unique_name(group.tag.as_deref(), &mut taken);
                let rate = operation.rate.map(|rate| rate * share);
                let kind = OperationKind::TaggedAmmo { tag: group.tag };
                operations.push(Operation { name, rate, kind, ..operation.clone() });
                shares.push(weight * share);
            }
        }
        if operations.len() > MAX_OPERATIONS {
            self.report("operations", too_many("operations", operations.len(), MAX_OPERATIONS));
        }
        let sum: f64 = shares.iter().sum();
        // The weights of a single feed's operations are the numbers of its requests.
        let all_parts = if by_tag.len() == 1 { split_requests as f64 } else { WEIGHT_PARTS };
        let parts = |share: &f64| (share / sum * all_parts).round().max(1.0);
        let drawn: Vec<f64> = shares.iter().filter(|it| **it > 0.0).map(parts).collect();
        let mut weights = mix::proportions(&drawn).into_iter();
        for (operation, share) in operations.iter_mut().zip(shares) {
            operation.weight = if share > 0.0 { weights.next().expect("a weight") } else { 0 };
        }
        operations
    }

    fn tags_of(&mut self, operation: &Operation, context: &Context<'_>) -> Vec<RequestGroup> {
        let Some(feed) = context.feeds.iter().find(|it| Some(&it.name) == operation.feed.as_ref()) else {
            return Vec::new();
        };
        let Some(source) = &feed.source else { return Vec::new() };
        (self.request.requests)(source).map(|it| it.tags).unwrap_or_else(|reason| {
            let feed = quote(&feed.name);
            let at = format!("operations.{}.by_tag", operation.name);
            self.report(&at, message!("experiment-feed-requests", feed, reason));
            Vec::new()
        })
    }
}

/// Name of the operation for a tag.
fn unique_name(tag: Option<&str>, taken: &mut Vec<String>) -> String {
    let mut name: String = plain(tag.unwrap_or("other"))
        .chars()
        .map(|it| if it.is_control() || it == ':' { '_' } else { it })
        .collect();
    if name.is_empty() {
        name = "untagged".to_owned();
    }
    let shorten = |name: &str, length: usize| {
        let end = (0..=length.min(name.len())).rfind(|end| name.is_char_boundary(*end)).unwrap_or(0);
        name[..end].trim_end().to_owned()
    };
    let mut unique = shorten(&name, NAME_BYTES_MAX);
    let mut number = 2;
    while taken.contains(&unique) {
        unique = format!("{} {number}", shorten(&name, NAME_BYTES_MAX - 5));
        number += 1;
    }
    taken.push(unique.clone());
    unique
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_valid_and_unique() {
        let mut taken = vec!["other".to_owned()];
        let long = "GET /".to_owned() + &"ж".repeat(60);
        for (tag, expected) in [
            (Some("GET /user/{number}"), "GET /user/{number}".to_owned()),
            (Some("GET /user/{number}"), "GET /user/{number} 2".to_owned()),
            (None, "other 2".to_owned()),
            (Some("a:b\n  c"), "a_b c".to_owned()),
            (Some(""), "untagged".to_owned()),
            (Some(long.as_str()), "GET /".to_owned() + &"ж".repeat(29)),
            (Some(long.as_str()), "GET /".to_owned() + &"ж".repeat(27) + " 2"),
        ] {
            let name = unique_name(tag, &mut taken);
            assert_eq!(name, expected, "{tag:?}");
            assert_eq!(crate::name::name_error(&name), None, "{tag:?}");
        }
    }
}
