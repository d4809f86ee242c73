"""HTTP service that reads large results over four connections, and processes each row before it reads the next."""

import os
import queue
import socket
import time

import http_service
import psycopg2

EXPORT = "COPY (SELECT repeat('x', 100000) FROM generate_series(1, 80)) TO STDOUT (FORMAT binary)"
CONNECTIONS = queue.Queue()


class Rows:
    def write(self, row):
        time.sleep(0.002)


class Handler(http_service.Handler):
    def work(self):
        connection = CONNECTIONS.get()
        try:
            connection.cursor().copy_expert(EXPORT, Rows())
        finally:
            CONNECTIONS.put(connection)


for _ in range(4):
    connection = psycopg2.connect(os.environ["DATABASE_URL"])
    connection.autocommit = True
    # A fixed buffer does not grow to the size of a result.
    with socket.socket(fileno=os.dup(connection.fileno())) as of_connection:
        of_connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    CONNECTIONS.put(connection)

http_service.serve(Handler)
