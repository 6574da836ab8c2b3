#!/usr/bin/env python3
"""Checks the test vectors of downstream keys, version 1.

An implementation of downstream-key.md that stands on its own: Python's standard library, and nothing of the project's.

Prints "N passed, 0 failed" and exits 0 if all agree. Else it names each vector that does not, and exits 1. A file that
can't be read, or has not the form of section 3: exit 2.
"""

import argparse
import hashlib
import json
import re
import sys
import uuid

NAME = re.compile(r"[a-z0-9._-]{1,64}")


def part(data):
    return len(data).to_bytes(8, "big") + data


def step_key(operation_id, step):
    if not NAME.fullmatch(step):
        return None
    parts = [b"counterfoil/downstream-step/v1", uuid.UUID(operation_id).bytes, step.encode("ascii")]
    digest = bytearray(hashlib.sha256(b"".join(map(part, parts))).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x80
    digest[8] = digest[8] & 0x3F | 0x80
    return str(uuid.UUID(bytes=bytes(digest)))


def run(vectors):
    if not vectors["steps"] or not vectors["no_steps"]:
        raise ValueError("a list is empty")
    checks = [(vector["name"], step_key(vector["operation_id"], vector["step"]), vector["key"]) for vector in vectors["steps"]]
    nil = str(uuid.UUID(int=0))
    checks += [(f"no name: {text!r}", step_key(nil, text), None) for text in vectors["no_steps"]]
    failed = [f"{name}: {told}, expected {expected}" for name, told, expected in checks if told != expected]
    print("\n".join(failed + [f"{len(checks) - len(failed)} passed, {len(failed)} failed"]))
    return 1 if failed else 0


def main():
    summary, _, rest = __doc__.partition("\n\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("vectors", help="the file, docs/spec/downstream-key-v1.json")
    path = parser.parse_args().vectors
    try:
        with open(path, encoding="utf-8") as file:
            return run(json.load(file))
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"{path}: {type(error).__name__}: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
