//! Options of curl

/// Meaning of an option.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Meaning {
    Request,
    Header,
    Data,
    DataRaw,
    DataUrlencode,
    Json,
    Get,
    Head,
    User,
    Cookie,
    Url,
    Location,
    MaxRedirects,
    /// No effect on the request, with and without a value.
    Ignored,
    IgnoredValue,
    /// Has an effect that an experiment cannot express.
    Unsupported,
    UnsupportedValue,
}

/// Options with their letters. Source: curl(1).
pub(super) const OPTIONS: [(&str, Option<char>, Meaning); 85] = {
    use Meaning::*;
    [
        ("request", Some('X'), Request),
        ("header", Some('H'), Header),
        ("data", Some('d'), Data),
        ("data-ascii", None, Data),
        ("data-binary", None, Data),
        ("data-raw", None, DataRaw),
        ("data-urlencode", None, DataUrlencode),
        ("json", None, Json),
        ("get", Some('G'), Get),
        ("head", Some('I'), Head),
        ("user", Some('u'), User),
        ("cookie", Some('b'), Cookie),
        ("url", None, Url),
        ("location", Some('L'), Location),
        ("location-trusted", None, Location),
        ("max-redirs", None, MaxRedirects),
        ("form", Some('F'), UnsupportedValue),
        ("form-string", None, UnsupportedValue),
        ("upload-file", Some('T'), UnsupportedValue),
        ("config", Some('K'), UnsupportedValue),
        ("next", Some(':'), Unsupported),
        ("digest", None, Unsupported),
        ("ntlm", None, Unsupported),
        ("negotiate", None, Unsupported),
        ("aws-sigv4", None, UnsupportedValue),
        ("oauth2-bearer", None, UnsupportedValue),
        ("cert", Some('E'), UnsupportedValue),
        ("key", None, UnsupportedValue),
        ("unix-socket", None, UnsupportedValue),
        ("range", Some('r'), UnsupportedValue),
        ("user-agent", Some('A'), IgnoredValue),
        ("referer", Some('e'), IgnoredValue),
        ("output", Some('o'), IgnoredValue),
        ("write-out", Some('w'), IgnoredValue),
        ("max-time", Some('m'), IgnoredValue),
        ("cookie-jar", Some('c'), IgnoredValue),
        ("dump-header", Some('D'), IgnoredValue),
        ("connect-timeout", None, IgnoredValue),
        ("retry", None, IgnoredValue),
        ("retry-delay", None, IgnoredValue),
        ("retry-max-time", None, IgnoredValue),
        ("proxy", Some('x'), IgnoredValue),
        ("proxy-header", None, IgnoredValue),
        ("noproxy", None, IgnoredValue),
        ("cacert", None, IgnoredValue),
        ("capath", None, IgnoredValue),
        ("resolve", None, IgnoredValue),
        ("connect-to", None, IgnoredValue),
        ("interface", None, IgnoredValue),
        ("limit-rate", None, IgnoredValue),
        ("ciphers", None, IgnoredValue),
        ("keepalive-time", None, IgnoredValue),
        ("stderr", None, IgnoredValue),
        ("trace", None, IgnoredValue),
        ("trace-ascii", None, IgnoredValue),
        ("speed-time", Some('y'), IgnoredValue),
        ("speed-limit", Some('Y'), IgnoredValue),
        ("output-dir", None, IgnoredValue),
        ("compressed", None, Ignored),
        ("insecure", Some('k'), Ignored),
        ("silent", Some('s'), Ignored),
        ("show-error", Some('S'), Ignored),
        ("verbose", Some('v'), Ignored),
        ("include", Some('i'), Ignored),
        ("fail", Some('f'), Ignored),
        ("fail-with-body", None, Ignored),
        ("remote-name", Some('O'), Ignored),
        ("remote-header-name", Some('J'), Ignored),
        ("progress-bar", Some('#'), Ignored),
        ("no-progress-meter", None, Ignored),
        ("no-buffer", Some('N'), Ignored),
        ("globoff", Some('g'), Ignored),
        ("path-as-is", None, Ignored),
        ("disable", Some('q'), Ignored),
        ("ipv4", Some('4'), Ignored),
        ("ipv6", Some('6'), Ignored),
        ("http1.0", Some('0'), Ignored),
        ("http1.1", None, Ignored),
        ("http2", None, Ignored),
        ("http2-prior-knowledge", None, Ignored),
        ("http3", None, Ignored),
        ("tlsv1.2", None, Ignored),
        ("tlsv1.3", None, Ignored),
        ("basic", None, Ignored),
        ("create-dirs", None, Ignored),
    ]
};

impl Meaning {
    /// True if a value follows the option.
    pub fn has_value(self) -> bool {
        !matches!(
            self,
            Meaning::Get | Meaning::Head | Meaning::Location | Meaning::Ignored | Meaning::Unsupported
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_unique() {
        for (number, (name, letter, _)) in OPTIONS.iter().enumerate() {
            let is_repeated = |option: &&(&str, Option<char>, Meaning)| {
                option.0 == *name || letter.is_some() && option.1 == *letter
            };
            assert_eq!(OPTIONS[..number].iter().find(is_repeated), None, "{name}");
        }
    }
}
