#!/usr/bin/env python3
"""Checks the test vectors of idempotency keys, version 1.

An implementation of idempotency-key.md that stands on its own: Python's standard library, and nothing of the project's.
It reads every field, derives every operation id and hashes every request.

Prints "N passed, 0 failed" and exits 0 if all agree. Else it names each vector that does not, and exits 1. A file that
can't be read, or has not the form of section 5: exit 2.
"""

import argparse
import hashlib
import json
import re
import sys
import uuid

MAX_LEN = 255
BARE = re.compile(r"(?!:)[A-Za-z0-9!#$%&'*+\-.^_`|~/:=]+")
# A string of structured fields (RFC 9651, section 3.3.3), with what may stand around it.
STRING = r'"(?:[ !#-\[\]-~]|\\["\\])*"'
PARAMETERS = r'(?:; *[a-z*][a-z0-9_\-.*]*(?:=(?:' + STRING + r"|[A-Za-z0-9*?:@.\-+/=]+))?)"
ONE = re.compile(rf" *({STRING}) *")
ONE_WITH_PARAMETERS = re.compile(rf" *{STRING}{PARAMETERS}+ *")
SEVERAL = re.compile(rf" *{STRING}{PARAMETERS}*(?:[ \t]*,[ \t]*(?:{STRING}|[A-Za-z0-9*?:@.\-+/=]+){PARAMETERS}*)+ *")


class Refused(Exception):
    """The word for the fault."""


# Reading the field (section 1)


def read_field(value):
    if not value:
        raise Refused("empty")
    if any(byte > 0x7F for byte in value):
        raise Refused("not_ascii")
    if any(byte < 0x20 or byte == 0x7F for byte in value):
        raise Refused("control_character")
    text = value.decode("ascii")
    if text.strip(" ").startswith('"'):
        key = read_string(text)
    else:
        key = read_bare(text)
    if not key:
        raise Refused("empty")
    if len(key) > MAX_LEN:
        raise Refused("too_long")
    return key


def read_string(text):
    one = ONE.fullmatch(text)
    if one:
        return re.sub(r"\\(.)", r"\1", one[1][1:-1])
    if ONE_WITH_PARAMETERS.fullmatch(text):
        raise Refused("parameters")
    if SEVERAL.fullmatch(text):
        raise Refused("list")
    raise Refused("syntax")


def read_bare(text):
    if "," in text:
        raise Refused("list")
    if ";" in text:
        raise Refused("parameters")
    if not BARE.fullmatch(text):
        raise Refused("syntax")
    return text


# What is derived (sections 2 and 3)


def count(number):
    return number.to_bytes(8, "big")


def part(data):
    return count(len(data)) + data


def operation_id(tenant, principal, key):
    parts = [b"counterfoil/idempotency-key/v1", tenant.encode(), principal.encode(), key.encode("ascii")]
    digest = bytearray(hashlib.sha256(b"".join(map(part, parts))).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x80
    digest[8] = digest[8] & 0x3F | 0x80
    return str(uuid.UUID(bytes=bytes(digest)))


def request_hash(scope, param_hash, line):
    data = part(b"counterfoil/keyed-request/v1") + part(scope.encode("ascii")) + part(param_hash)
    data += count(len(line)) + b"".join(part(text.encode("ascii")) for text in line)
    return hashlib.sha256(data).digest()


# The vectors (section 5)


def mismatches_of_field(vector):
    try:
        told = {"key": read_field(bytes.fromhex(vector["value_hex"]))}
    except Refused as refused:
        told = {"reason": str(refused)}
    expected = {name: vector[name] for name in ("key", "reason") if vector[name] is not None}
    if told != expected:
        yield f"read as {told}, expected {expected}"


def mismatches_of_operation(vector):
    told = operation_id(vector["tenant"], vector["principal"], vector["key"])
    if told != vector["operation_id"]:
        yield f"the operation is {told}"


def mismatches_of_request(vector):
    told = request_hash(vector["scope"], bytes.fromhex(vector["param_hash_hex"]), vector["line"]).hex()
    if told != vector["hash_hex"]:
        yield f"the hash is {told}"


SECTIONS = {
    "fields": mismatches_of_field,
    "operations": mismatches_of_operation,
    "requests": mismatches_of_request,
}


def run(vectors):
    passed, failed = 0, 0
    for section, mismatches_of in SECTIONS.items():
        if not vectors[section]:
            raise ValueError(f"{section} is empty")
        for vector in vectors[section]:
            mismatches = list(mismatches_of(vector))
            for mismatch in mismatches:
                print(f"{section}, {vector['name']}: {mismatch}")
            passed, failed = passed + (not mismatches), failed + bool(mismatches)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def main():
    summary, _, rest = __doc__.partition("\n\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("vectors", help="the file, docs/spec/idempotency-key-v1.json")
    path = parser.parse_args().vectors
    try:
        with open(path, encoding="utf-8") as file:
            return run(json.load(file))
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"{path}: {type(error).__name__}: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
