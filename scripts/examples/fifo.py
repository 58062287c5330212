#!/usr/bin/env python3
"""fifo.py - first come, first served as a policy outside the tree, on the standard library alone.

    colosim run --policy "exec:python3 scripts/examples/fifo.py"

One JSON object a line on stdin: a hello, then a view a pass, each answered by one plan on stdout.
Nothing else may go to stdout; stderr is the terminal's."""
import collections
import json
import sys


def main():
    hello = json.loads(sys.stdin.readline())
    assert hello["type"] == "hello" and hello["version"] == 1, hello
    queue = collections.deque()  # (job, GPUs) in order of submission
    for line in sys.stdin:
        view = json.loads(line)
        for _ in view["started"]:  # the last plan started them, from the front
            queue.popleft()
        queue.extend((job["job"], job["gpus"]) for job in view["arrived"])
        # As many as could fit, and one more; who does not fit holds up those behind it.
        tried, asked = [], 0
        for job, gpus in queue:
            tried.append(job)
            asked += gpus
            if asked > view["free_gpus"]:
                break
        print(json.dumps({"type": "plan", "try": tried, "stop_at_first": True}), flush=True)


if __name__ == "__main__":
    main()
