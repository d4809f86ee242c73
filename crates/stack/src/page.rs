//! Pages with statistics of a service, and with metrics of other hosts

use crate::component::service::expand_page_url;
use crate::http::with_path;
use crate::probe::ProbeTarget;
use model::plan::{Service, StatsAddress, StatsForm, StatsPage};
use std::net::SocketAddr;
use wire::http::{Host, Url};

/// HTTP page to sample.
#[derive(Clone, Debug)]
pub struct SampledPage {
    pub url: Url,
    pub target: ProbeTarget,
    /// Names of the metrics to store in addition to the known ones.
    pub series: Vec<String>,
    /// Text that distinguishes the page from other pages of the node in the same form; empty if there are none. It
    /// precedes the labels of the readings.
    pub label: String,
    /// Name of the node that the page describes, if it is another node than the one that serves the page.
    pub node: Option<String>,
}

impl SampledPage {
    /// Pages of a service whose own address is `base`. `programs` has the addresses of its other programs.
    pub fn of_service(service: &Service, base: &Url, programs: &[(String, SocketAddr)]) -> Vec<SampledPage> {
        let pages = &service.stats;
        let url = |address: &StatsAddress| match address {
            StatsAddress::Path(path) => with_path(base, path),
            StatsAddress::Port(port, path) => {
                let name = match &base.host {
                    Host::Tcp(name, _) => name.clone(),
                    Host::Unix(_) => "127.0.0.1".to_owned(),
                };
                Url { host: Host::Tcp(name, *port), tls: false, target: path.clone() }
            }
            StatsAddress::Url(url) => {
                let url = match own_address(base).filter(|_| service.url.is_none()) {
                    Some(own) => expand_page_url(url, service, own, programs),
                    None => url.clone(),
                };
                Url::parse(&url).expect("check accepted the URL")
            }
        };
        let is_only = |page: &StatsPage| {
            pages.iter().filter(|it| it.form == page.form && it.program == page.program).count() == 1
        };
        let sampled = |page: &StatsPage| {
            let url = url(&page.address);
            let label = if is_only(page) { String::new() } else { display_address(&url) };
            let program = service.programs.iter().find(|it| page.program.as_ref() == Some(&it.name));
            let node = service.instance.as_ref().zip(program).map(|(it, program)| it.node_of(program));
            let (target, series) = (ProbeTarget::Page(page.form), page.series.clone());
            SampledPage { url, target, series, label, node }
        };
        pages.iter().map(sampled).collect()
    }

    /// Metrics of another host.
    pub fn of_host(url: &str) -> SampledPage {
        let url = Url::parse(url).expect("check accepted the URL");
        SampledPage {
            url,
            target: ProbeTarget::Exporter,
            series: Vec::new(),
            label: String::new(),
            node: None,
        }
    }

    /// True for pages in the text format of Prometheus.
    pub(crate) fn has_metrics(&self) -> bool {
        matches!(self.target, ProbeTarget::Exporter | ProbeTarget::Page(StatsForm::Prometheus))
    }

    /// Label of a reading, with the text that distinguishes the pages.
    pub(crate) fn full_label(&self, label: &str) -> String {
        match (self.label.as_str(), label) {
            ("", label) => label.to_owned(),
            (page, "") => page.to_owned(),
            (page, label) => format!("{page}: {label}"),
        }
    }
}

/// Address of a service that pgdyno started.
fn own_address(url: &Url) -> Option<SocketAddr> {
    match &url.host {
        Host::Tcp(name, port) => Some(SocketAddr::new(name.parse().ok()?, *port)),
        Host::Unix(_) => None,
    }
}

/// Address of a page in messages and labels. The query is left out, because it may contain a secret.
pub(crate) fn display_address(url: &Url) -> String {
    let path = url.target.split('?').next().unwrap_or_default();
    format!("{}{path}", url.host_header())
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::plan::{
        Limits, Node, NodeKind, ProgramReadiness, ProgramScope, ServiceProgram, Transport, started_nodes,
    };

    #[test]
    fn pages_of_one_form_have_labels() {
        let base = Url::parse("https://shop.test/").unwrap();
        let page = |form, address| StatsPage { form, address, program: None, series: Vec::new() };
        let service =
            |stats| Service { url: Some("https://shop.test".to_owned()), stats, ..Service::default() };
        let pages = vec![
            page(StatsForm::PhpFpm, StatsAddress::Path("/status?json".to_owned())),
            page(StatsForm::PhpFpm, StatsAddress::Port(9113, "/b?token=x".to_owned())),
            page(StatsForm::StubStatus, StatsAddress::Url("http://[::1]:81/nginx".to_owned())),
        ];
        let shown: Vec<String> = SampledPage::of_service(&service(pages.clone()), &base, &[])
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
        let pages = SampledPage::of_service(&service(pages[1..2].to_vec()), &local, &[]);
        assert_eq!(pages[0].url.host_header(), "127.0.0.1:9113");
    }

    #[test]
    fn pages_of_programs_belong_to_their_nodes() {
        let program = |name: &str| ServiceProgram {
            name: name.to_owned(),
            command: vec![name.to_owned()],
            env: Vec::new(),
            files: Vec::new(),
            scope: ProgramScope::Copy,
            ready: ProgramReadiness::Port,
            limits: Limits::default(),
        };
        let page = |form, address, program: Option<&str>| StatsPage {
            form,
            address,
            program: program.map(str::to_owned),
            series: Vec::new(),
        };
        let url = |text: &str| StatsAddress::Url(text.to_owned());
        let stats = vec![
            page(StatsForm::PhpFpm, StatsAddress::Path("/fpm".to_owned()), Some("fpm")),
            page(StatsForm::StubStatus, url("http://${address}/nginx"), None),
            page(StatsForm::Prometheus, url("http://${fpm.host}:${fpm.port}/metrics"), Some("fpm")),
        ];
        let service = Service {
            programs: vec![program("fpm"), program("web")],
            stats,
            copies: 2,
            ..Service::default()
        };
        let (kind, limits) = (NodeKind::Service(service), Limits::default());
        let node = Node { name: "shop".to_owned(), kind, transport: Transport::Tcp, limits };
        let started = started_nodes(&[node]);
        let NodeKind::Service(web) = &started[3].kind else { panic!("{started:?}") };
        let base = Url::parse("http://127.0.0.1:8080/").unwrap();
        let pages = SampledPage::of_service(web, &base, &[("fpm".to_owned(), ([127, 0, 0, 1], 9000).into())]);
        let describe = |it: &SampledPage| format!("{}{} {:?}", it.url.host_header(), it.url.target, it.node);
        assert_eq!(
            pages.iter().map(describe).collect::<Vec<_>>(),
            [
                r#"127.0.0.1:8080/fpm Some("shop-2.fpm")"#,
                "127.0.0.1:8080/nginx None",
                r#"127.0.0.1:9000/metrics Some("shop-2.fpm")"#,
            ]
        );
    }
}
