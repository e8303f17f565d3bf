"""A small service, for ASGI and for WSGI: adds up what it is asked."""

import asyncio
import json


def answer(query):
    numbers = [int(word) for word in query.split(",")]
    return json.dumps({"count": len(numbers), "sum": sum(numbers)}).encode()


async def asgi(scope, receive, send):
    if scope["type"] != "http":
        return
    await asyncio.sleep(0)
    body = answer(scope["query_string"].decode())
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


def wsgi(environ, start_response):
    body = answer(environ["QUERY_STRING"])
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]
