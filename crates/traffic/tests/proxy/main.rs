//! Recording proxy on real sockets, with invented servers and with PostgreSQL

mod http;
mod postgres;
mod running;
mod sockets;
mod tls;
mod tls_sockets;
