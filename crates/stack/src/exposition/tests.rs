//! Tests the parser of Prometheus' text formats

use super::*;

/// Lists the metrics of a page as `name{label="value"} value kind`.
fn shown(text: &str) -> Result<Vec<String>, String> {
    let page = Exposition::parse(text, &|_| true).map_err(|it| format!("{}: {}", it.line, it.expected))?;
    let show = |metric: &Metric| {
        let Metric { name, labels, value, kind } = metric;
        let labels: Vec<String> = labels.iter().map(|(name, value)| format!("{name}={value:?}")).collect();
        let kind = if *kind == SeriesKind::Counter { "counter" } else { "gauge" };
        format!("{name}{{{}}} {value} {kind}", labels.join(","))
    };
    Ok(page.metrics.iter().map(show).collect())
}

#[test]
fn parses_lines() {
    for (text, expected) in [
        ("up 1", &["up{} 1 gauge"][..]),
        ("up{} 1\r\n\r\n", &["up{} 1 gauge"]),
        ("  up\t 1e+06 ", &["up{} 1000000 gauge"]),
        ("a:b_1{} -0.5", &["a:b_1{} -0.5 gauge"]),
        ("# a comment\n#\nup 1 # {id=\"x\"} 0.5 1", &["up{} 1 gauge"]),
        ("a{x=\"1\",y=\"2\",} 3", &["a{x=\"1\",y=\"2\"} 3 gauge"]),
        ("a { x = \"1\" , y=\"\" } 3 1700000000000", &["a{x=\"1\",y=\"\"} 3 gauge"]),
        (r#"a{x="q\"b\\n\nu\d } é"} 3"#, &[r#"a{x="q\"b\\n\nu\\d } é"} 3 gauge"#]),
        ("{\"http.requests\", method=\"GET\"} 4", &["http.requests{method=\"GET\"} 4 gauge"]),
        ("a NaN\nb +Inf\nc -Inf\nd 0", &["d{} 0 gauge"]),
        ("a_total 1\nb 2", &["a_total{} 1 counter", "b{} 2 gauge"]),
        ("# TYPE a counter\na 1\n# TYPE b_total gauge\nb_total 2", &["a{} 1 counter", "b_total{} 2 gauge"]),
        (
            "# TYPE a counter\na_total 1 1700000000.5\na_created 1.5e9 1700000000.5\n# EOF\n",
            &["a_total{} 1 counter", "a_created{} 1500000000 gauge"],
        ),
        (
            "# HELP h x\n# TYPE h histogram\nh_bucket{le=\"+Inf\"} 2\nh_sum 3\nh_count 2",
            &["h_bucket{le=\"+Inf\"} 2 counter", "h_sum{} 3 counter", "h_count{} 2 counter"],
        ),
        (
            "# TYPE s summary\ns{quantile=\"1\"} 2\ns_sum 3",
            &["s{quantile=\"1\"} 2 gauge", "s_sum{} 3 counter"],
        ),
    ] {
        assert_eq!(
            shown(text).as_deref(),
            Ok(&expected.iter().map(|&it| it.to_owned()).collect::<Vec<_>>()[..])
        );
    }
}

#[test]
fn rejects_invalid_pages() {
    for (text, expected) in [
        ("", "0: metrics"),
        ("# TYPE a counter\n\n", "0: metrics"),
        ("up 1\n<!DOCTYPE html>", "2: name of a metric"),
        ("{\"pool\":\"www\",\"listen queue\":0}", "1: comma or } after a label"),
        ("1up 1", "1: name of a metric"),
        ("up", "1: number after the name"),
        ("up x", "1: number after the name"),
        ("up 1,5", "1: number after the name"),
        ("up 1 soon", "1: time after the value"),
        ("up 1 NaN", "1: time after the value"),
        ("up 1 2 3", "1: end of the line after the time"),
        ("a{x} 1", "1: name of a label with ="),
        ("a{x=1} 1", "1: quoted value of a label"),
        ("a{x=\"1} 1", "1: closing quote"),
        ("a{x=\"1\\", "1: closing quote"),
        ("a{x=\"1\" y=\"2\"} 1", "1: comma or } after a label"),
        ("a{x=\"1\"", "1: comma or } after a label"),
        ("a{\"b\"} 1", "1: name of a metric"),
        ("{} 1", "1: name of a metric"),
        ("\u{fffd}\u{0}", "1: name of a metric"),
    ] {
        assert_eq!(shown(text), Err(expected.to_owned()), "{text:?}");
    }
}

#[test]
fn newest_time_needs_a_time_of_each_metric() {
    for (text, expected) in [
        ("a 1\nb 2", None),
        ("a 1 1700000000000\nb 2", None),
        ("a 1 1700000000000\nb 2 1700000001500", Some(1_700_000_001.5)),
        ("a 1 1700000000.25\n# EOF\n", Some(1_700_000_000.25)),
    ] {
        assert_eq!(Exposition::parse(text, &|_| true).unwrap().newest, expected, "{text:?}");
    }
}

/// A page of random bytes, and a valid page with random changes, give finite values or an error with a place.
#[test]
fn survives_random_bytes() {
    let seed = 20_261_126;
    let mut rng = model::SplitMix64(seed);
    let valid =
        "# TYPE a counter\na{x=\"1\\\"é\",y=\"2\"} 1e3 17\n{\"b.c\"} +Inf\nd 4 # {t=\"u\"} 1\n# EOF\n";
    let alphabet = b"a_:{}\"\\=,# \t\n\r.1e+-NIf\xc3\xa9\0";
    for _ in 0..20_000 {
        let mut bytes = valid.as_bytes().to_vec();
        for _ in 0..1 + rng.next_u64() % 4 {
            let at = rng.next_u64() as usize % bytes.len();
            let byte = alphabet[rng.next_u64() as usize % alphabet.len()];
            match rng.next_u64() % 3 {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => drop(bytes.remove(at)),
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        match Exposition::parse(&text, &|_| true) {
            Ok(page) => assert!(page.metrics.iter().all(|it| it.value.is_finite() && !it.name.is_empty())),
            Err(error) => assert!(error.line as usize <= text.lines().count(), "seed {seed}: {text:?}"),
        }
    }
}
