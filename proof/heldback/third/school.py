"""Timetables of a school: GET /timetable?form=N"""
import http.server
import json
import os
import queue
import urllib.parse

import psycopg2

pool = queue.LifoQueue()
for _ in range(40):
    connection = psycopg2.connect(os.environ['DATABASE_URL'])
    connection.autocommit = True
    pool.put(connection)


def one(cursor, statement, key):
    cursor.execute(statement, (key,))
    return cursor.fetchone()


def timetable(cursor, form):
    cursor.execute('SELECT id, hour, teacher_id, room_id FROM school.lessons WHERE form_id = %s ORDER BY hour', (form,))
    lessons = []
    for _, hour, teacher, room in cursor.fetchall():
        lessons.append({
            'hour': hour,
            'teacher': one(cursor, 'SELECT name, subject FROM school.teachers WHERE id = %s', teacher),
            'room': one(cursor, 'SELECT title, floor FROM school.rooms WHERE id = %s', room),
        })
    return lessons


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    disable_nagle_algorithm = True

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        if url.path == '/health':
            return self.answer({'status': 'ok'})
        form = int(urllib.parse.parse_qs(url.query)['form'][0])
        connection = pool.get()
        try:
            with connection.cursor() as cursor:
                lessons = timetable(cursor, form)
        finally:
            pool.put(connection)
        self.answer({'lessons': lessons})

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
