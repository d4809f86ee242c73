"""Bookings of a hotel: /book?room=7 asks the partner for the price and stores the booking."""
import json
import os
import queue
import threading
import time

import minihttp
import minipg

SIZE = int(os.environ.get("POOL_SIZE", "4"))
PARTNER = float(os.environ.get("PARTNER_MS", "30")) / 1000

pool = queue.Queue()
for _ in range(SIZE):
    pool.put(minipg.Connection())

lock = threading.Lock()
pending = 0


def price_of_partner(room):
    """The partner's answer over the network; this stand-in only takes the time."""
    time.sleep(PARTNER)
    return 80 + room % 40


def book(query):
    global pending
    room = int(query["room"])
    with lock:
        pending += 1
    connection = pool.get()
    with lock:
        pending -= 1
    try:
        connection.query(f"BEGIN; SELECT floor FROM rooms WHERE id = {room}")
        price = price_of_partner(room)
        rows = connection.query(f"INSERT INTO stays (room, price) VALUES ({room}, {price}) RETURNING id")
        connection.query("COMMIT")
    except Exception:
        connection.query("ROLLBACK")
        raise
    finally:
        pool.put(connection)
    return 200, "application/json", json.dumps({"booking": int(rows[0][0]), "price": price})


def metrics(query):
    idle = pool.qsize()
    text = (f'hikaricp_connections_max{{pool="main"}} {SIZE}\n'
            f'hikaricp_connections{{pool="main"}} {SIZE}\n'
            f'hikaricp_connections_active{{pool="main"}} {SIZE - idle}\n'
            f'hikaricp_connections_idle{{pool="main"}} {idle}\n'
            f'hikaricp_connections_pending{{pool="main"}} {pending}\n')
    return 200, "text/plain; version=0.0.4", text


minihttp.serve({"/health": lambda query: (200, "text/plain", "ok"), "/book": book, "/metrics": metrics})
