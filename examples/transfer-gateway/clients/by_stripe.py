"""Files a ticket by the HTTP layer of Stripe's SDK, which makes an idempotency key and sends the request again by itself.

    by_stripe.py http://127.0.0.1:8080
"""

import stripe

import asked


class Gateway(stripe.RequestsClient):
    """The SDK's own transport, but for one thing: the path.

    The SDK sends forms under `/v1/` and JSON under `/v2/`, and the gateway takes JSON under `/v1/`. An API gateway in
    between could map the path as well. Keys, retries, waits and what counts as a fault stay the SDK's.
    """

    def request(self, method, url, headers, post_data=None):
        return super().request(method, url.replace("/v2/", "/v1/", 1), headers, post_data)


def main():
    args = asked.arguments("Files a ticket by Stripe's SDK.")
    # It is one header of timings, and a file with an id; nothing here reads them.
    stripe.enable_telemetry = False
    client = stripe.StripeClient(
        args.caller,
        base_addresses={"api": args.gateway},
        # A client of one's own sends nothing again unless it is told to.
        max_network_retries=args.retries,
        http_client=Gateway(timeout=args.timeout),
    )
    options = {"idempotency_key": args.key} if args.key else {}
    try:
        answer = client.raw_request("post", "/v2/tickets", **asked.TICKET, **options)
    except stripe.StripeError as error:
        asked.raised(error, error.http_status, error.json_body)
    else:
        asked.answered(answer.code, answer.headers, answer.data)


main()
