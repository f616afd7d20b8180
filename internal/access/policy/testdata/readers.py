"""Reads lines with a JSON array of URIs each, and writes for each line what Python reads:
an array with [scheme, host, port, path] or null for each URI."""

import json
import sys
from urllib.parse import unquote, urlsplit


def read(text):
    try:
        url = urlsplit(text)
        port = "" if url.port is None else str(url.port)
        return [url.scheme, unquote(url.hostname or ""), port, unquote(url.path)]
    except ValueError:
        return None


for line in sys.stdin:
    print(json.dumps([read(text) for text in json.loads(line)]), flush=True)
