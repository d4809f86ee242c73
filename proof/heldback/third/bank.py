"""Transfers of a small bank: POST /transfer?from=N&to=M"""
import http.server
import json
import os
import threading
import time
import urllib.parse

import psycopg2

SIZE = int(os.environ.get('POOL_SIZE', '5'))
SCORING_MS = float(os.environ.get('SCORING_MS', '28'))


class Pool:
    def __init__(self, size):
        self.size = size
        self.free = [psycopg2.connect(os.environ['DATABASE_URL']) for _ in range(size)]
        self.condition = threading.Condition()
        self.waiting = 0

    def take(self):
        with self.condition:
            self.waiting += 1
            while not self.free:
                self.condition.wait()
            self.waiting -= 1
            return self.free.pop()

    def give(self, connection):
        with self.condition:
            self.free.append(connection)
            self.condition.notify()

    def stats(self):
        with self.condition:
            return {'size': self.size, 'busy': self.size - len(self.free), 'waiting': self.waiting}


pool = Pool(SIZE)


def score(account):
    """The scoring provider answers in about this time."""
    time.sleep(SCORING_MS / 1000)
    return 700 + account % 100


def transfer(source, target):
    connection = pool.take()
    try:
        with connection, connection.cursor() as cursor:
            cursor.execute('SELECT owner, balance FROM bank.accounts WHERE id = %s', (source,))
            owner, balance = cursor.fetchone()
            points = score(source)
            cursor.execute('INSERT INTO bank.transfers (source, target, amount, points) VALUES (%s, %s, 1, %s)',
                           (source, target, points))
        return {'owner': owner, 'balance': balance, 'state': 'accepted'}
    finally:
        pool.give(connection)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    disable_nagle_algorithm = True

    def do_GET(self):
        if self.path == '/stats':
            return self.answer({'pool': pool.stats()})
        self.answer({'status': 'ok'})

    def do_POST(self):
        self.rfile.read(int(self.headers.get('Content-Length') or 0))
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        self.answer(transfer(int(query['from'][0]), int(query['to'][0])))

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
