#!/usr/bin/env python3
"""Checks the test vectors of the fingerprint, form fp1.

An implementation of fingerprint.md that stands on its own: Python's standard library, and nothing of the project's.
It issues and opens every good vector, and expects the stated answer to every bad one and every request.

Prints "N passed, 0 failed" and exits 0 if all agree. Else it names each vector that does not, and exits 1. A file that
can't be read, or has not the form of section 9: exit 2.
"""

import argparse
import base64
import hmac
import json
import re
import sys
import urllib.parse
import uuid

MAX_LEN = 1024
MAX_EXP = 253402300799
MAX_PART_LEN = 192
SHAPE = re.compile(rb"fp1\.([A-Za-z0-9_-]{1,16})\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{43})")
SCOPE = re.compile(r"[a-z0-9._-]{1,64}")
HEX_ID = re.compile(r"[0-9a-f]{32}")


class Refused(Exception):
    """The code of the answer, and for a reader the reason."""

    def __init__(self, code, why):
        super().__init__(f"{code}: {why}")
        self.code = code


# Keys (section 2)


def subkey_of(secret):
    if not 32 <= len(secret) <= 64:
        raise ValueError(f"a key has 32 to 64 bytes, this one has {len(secret)}")
    pseudorandom_key = hmac.digest(bytes(32), secret, "sha256")
    # One block of HKDF's expand step is all of the 32 bytes.
    return hmac.digest(pseudorandom_key, b"counterfoil/v1/fingerprint" + b"\x01", "sha256")


def tag_of(subkey, signed):
    return hmac.digest(subkey, signed, "sha256")


# Base64url without padding


def encode64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def decode64(text):
    """The bytes, or None where another text is the one spelling of them."""
    if len(text) % 4 == 1:
        return None
    data = base64.urlsafe_b64decode(text + b"=" * (-len(text) % 4))
    return data if encode64(data) == text else None


# The payload (section 3)


def percent_encode(text):
    # quote() keeps letters, digits and "_.-~", and writes upper-case hex: RFC 3986's unreserved characters.
    return urllib.parse.quote(text, safe="")


def write_payload(values):
    members = {
        "n": values["operation_id"],
        "exp": values["exp"],
        "u": percent_encode(values["tenant"]) + "/" + percent_encode(values["principal"]),
        "s": values["scope"],
        "p": encode64(bytes.fromhex(values["param_hash_hex"])).decode(),
    }
    if values["repeat_of"] is not None:
        members["r"] = values["repeat_of"]
    if values["needs_approval"]:
        members["a"] = True
    return json.dumps(members, separators=(",", ":")).encode()


def check_values(values):
    """Holds the values to section 3. Raises ValueError."""
    for name in ("operation_id", "repeat_of"):
        digits = values[name]
        if digits is None and name == "repeat_of":
            continue
        if not isinstance(digits, str) or not HEX_ID.fullmatch(digits):
            raise ValueError(f"{name} is not 32 hex digits")
    operation = uuid.UUID(values["operation_id"])
    if operation.variant != uuid.RFC_4122 or operation.version != 7:
        raise ValueError("the operation is no UUIDv7")
    if type(values["exp"]) is not int or not 0 <= values["exp"] <= MAX_EXP:
        raise ValueError("exp is out of range")
    for part in ("tenant", "principal"):
        if not 1 <= len(percent_encode(values[part])) <= MAX_PART_LEN:
            raise ValueError(f"the {part} is empty or too long")
    if not isinstance(values["scope"], str) or not SCOPE.fullmatch(values["scope"]):
        raise ValueError("not a scope")
    if len(values["param_hash_hex"]) != 64:
        raise ValueError("the param hash has not 32 bytes")
    if type(values["needs_approval"]) is not bool:
        raise ValueError("a is neither true nor absent")


def read_payload(data):
    """The values. Raises ValueError, UnicodeError among them, for anything but the one spelling."""
    members = json.loads(data.decode("utf-8"))
    if not isinstance(members, dict):
        raise ValueError("not an object")
    if set(members) - set("ra") != {"n", "exp", "u", "s", "p"}:
        raise ValueError("members are missing or unknown")
    if not isinstance(members["u"], str) or not isinstance(members["p"], str):
        raise ValueError("u or p is no text")
    parts = members["u"].split("/")
    if len(parts) != 2:
        raise ValueError("u has not two parts")
    tenant, principal = (urllib.parse.unquote(part, errors="strict") for part in parts)
    param_hash = decode64(members["p"].encode("ascii"))
    if param_hash is None:
        raise ValueError("p is not base64url")
    values = {
        "operation_id": members["n"],
        "exp": members["exp"],
        "tenant": tenant,
        "principal": principal,
        "scope": members["s"],
        "param_hash_hex": param_hash.hex(),
        "repeat_of": members.get("r"),
        "needs_approval": members.get("a", False),
    }
    check_values(values)
    if write_payload(values) != data:
        raise ValueError("another spelling of the same values")
    return values


# Issuing and opening (sections 4 and 5)


def issue(key_id, subkey, values):
    check_values(values)
    signed = b"fp1." + key_id.encode("ascii") + b"." + encode64(write_payload(values))
    return (signed + b"." + encode64(tag_of(subkey, signed))).decode("ascii")


def open_fingerprint(subkeys, text):
    """Checks 1 to 3: the key id and the values."""
    text = text.encode("utf-8")
    if len(text) > MAX_LEN:
        raise Refused("fingerprint_mistyped", "too long")
    shape = SHAPE.fullmatch(text)
    if shape is None:
        raise Refused("fingerprint_mistyped", "shape")
    payload, tag = decode64(shape[2]), decode64(shape[3])
    if payload is None or tag is None or len(tag) != 32:
        raise Refused("fingerprint_mistyped", "base64url")

    key_id = shape[1].decode("ascii")
    known = key_id in subkeys
    subkey = subkeys[key_id] if known else bytes(32)
    genuine = hmac.compare_digest(tag, tag_of(subkey, text[: shape.end(2)]))
    if not known or not genuine:
        raise Refused("fingerprint_invalid", "key or tag")

    try:
        return key_id, read_payload(payload)
    except (ValueError, RecursionError) as error:
        raise Refused("fingerprint_invalid", str(error)) from error


def answer_to(subkeys, request):
    """All five checks."""
    try:
        _, values = open_fingerprint(subkeys, request["fingerprint"])
    except Refused as refused:
        return refused.code
    if any(values[name] != request[name] for name in ("tenant", "principal", "scope")):
        return "fingerprint_invalid"
    if values["param_hash_hex"] != request["param_hash_hex"]:
        return "params_changed"
    return "ok"


# The vectors (section 9)


def mismatches_of_good(subkeys, vector):
    values = {name: vector[name] for name in vector if name not in ("name", "key", "payload", "fingerprint")}
    payload = write_payload(values).decode()
    if payload != vector["payload"]:
        yield f"the payload is {payload}"
    text = issue(vector["key"], subkeys[vector["key"]], values)
    if text != vector["fingerprint"]:
        yield f"issued as {text}"
    try:
        opened = open_fingerprint(subkeys, vector["fingerprint"])
    except Refused as refused:
        yield f"refused: {refused}"
    else:
        if opened != (vector["key"], values):
            yield f"opened as {opened}"


def mismatches_of_bad(subkeys, vector):
    try:
        open_fingerprint(subkeys, vector["text"])
    except Refused as refused:
        if refused.code != vector["answer"]:
            yield f"answered {refused}, expected {vector['answer']}"
    else:
        yield f"opened, expected {vector['answer']}"


def mismatches_of_request(subkeys, vector):
    answer = answer_to(subkeys, vector)
    if answer != vector["answer"]:
        yield f"answered {answer}, expected {vector['answer']}"


def mismatches_of_key(subkeys, vector):
    if subkeys[vector["id"]].hex() != vector["subkey_hex"]:
        yield f"the subkey is {subkeys[vector['id']].hex()}"


SECTIONS = {
    "keys": mismatches_of_key,
    "good": mismatches_of_good,
    "bad": mismatches_of_bad,
    "requests": mismatches_of_request,
}


def run(vectors):
    subkeys = {key["id"]: subkey_of(bytes.fromhex(key["secret_hex"])) for key in vectors["keys"]}
    passed, failed = 0, 0
    for section, mismatches_of in SECTIONS.items():
        if not vectors[section]:
            raise ValueError(f"{section} is empty")
        for vector in vectors[section]:
            mismatches = list(mismatches_of(subkeys, vector))
            for mismatch in mismatches:
                print(f"{section}, {vector.get('name') or vector['id']}: {mismatch}")
            passed, failed = passed + (not mismatches), failed + bool(mismatches)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def main():
    summary, _, rest = __doc__.partition("\n\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("vectors", help="the file, docs/spec/fingerprint-v1.json")
    path = parser.parse_args().vectors
    try:
        with open(path, encoding="utf-8") as file:
            return run(json.load(file))
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"{path}: {type(error).__name__}: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
