//! Who logs in, and on which terms?

use std::fmt;

/// What the bytes travel over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    Unix,
    Tcp,
}

/// Everything that all connections to one server share.
#[derive(Debug)]
pub struct Login {
    pub user: String,
    /// The empty name means the user's.
    pub database: String,
    pub password: Option<Secret>,
    /// More of the StartupMessage, such as `application_name`, `options`, `client_encoding`.
    pub parameters: Vec<(String, String)>,
    /// Keep what ParameterStatus tells, for `Channel::parameter`. Costs about 1 KiB for each connection.
    pub keep_parameters: bool,
}

impl Login {
    /// A log-in without password, TLS and further parameters.
    pub fn new(user: impl Into<String>, database: impl Into<String>) -> Login {
        Login {
            user: user.into(),
            database: database.into(),
            password: None,
            parameters: Vec::new(),
            keep_parameters: false,
        }
    }
}

/// A text that is never shown, and overwritten when dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(text.into())
    }

    /// The text itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        let mut bytes = std::mem::take(&mut self.0).into_bytes();
        bytes.fill(0);
        std::hint::black_box(&bytes);
    }
}
