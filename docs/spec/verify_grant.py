#!/usr/bin/env python3
"""Checks the test vectors of grants, version 1.

An implementation of grant.md that stands on its own: Python's standard library, and nothing of the project's. It derives
every subkey, mints every grant, opens and checks each, and refuses what is to be refused.

Prints "N passed, 0 failed" and exits 0 if all agree. Else it names each vector that does not, and exits 1. A file that
can't be read, or has not the form of section 4: exit 2.
"""

import argparse
import base64
import hashlib
import hmac
import json
import re
import sys
import uuid

MAX_LEN = 512
MAX_EXP = 253402300799
LONGEST_MS = 300_000
FORM = re.compile(rb"gr1\.([A-Za-z0-9_-]{1,16})\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{43})")
NAME = r"[a-z0-9._-]{1,64}"
NUMBER = r"0|[1-9][0-9]*"
DIGEST = r"[A-Za-z0-9_-]{43}"
PAYLOAD = re.compile(
    rf'{{"n":"(?P<n>[0-9a-f]{{32}})","e":(?P<e>{NUMBER}),"exp":(?P<exp>{NUMBER}),"a":"(?P<a>{NAME})",'
    rf'"r":"(?P<r>{DIGEST})","b":"(?P<b>{DIGEST})"(?:,"t":"(?P<t>{NAME})")?}}'
)


class Refused(Exception):
    """The word for the fault."""


def part(data):
    return len(data).to_bytes(8, "big") + data


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def decoded(text):
    data = base64.urlsafe_b64decode(text + b"=" * (-len(text) % 4))
    if encoded(data).encode("ascii") != text:
        raise Refused("mistyped")
    return data


def subkey(secret):
    prk = hmac.digest(bytes(32), secret, "sha256")
    return hmac.digest(prk, b"counterfoil/v1/grant\x01", "sha256")


def line_digest(method, target):
    parts = [b"counterfoil/grant-request/v1", method.encode(), target.encode()]
    return encoded(hashlib.sha256(b"".join(map(part, parts))).digest())


def body_digest(body):
    return encoded(hashlib.sha256(body).digest())


# Section 1


def payload_of(vector):
    members = {
        "n": vector["operation_id"].replace("-", ""),
        "e": int(vector["epoch"]),
        "exp": vector["exp"],
        "a": vector["audience"],
        "r": line_digest(vector["method"], vector["target"]),
        "b": body_digest(bytes.fromhex(vector["body_hex"])),
    }
    if vector["step"] is not None:
        members["t"] = vector["step"]
    return json.dumps(members, separators=(",", ":"))


def sealed(keys, key_id, payload):
    text = f"gr1.{key_id}.{encoded(payload.encode())}"
    return f"{text}.{encoded(hmac.digest(keys[key_id], text.encode(), 'sha256'))}"


# Section 2


def opened(keys, grant):
    form = FORM.fullmatch(grant) if len(grant) <= MAX_LEN else None
    if not form:
        raise Refused("mistyped")
    key_id, payload, tag = form[1].decode(), decoded(form[2]), decoded(form[3])
    if key_id not in keys:
        raise Refused("unknown_key")
    if not hmac.compare_digest(tag, hmac.digest(keys[key_id], grant.rpartition(b".")[0], "sha256")):
        raise Refused("forged")
    try:
        members = PAYLOAD.fullmatch(payload.decode("ascii"))
    except UnicodeDecodeError:
        members = None
    if not members or int(members["e"]) >= 1 << 64 or int(members["exp"]) > MAX_EXP:
        raise Refused("unreadable")
    return members


def check(members, now_ms, audience, method, target, body):
    exp_ms = int(members["exp"]) * 1000
    for holds, reason in [
        (now_ms < exp_ms, "expired"),
        (exp_ms - now_ms <= LONGEST_MS, "ends_too_late"),
        (members["a"] == audience, "other_audience"),
        (members["r"] == line_digest(method, target), "other_request"),
        (members["b"] == body_digest(body), "other_body"),
    ]:
        if not holds:
            raise Refused(reason)


# Section 4


def downstream_key(operation_id, step):
    if step is None:
        return operation_id
    parts = [b"counterfoil/downstream-step/v1", uuid.UUID(operation_id).bytes, step.encode("ascii")]
    digest = bytearray(hashlib.sha256(b"".join(map(part, parts))).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x80
    digest[8] = digest[8] & 0x3F | 0x80
    return str(uuid.UUID(bytes=bytes(digest)))


def mismatches_of_key(vector, _):
    told = subkey(bytes.fromhex(vector["secret_hex"])).hex()
    if told != vector["subkey_hex"]:
        yield f"the subkey is {told}"


def mismatches_of_grant(vector, keys):
    payload = payload_of(vector)
    if payload != vector["payload"]:
        yield f"the payload is {payload}"
    grant = sealed(keys, vector["key_id"], payload)
    if grant != vector["grant"]:
        yield f"the grant is {grant}"
    if downstream_key(vector["operation_id"], vector["step"]) != vector["downstream_key"]:
        yield "the downstream key is another"
    try:
        members = opened(keys, vector["grant"].encode())
        body = bytes.fromhex(vector["body_hex"])
        check(members, vector["exp"] * 1000 - 1, vector["audience"], vector["method"], vector["target"], body)
    except Refused as refused:
        yield f"refused as {refused}"


def mismatches_of_refused(vector, keys):
    try:
        members = opened(keys, vector["grant"].encode())
        check(members, vector["now_ms"], "ledger", "POST", "/entries", b"{}")
        yield "it is good"
    except Refused as refused:
        if str(refused) != vector["reason"]:
            yield f"refused as {refused}, expected {vector['reason']}"


SECTIONS = {"keys": mismatches_of_key, "grants": mismatches_of_grant, "refused": mismatches_of_refused}


def run(vectors):
    keys = {vector["id"]: subkey(bytes.fromhex(vector["secret_hex"])) for vector in vectors["keys"]}
    passed, failed = 0, 0
    for section, mismatches_of in SECTIONS.items():
        if not vectors[section]:
            raise ValueError(f"{section} is empty")
        for vector in vectors[section]:
            mismatches = list(mismatches_of(vector, keys))
            for mismatch in mismatches:
                print(f"{section}, {vector.get('name', vector.get('id'))}: {mismatch}")
            passed, failed = passed + (not mismatches), failed + bool(mismatches)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def main():
    summary, _, rest = __doc__.partition("\n\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("vectors", help="the file, docs/spec/grant-v1.json")
    path = parser.parse_args().vectors
    try:
        with open(path, encoding="utf-8") as file:
            return run(json.load(file))
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"{path}: {type(error).__name__}: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
