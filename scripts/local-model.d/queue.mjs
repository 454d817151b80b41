// Lets one piece of work run at a time and a bounded number wait.
import { ApiError } from "./errors.mjs";

export class Queue {
  #length = 0;
  #last = Promise.resolve();

  constructor(limit) {
    this.limit = limit;
  }

  /** Runs `work` when its turn comes, unless `signal` is aborted first, which gives up the place at once. */
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
      // Work that gave up early passes its turn on only when the turn before it has ended.
      before.then(release);
    }
  }
}
