use super::*;
use model::product;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;

fn own_program() -> String {
    std::env::current_exe().unwrap().file_name().unwrap().to_string_lossy().into_owned()
}

#[test]
fn finds_the_program_at_a_port() {
    for ip in [IpAddr::from(Ipv4Addr::LOCALHOST), Ipv4Addr::UNSPECIFIED.into()] {
        let socket = TcpListener::bind((ip, 0)).unwrap();
        let port = socket.local_addr().unwrap().port();
        let address = Address::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        let own = Listener { program: own_program(), pids: vec![std::process::id()] };
        assert_eq!(ListenerSearch::run(&address), ListenerSearch::Found(vec![own]), "{ip}");
        assert_eq!(listening_programs(&address), [own_program()]);
        drop(socket);
        assert_eq!(ListenerSearch::run(&address), ListenerSearch::NoSocket);
    }
    let far = Address::Tcp("192.0.2.1:80".parse().unwrap());
    assert_eq!(ListenerSearch::run(&far), ListenerSearch::OtherMachine);
}

#[test]
fn finds_the_program_at_a_unix_socket() {
    let path = std::env::temp_dir().join(format!("dyno listener {}", std::process::id()));
    let socket = UnixListener::bind(&path).unwrap();
    let own = Listener { program: own_program(), pids: vec![std::process::id()] };
    let address = Address::Unix(path.clone());
    assert_eq!(ListenerSearch::run(&address), ListenerSearch::Found(vec![own]));
    drop(socket);
    assert_eq!(ListenerSearch::run(&address), ListenerSearch::NoSocket);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn omits_processes_whose_parents_have_the_socket() {
    let process =
        |pid, parent, program: &str| SocketProcess { pid, parent: Some(parent), program: program.into() };
    let found = group_by_program(&[
        process(1, 0, "systemd"),
        process(20, 1, "nginx"),
        process(21, 20, "nginx"),
        process(22, 20, "nginx"),
        process(30, 1, "nginx"),
    ]);
    let listener = |program: &str, pids: &[u32]| Listener { program: program.into(), pids: pids.into() };
    assert_eq!(found, [listener("nginx", &[20, 30]), listener("systemd", &[1])]);
}

#[test]
fn compares_the_program_with_the_product() {
    for (program, product, expected) in [
        ("postgres", &product::POSTGRESQL, true),
        ("postmaster", &product::POSTGRESQL, true),
        ("ssh", &product::POSTGRESQL, false),
        ("docker-proxy", &product::POSTGRESQL, false),
        ("pgbouncer", &product::POSTGRESQL, false),
        ("pgbouncer", &product::PGBOUNCER, true),
        ("odyssey", &product::PGBOUNCER, false),
        ("haproxy", &product::HAPROXY, true),
        ("haproxy", &product::BALANCER, true),
        ("pgbouncer", &product::BALANCER, false),
        ("ssh", &product::BALANCER, false),
        ("java", &product::SERVICE, true),
        ("docker-proxy", &product::SERVICE, false),
        ("ssh", &product::SERVICE, false),
    ] {
        assert_eq!(serves_product(program, product), expected, "{program} {}", product.key);
    }
}

#[test]
fn parses_lines_of_unix_sockets() {
    let line = "0000000000000000: 00000002 00000000 00010000 0001 01 25143 /run/postgresql/.s.PGSQL.5432";
    let path = |it: &str| PathBuf::from(it);
    let socket = path("/run/postgresql/.s.PGSQL.5432");
    assert_eq!(unix_inode(line, &socket), Some(25_143));
    assert_eq!(unix_inode(line, &path("/run/postgresql/.s.PGSQL.5433")), None);
    // A session of the server has the same path.
    assert_eq!(unix_inode(&line.replace("00010000", "00000000"), &socket), None);
    assert_eq!(unix_inode("Num       RefCount Protocol Flags    Type St Inode Path", &socket), None);
}
