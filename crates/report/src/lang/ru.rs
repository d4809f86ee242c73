//! Russian.

mod compare;
mod live;
mod page;

/// Decimal comma, thin spaces between thousands, plurals by number.
#[derive(Clone, Copy, Debug)]
pub struct Ru;

/// The form that goes with a number: 1 запуск, 2 запуска, 5 запусков.
pub(crate) fn plural(n: u64, one: &'static str, few: &'static str, many: &'static str) -> &'static str {
    match (n % 10, n % 100) {
        (1, it) if it != 11 => one,
        (2..=4, it) if !(12..=14).contains(&it) => few,
        _ => many,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals() {
        for (n, form) in [
            (0, "запусков"),
            (1, "запуск"),
            (2, "запуска"),
            (5, "запусков"),
            (11, "запусков"),
            (12, "запусков"),
            (14, "запусков"),
            (21, "запуск"),
            (104, "запуска"),
            (111, "запусков"),
            (1112, "запусков"),
        ] {
            assert_eq!(plural(n, "запуск", "запуска", "запусков"), form, "{n}");
        }
    }
}
