"""Points of the customers of a supermarket: /points?customer=7"""
import json

import minihttp
import minipg


def points(query):
    customer = int(query["customer"])
    connection = minipg.Connection()
    try:
        rows = connection.query(f"SELECT points, level FROM customers WHERE id = {customer}")
    finally:
        connection.close()
    return 200, "application/json", json.dumps({"customer": customer, "points": int(rows[0][0]), "level": rows[0][1]})


minihttp.serve({"/health": lambda query: (200, "text/plain", "ok"), "/points": points})
