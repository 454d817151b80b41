"""Checks the spans of the example send_traces in Phoenix: a single tree with the expected kinds."""

import json
import sys
import time
import urllib.request

EXPECTED = {
    "invoke_workflow trip": "CHAIN",
    "plan think": "CHAIN",
    "chat rules": "LLM",
    "execute_tool calculate": "TOOL",
    "report": "CHAIN",
}

# The parent of each kind of span.
PARENTS = {
    "invoke_workflow trip": None,
    "plan think": "invoke_workflow trip",
    "chat rules": "plan think",
    "execute_tool calculate": "plan think",
    "report": "invoke_workflow trip",
}


def read_spans(url):
    """Returns the spans once the root is there, since Phoenix stores them in batches."""
    for _ in range(60):
        with urllib.request.urlopen(f"{url}/v1/projects/default/spans?limit=1000") as reply:
            spans = json.load(reply)["data"]
        if any(span["parent_id"] is None for span in spans):
            return spans
        time.sleep(0.5)
    sys.exit("Phoenix has no root span")


def check(condition, message):
    if not condition:
        sys.exit(f"check-traces: {message}")


def main(url):
    spans = read_spans(url)
    by_id = {span["context"]["span_id"]: span for span in spans}
    traces = {span["context"]["trace_id"] for span in spans}

    check(len(traces) == 1, f"expected one trace, found {len(traces)}")
    check({span["name"] for span in spans} == set(EXPECTED), f"found {sorted({span['name'] for span in spans})}")

    for span in spans:
        name = span["name"]
        parent = by_id.get(span["parent_id"])
        parent_name = parent and parent["name"]
        check(span["span_kind"] == EXPECTED[name], f"{name} is a {span['span_kind']}")
        check(parent_name == PARENTS[name], f"{name} is inside {parent_name}")
        check(span["status_code"] != "ERROR", f"{name} failed: {span['status_message']}")

    root = next(span for span in spans if span["parent_id"] is None)
    check(root["attributes"].get("session.id") == "trip 1", f"the root has {root['attributes']}")

    chat = next(span for span in spans if span["span_kind"] == "LLM")
    check("llm.input_messages.0.message.content" in chat["attributes"] or "llm.input_messages" in chat["attributes"],
          f"the chat has {sorted(chat['attributes'])}")

    print(f"Phoenix shows one trace of {len(spans)} spans")


main(sys.argv[1])
