"""A small HTTP/1.1 server: one thread for each connection, keep-alive, GET only."""
import os
import socket
import sys
import threading
from urllib.parse import parse_qsl, urlsplit


def serve(routes):
    """`routes` maps a path to a function of the query's parameters that returns the status, the type and the text."""
    host, port = os.environ["ADDRESS"].rsplit(":", 1)
    listener = socket.create_server((host, int(port)), backlog=1024)
    while True:
        sock, _ = listener.accept()
        threading.Thread(target=client, args=(sock, routes), daemon=True).start()


def client(sock, routes):
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    data = b""
    try:
        while True:
            while b"\r\n\r\n" not in data:
                part = sock.recv(16384)
                if not part:
                    return
                data += part
            head, data = data.split(b"\r\n\r\n", 1)
            target = urlsplit(head.split(b" ", 2)[1].decode())
            try:
                status, kind, text = routes[target.path](dict(parse_qsl(target.query)))
            except KeyError:
                status, kind, text = 404, "text/plain", "not found"
            except Exception as error:
                print(f"ERROR {error}", file=sys.stderr, flush=True)
                status, kind, text = 500, "text/plain", "error"
            body = text.encode()
            sock.sendall(f"HTTP/1.1 {status} x\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
    except OSError:
        pass
    finally:
        sock.close()
