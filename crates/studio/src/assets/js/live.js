// Follows the events of a run.

/** Calls `on.line` with each event of the run, and the other functions with events about it. */
class LiveRun {
  constructor(runId, on) {
    this.source = new EventSource(`/api/run/events?${new URLSearchParams({ id: runId })}`);
    this.source.onmessage = (event) => on.line(JSON.parse(event.data));
    this.source.onerror = () => {
      const isClosed = this.source.readyState === EventSource.CLOSED;
      if (isClosed) on.refused({ error: 'the events of the run are not available' });
    };

    for (const name of ['current', 'piece', 'refused']) {
      this.source.addEventListener(name, (event) => {
        if (name === 'refused') this.close();
        on[name]?.(JSON.parse(event.data));
      });
    }
  }

  close() {
    this.source.close();
  }
}

/** Reads the events of a run that are recorded so far. */
function readRun(runId) {
  return new Promise((resolve, reject) => {
    let run;
    const live = new LiveRun(runId, {
      line(line) {
        if (run) run.apply(line);
        else run = new Run(line);
      },
      current() {
        live.close();
        if (run) resolve(run);
        else reject(new Error(`nothing of the run ${runId} is recorded yet`));
      },
      refused: ({ error }) => reject(new Error(error)),
    });
  });
}
