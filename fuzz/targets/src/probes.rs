//! Target for responses to probes: each yields finite values or an error.

use stack::client;
use stack::component::probes;
use stack::probe::ProbeResponse;

/// Runs one input. The first byte selects the probe. The rest is the response: lines of cells separated by tabs, with
/// names in the first line and `\N` for NULL; or texts separated by NUL.
pub fn run(data: &[u8]) {
    let [number, data @ ..] = data else { return };
    let all = probes().count();
    let probe = probes().nth(usize::from(*number) % all).expect("the index is below their number");
    let text = crate::text(data);
    let mut lines = text.lines().map(|it| it.split('\t'));
    let columns = lines.next().into_iter().flatten().map(str::to_owned).collect();
    let cell = |it: &str| (it != "\\N").then(|| it.to_owned());
    let rows = lines.map(|it| it.map(cell).collect()).collect();
    let table = ProbeResponse::Rows(client::QueryResult { columns, rows, tag: String::new() });
    let texts = ProbeResponse::Texts(text.split('\0').map(str::to_owned).collect());
    // The name of a metric on the page is also one that the user asked for.
    let named: Vec<String> = text.split(['{', ' ', '\n']).take(1).map(str::to_owned).collect();
    let metrics = ProbeResponse::parse_metrics(text, &named).ok();
    for answer in [table, texts].into_iter().chain(metrics) {
        let mut readings = Vec::new();
        match (probe.read)(&answer, &mut readings) {
            Ok(()) => {
                for reading in &readings {
                    assert!(reading.value.is_finite(), "{} {}", reading.series.name, reading.label);
                    assert!(probe.series.iter().any(|known| std::ptr::eq(known, reading.series)));
                }
            }
            Err(error) => assert!(!format!("{error:?}").is_empty()),
        }
    }
}
