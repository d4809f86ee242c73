//! Limits of the cache of loaded data, from the environment

use crate::cli::CommandError;
use model::message;
use model::message::Message;
use stack::data_cache::DataCache;
use std::time::Duration;

/// Environment variable with the maximum size of the cache in gigabytes; 0 switches the cache off.
const SIZE_VARIABLE: &str = "PGDYNO_DATA_CACHE_GB";
/// Environment variable with the minimum duration of a load whose data are stored, in seconds.
const MINIMUM_VARIABLE: &str = "PGDYNO_DATA_CACHE_SECONDS";
const DEFAULT_SIZE: f64 = 20.0;
const DEFAULT_MINIMUM: f64 = 5.0;

/// Cache of loaded data; `None` if it is switched off, or if this user has no directory for it.
pub fn from_environment() -> Result<Option<DataCache>, CommandError> {
    let variable = |name: &str| std::env::var_os(name).map(|it| it.to_string_lossy().into_owned());
    let gigabytes = number(SIZE_VARIABLE, variable(SIZE_VARIABLE), DEFAULT_SIZE)?;
    let seconds = number(MINIMUM_VARIABLE, variable(MINIMUM_VARIABLE), DEFAULT_MINIMUM)?;
    if gigabytes == 0.0 {
        return Ok(None);
    }
    let directory = DataCache::default_directory();
    let minimum = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    Ok(directory.map(|directory| DataCache { directory, limit: (gigabytes * 1e9) as u64, minimum }))
}

/// Value of a variable, a number that is not negative. An empty variable counts as unset.
fn number(name: &str, value: Option<String>, default: f64) -> Result<f64, CommandError> {
    let Some(value) = value.filter(|it| !it.is_empty()) else { return Ok(default) };
    let parsed = value.parse::<f64>().ok().filter(|it| it.is_finite() && *it >= 0.0);
    parsed.ok_or_else(|| CommandError::new(invalid(name, &value, default)))
}

fn invalid(name: &str, value: &str, default: f64) -> Message {
    message!("run-data-cache-number", name, value, example = default.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_numbers_that_are_not_negative() {
        let check = |value: Option<&str>, expected: Option<f64>| {
            let read = number("PGDYNO_X", value.map(str::to_owned), 5.0);
            let refused = |it: CommandError| assert_eq!(it.message, invalid("PGDYNO_X", value.unwrap(), 5.0));
            assert_eq!(read.map_err(refused).ok(), expected, "{value:?}");
        };
        check(None, Some(5.0));
        check(Some(""), Some(5.0));
        check(Some("0"), Some(0.0));
        check(Some("2.5"), Some(2.5));
        check(Some("-1"), None);
        check(Some("20GB"), None);
        check(Some("inf"), None);
        check(Some("off"), None);
    }
}
