"""Tickets of a railway kiosk: GET /ticket?train=N"""
import hashlib
import http.server
import json
import os
import queue
import threading
import time
import urllib.parse

import psycopg2

connections = queue.LifoQueue()
for _ in range(20):
    connection = psycopg2.connect(os.environ['DATABASE_URL'])
    connection.autocommit = True
    connections.put(connection)

signer = threading.Lock()


def sign(text):
    """Signature of the printed document, by the signing module."""
    with signer:
        time.sleep(0.008)
        return hashlib.sha256(text.encode()).hexdigest()


def ticket(train):
    connection = connections.get()
    try:
        with connection.cursor() as cursor:
            cursor.execute('SELECT origin, price FROM kiosk.trains WHERE id = %s', (train,))
            origin, price = cursor.fetchone()
    finally:
        connections.put(connection)
    return {'origin': origin, 'price': price, 'signature': sign(f'{train} {origin} {price}')}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    disable_nagle_algorithm = True

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        if url.path == '/health':
            return self.answer({'status': 'ok'})
        self.answer(ticket(int(urllib.parse.parse_qs(url.query)['train'][0])))

    def answer(self, value):
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True


host, port = os.environ['ADDRESS'].rsplit(':', 1)
Server((host, int(port)), Handler).serve_forever()
