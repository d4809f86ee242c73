//! Tests the addresses and the clock of sampled pages

use super::*;

#[test]
fn pages_of_one_form_have_labels() {
    let base = Url::parse("https://shop.test/").unwrap();
    let page = |form, address| StatsPage { form, address, series: Vec::new() };
    let pages = [
        page(StatsForm::PhpFpm, StatsAddress::Path("/status?json".to_owned())),
        page(StatsForm::PhpFpm, StatsAddress::Port(9113, "/b?token=x".to_owned())),
        page(StatsForm::StubStatus, StatsAddress::Url("http://[::1]:81/nginx".to_owned())),
    ];
    let shown: Vec<String> = SampledPage::of_service(&pages, &base)
        .iter()
        .map(|it| format!("{}|{}|{}|{}", it.url.tls, it.url.host_header(), it.url.target, it.label))
        .collect();
    assert_eq!(
        shown,
        [
            "true|shop.test|/status?json|shop.test/status",
            "false|shop.test:9113|/b?token=x|shop.test:9113/b",
            "false|[::1]:81|/nginx|"
        ]
    );
    let local = Url::parse("unix:/run/shop.sock").unwrap();
    assert_eq!(SampledPage::of_service(&pages[1..2], &local)[0].url.host_header(), "127.0.0.1:9113");
}

/// Rows: time on the page, our time, and the expected time of the values, in seconds.
#[test]
fn times_of_a_page_keep_their_distances() {
    let mut clock = PageClock::default();
    for (newest, now, expected) in [
        // The clocks differ by 900 s, and the first page is 4 s old.
        (1000.0, 104.0, Some(104.0)),
        (1000.0, 105.0, None),
        (999.0, 105.5, None),
        // A fresher page: the values are of this moment.
        (1006.0, 106.0, Some(106.0)),
        (1010.0, 113.0, Some(110.0)),
        (1020.0, 120.5, Some(120.0)),
    ] {
        let time = clock.time(newest, 1e9 + now, Nanos::from_secs_f64(now));
        assert_eq!(time.map(|it| (it.as_secs_f64() * 1e3).round() / 1e3), expected, "{newest} at {now}");
    }
}
