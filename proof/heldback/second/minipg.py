"""A small client of PostgreSQL's protocol: log-in (SCRAM-SHA-256) and simple queries."""
import base64
import hashlib
import hmac
import os
import socket
import struct


class Error(Exception):
    pass


class Connection:
    def __init__(self):
        host, port = os.environ.get("PGHOST", "127.0.0.1"), os.environ.get("PGPORT", "5432")
        if host.startswith("/"):
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.connect(f"{host}/.s.PGSQL.{port}")
        else:
            self.sock = socket.create_connection((host, int(port)))
            self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""
        options = {
            "user": os.environ["PGUSER"],
            "database": os.environ.get("PGDATABASE", os.environ["PGUSER"]),
            "application_name": os.environ.get("NAME", "service"),
        }
        body = struct.pack("!i", 196608)
        for name, value in options.items():
            body += name.encode() + b"\0" + value.encode() + b"\0"
        body += b"\0"
        self.sock.sendall(struct.pack("!i", len(body) + 4) + body)
        try:
            self.log_in(os.environ.get("PGPASSWORD", ""))
        except BaseException:
            self.sock.close()
            raise

    def read(self, count):
        while len(self.buffer) < count:
            part = self.sock.recv(65536)
            if not part:
                raise Error("the server closed the connection")
            self.buffer += part
        data, self.buffer = self.buffer[:count], self.buffer[count:]
        return data

    def message(self):
        kind, length = struct.unpack("!ci", self.read(5))
        body = self.read(length - 4)
        if kind == b"E":
            fields = {f[:1]: f[1:].decode(errors="replace") for f in body.split(b"\0") if f}
            return kind, Error(f"{fields.get(b'C')} {fields.get(b'M')}")
        return kind, body

    def send(self, kind, body):
        self.sock.sendall(kind + struct.pack("!i", len(body) + 4) + body)

    def log_in(self, password):
        while True:
            kind, body = self.message()
            if kind == b"E":
                raise body
            if kind == b"Z":
                return
            if kind != b"R":
                continue
            method = struct.unpack("!i", body[:4])[0]
            if method == 10:
                nonce = base64.b64encode(os.urandom(18)).decode()
                first = f"n=,r={nonce}"
                text = b"n,," + first.encode()
                self.send(b"p", b"SCRAM-SHA-256\0" + struct.pack("!i", len(text)) + text)
            elif method == 11:
                server = body[4:].decode()
                values = dict(item.split("=", 1) for item in server.split(","))
                salted = hashlib.pbkdf2_hmac("sha256", password.encode(), base64.b64decode(values["s"]), int(values["i"]))
                key = hmac.digest(salted, b"Client Key", "sha256")
                final = f"c=biws,r={values['r']}"
                proof = hmac.digest(hashlib.sha256(key).digest(), f"{first},{server},{final}".encode(), "sha256")
                proof = base64.b64encode(bytes(a ^ b for a, b in zip(key, proof))).decode()
                self.send(b"p", f"{final},p={proof}".encode())
            elif method == 3:
                self.send(b"p", password.encode() + b"\0")
            elif method not in (0, 12):
                raise Error(f"authentication method {method} is not supported")

    def query(self, sql):
        """The rows of the last statement, as lists of texts."""
        self.send(b"Q", sql.encode() + b"\0")
        rows, error = [], None
        while True:
            kind, body = self.message()
            if kind == b"E":
                error = body
            elif kind == b"T":
                rows = []
            elif kind == b"D":
                row, place = [], 2
                for _ in range(struct.unpack("!h", body[:2])[0]):
                    length = struct.unpack("!i", body[place:place + 4])[0]
                    place += 4
                    row.append(None if length < 0 else body[place:place + length].decode())
                    place += max(length, 0)
                rows.append(row)
            elif kind == b"Z":
                if error:
                    raise error
                return rows

    def close(self):
        try:
            self.send(b"X", b"")
        finally:
            self.sock.close()
