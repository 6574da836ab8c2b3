"""A client in another language, on another implementation of gRPC: plays an unsure caller, and holds the server to its word.

    payouts.py ADDRESS DESCRIPTORS

DESCRIPTORS is a file with the FileDescriptorSet that the server's build wrote: messages are read from it at run time, so that
nothing has to be generated here. The server must be fresh. Exits with 0 if all went as it should.
"""

import sys

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.rpc import error_details_pb2
from grpc_status import rpc_status

SERVICE = "/payouts.v1.Payouts/"
TIMEOUT_S = 20
KEY = "8e03978e-40d5-43dd-bc93-6894a57f9324"
OTHER_KEY = "01ARZ3NDEKTSV4RRFFQ69G5FAV"


def messages(path):
    """The message classes of the package, by name."""
    files = descriptor_pb2.FileDescriptorSet()
    with open(path, "rb") as file:
        files.ParseFromString(file.read())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    names = [message.name for file in files.file for message in file.message_type]
    found = (pool.FindMessageTypeByName("payouts.v1." + name) for name in names)
    return {kind.name: message_factory.GetMessageClass(kind) for kind in found}


def expect(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: got {got!r}, wanted {wanted!r}")
    print(f"{what}: {got!r}")


def metadata(**entries):
    entries = {name.replace("_", "-"): value for name, value in entries.items()}
    return [("authorization", "Bearer acme/agent-7"), *entries.items()]


def told(call):
    """The word beside a reply."""
    return dict(call.initial_metadata()).get("counterfoil-status")


def refused(call):
    """The code, and the members of the ErrorInfo, of a call that fails."""
    try:
        reply = call()
        if hasattr(reply, "__iter__"):
            list(reply)
    except grpc.RpcError as error:
        status = rpc_status.from_call(error)
        info = error_details_pb2.ErrorInfo()
        for detail in status.details if status else ():
            if detail.Is(info.DESCRIPTOR):
                detail.Unpack(info)
        return error.code().name, info.reason, info.metadata.get("reason", ""), info.metadata.get("field", "")
    return "OK", "", "", ""


def main(address, descriptors):
    kinds = messages(descriptors)
    channel = grpc.insecure_channel(address)

    def method(name, reply, kind=channel.unary_unary):
        reader = kinds[reply].FromString
        call = kind(SERVICE + name, request_serializer=lambda sent: sent, response_deserializer=reader)
        if kind in (channel.unary_unary, channel.stream_unary):
            return lambda sent, **options: call.with_call(sent, timeout=TIMEOUT_S, **options)
        return lambda sent, **options: call(sent, timeout=TIMEOUT_S, **options)

    preview, confirm = method("Preview", "Preview"), method("Confirm", "Receipt")
    settle = method("Settle", "Step", channel.unary_stream)
    ledger = method("Ledger", "Effects")

    def effects():
        return len(ledger(b"", metadata=metadata())[0].lines)

    def payout(cents=1050, note="as agreed"):
        message = kinds["Payout"](cents=cents, currency="EUR", payee_id="p-17", note=note)
        return message.SerializeToString()

    # Inside the method, under a fingerprint.
    fingerprint = preview(payout(), metadata=metadata())[0].fingerprint
    with_fingerprint = metadata(counterfoil_fingerprint=fingerprint)
    first, call = confirm(payout(), metadata=with_fingerprint)
    expect("the first confirm", (told(call), first.amount), ("completed", "10.50 EUR"))
    again, call = confirm(payout(note="in other words"), metadata=with_fingerprint)
    expect("a retry", (told(call), again.payout_id == first.payout_id), ("already_completed", True))
    more = refused(lambda: confirm(payout(cents=1051), metadata=with_fingerprint))
    expect("another amount", more, ("FAILED_PRECONDITION", "PARAMS_CHANGED", "", ""))
    none = refused(lambda: confirm(payout(), metadata=metadata()))
    expect("no fingerprint", none[:2], ("FAILED_PRECONDITION", "FINGERPRINT_REQUIRED"))
    broken = refused(lambda: confirm(payout(), metadata=metadata(counterfoil_fingerprint=fingerprint[:-1])))
    expect("half a fingerprint", broken[:2], ("INVALID_ARGUMENT", "FINGERPRINT_MISTYPED"))
    expect("effects", effects(), 1)

    # In the layer, under a key.
    account = kinds["Account"](account_id="a-1").SerializeToString()
    with_key = metadata(idempotency_key=KEY)
    replies = []
    for word in ("completed", "already_completed"):
        call = settle(account, metadata=with_key)
        replies.append([step.text for step in call])
        expect("a settlement", told(call), word)
        expect("its end", (call.code().name, call.details()), ("OK", ""))
    expect("steps, and again", (len(replies[0]), replies[0] == replies[1]), (3, True))
    other = kinds["Account"](account_id="a-2").SerializeToString()
    reused = refused(lambda: settle(other, metadata=with_key))
    expect("another account", reused[:2], ("INVALID_ARGUMENT", "KEY_REUSED"))

    # What the layer refuses before anything runs.
    fresh = metadata(idempotency_key=OTHER_KEY)
    # A field that the method doesn't know: number 15, a text.
    unknown = refused(lambda: settle(account + b"\x7a\x03cap", metadata=fresh))
    expect("an unknown field", unknown, ("INVALID_ARGUMENT", "PARAMS_INVALID", "unknown_member", ""))
    many = method("Settle", "Step", channel.stream_stream)
    twice = refused(lambda: many(iter([account, account]), metadata=fresh))
    expect("two messages", twice, ("INVALID_ARGUMENT", "PARAMS_INVALID", "given_twice", "grpc-frame"))
    none = refused(lambda: many(iter([]), metadata=fresh))
    expect("no message", none, ("INVALID_ARGUMENT", "PARAMS_INVALID", "missing_member", "grpc-frame"))
    # Long, so that the client does compress it.
    long = kinds["Account"](account_id="a" * 4096).SerializeToString()
    gzip = refused(lambda: settle(long, metadata=fresh, compression=grpc.Compression.Gzip))
    expect("a compressed message", gzip, ("UNIMPLEMENTED", "PARAMS_INVALID", "unsupported_media", "grpc-encoding"))
    expect("effects", effects(), 2)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
