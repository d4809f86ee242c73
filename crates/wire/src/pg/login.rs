//! Who logs in, and on which terms?

/// What the bytes travel over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    Unix,
    Tcp,
}

/// Everything that all connections to one server share.
#[derive(Debug)]
pub struct Login {}
