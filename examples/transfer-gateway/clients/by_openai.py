"""Files a ticket by the HTTP layer of OpenAI's SDK, which sends the request again by itself.

    by_openai.py http://127.0.0.1:8080
"""

import httpx2
import openai

import asked

KEY = "Idempotency-Key"


def main():
    args = asked.arguments(
        "Files a ticket by OpenAI's SDK.",
        as_it_comes="without a key: the SDK makes one, and has no header to send it in",
    )
    client = openai.OpenAI(
        api_key=args.caller,
        base_url=args.gateway + "/v1",
        max_retries=args.retries,
        timeout=args.timeout,
    )
    headers = {}
    if args.key:
        headers[KEY] = args.key
    elif not args.as_it_comes:
        # SDKs of the same maker whose service takes keys set this in their constructor. OpenAI's does not.
        client._idempotency_header = KEY
    try:
        answer = client.post("/tickets", cast_to=httpx2.Response, body=asked.TICKET, options={"headers": headers})
    except openai.APIStatusError as error:
        asked.raised(error, error.status_code, error.body)
    except openai.APIConnectionError as error:
        asked.raised(error, None, None)
    else:
        asked.answered(answer.status_code, answer.headers, answer.json())


main()
