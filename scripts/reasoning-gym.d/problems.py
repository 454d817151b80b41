"""Writes problems of reasoning-gym as JSON lines. Started by scripts/reasoning-gym."""

import json
import sys

import reasoning_gym
from reasoning_gym.factory import DATASETS


def check(kind, entry):
    """Returns the check of Cogwork for problems with many right answers, and for lists."""
    metadata = entry["metadata"]
    if kind in ("countdown", "puzzle24"):
        numbers, target = metadata["numbers"], metadata.get("target", 24)
        return {"calculation": {"numbers": numbers, "target": target, "all": kind == "puzzle24"}}
    return None


def problem(kind, seed, index, entry):
    written = {"id": f"{kind}-{seed}-{index + 1}", "question": entry["question"], "tags": [kind]}
    exact = check(kind, entry)
    written.update({"check": exact} if exact else {"answer": entry["answer"]})
    return written


def candidates(kind, dataset, index, entry):
    """Returns answers with their scores: the right one, those of other problems, and none."""
    others = [dataset[(index + step) % len(dataset)]["answer"] for step in (1, 2, 3)]
    if kind == "puzzle24":
        others = []  # its scorer accepts calculations of 24 with any numbers
    answers = {entry["answer"], *others, "I don't know.", ""}
    return [{"answer": answer, "score": dataset.score_answer(answer, entry)} for answer in sorted(answers)]


def main(arguments):
    if arguments == ["--list"]:
        print("\n".join(sorted(DATASETS)))
        return

    scored = arguments[:1] == ["--scored"]
    kind, count, seed, *_ = [*arguments[scored:], "20", "1"][:3]
    if kind not in DATASETS:
        sys.exit(f"reasoning-gym: unknown kind '{kind}'; scripts/reasoning-gym --list lists those that exist")

    dataset = reasoning_gym.create_dataset(kind, size=int(count), seed=int(seed))
    for index, entry in enumerate(dataset):
        line = problem(kind, seed, index, entry)
        if scored:
            line = {"problem": line, "candidates": candidates(kind, dataset, index, entry)}
        print(json.dumps(line, ensure_ascii=False))


main(sys.argv[1:])
