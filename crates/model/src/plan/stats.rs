//! Pages with statistics of a service.

use serde::{Deserialize, Deserializer, Serialize};

/// Page with statistics of a service, or of a program that belongs to it, such as its web server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatsPage {
    pub form: StatsForm,
    pub address: StatsAddress,
    /// Program of the service that the page describes; `None` for the program that serves the service's address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Names of additional metrics to store. Only [`StatsForm::Prometheus`] has them.
    #[serde(default)]
    pub series: Vec<String>,
}

/// Format of a [`StatsPage`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StatsForm {
    /// JSON as pgdyno's own services write it, see `services/README.md`.
    Pgdyno,
    /// Status page of PHP-FPM, as JSON or plain text.
    PhpFpm,
    /// Page of nginx's module `stub_status`.
    #[serde(rename = "stub_status")]
    StubStatus,
    /// Text format of Prometheus, or OpenMetrics.
    Prometheus,
}

/// Address of a [`StatsPage`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatsAddress {
    /// Path at the service's own address.
    Path(String),
    /// Port and path on the service's host, by plain HTTP.
    Port(u16, String),
    /// Complete URL. It may contain the addresses of the service's programs as variables.
    Url(String),
}

/// Reads the pages, or the only path of a plan of an earlier version.
pub(super) fn stats_pages<'de, D: Deserializer<'de>>(source: D) -> Result<Vec<StatsPage>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Stored {
        Path(Option<String>),
        Pages(Vec<StatsPage>),
    }
    Ok(match Stored::deserialize(source)? {
        Stored::Path(path) => path.into_iter().map(StatsPage::own).collect(),
        Stored::Pages(pages) => pages,
    })
}

impl StatsPage {
    /// Page of a service that writes pgdyno's own format.
    pub fn own(path: String) -> StatsPage {
        StatsPage {
            form: StatsForm::Pgdyno,
            address: StatsAddress::Path(path),
            program: None,
            series: Vec::new(),
        }
    }
}
