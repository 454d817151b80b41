// Runs one task at a time, while a limited number of others wait.
import { ApiError } from "./errors.mjs";

export class Queue {
  #length = 0;
  #last = Promise.resolve();

  constructor(limit) {
    this.limit = limit;
  }

  /** Runs `work` in turn. If `signal` is aborted first, its place in the queue is freed immediately. */
  async run(signal, work) {
    if (this.#length >= this.limit) {
      throw new ApiError(503, "unavailable_error", `The server is busy: ${this.limit} requests are running or waiting.`);
    }
    signal.throwIfAborted();
    const before = this.#last;
    let release;
    this.#last = new Promise((resolve) => (release = resolve));
    const aborted = new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
    this.#length += 1;
    try {
      await Promise.race([before, aborted]);
      return await work();
    } finally {
      this.#length -= 1;
      // A task that was aborted while waiting passes its turn on only when the previous task has ended.
      before.then(release);
    }
  }
}
