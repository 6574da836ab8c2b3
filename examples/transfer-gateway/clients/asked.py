"""What both programs are asked on their command line, and how they say what came of it."""

import argparse
import json
import logging
import sys

TICKET = {"project": "printers", "title": "Printer on fire", "priority": "high"}


def arguments(about, **more):
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("gateway", help="where it listens, as http://127.0.0.1:8080")
    parser.add_argument("--caller", default="acme/billing", help="TENANT/PRINCIPAL, sent as the bearer")
    parser.add_argument("--key", help="an idempotency key of your own; else the SDK makes one")
    parser.add_argument("--retries", type=int, default=8, help="how often the SDK may send it again")
    parser.add_argument("--timeout", type=float, default=20, help="how many seconds it waits for one answer")
    for name, what in more.items():
        parser.add_argument("--" + name.replace("_", "-"), action="store_true", help=what)
    asked = parser.parse_args()
    # The SDKs say here when they try again.
    logging.basicConfig(stream=sys.stderr, level=logging.INFO)
    return asked


def answered(status, headers, body):
    told = {"status": status, "replayed": headers.get("idempotent-replayed") == "true", "body": body}
    print(json.dumps(told))


def raised(error, status, body):
    # Without a status no answer came.
    print(json.dumps({"raised": type(error).__name__, "status": status, "body": body}))
