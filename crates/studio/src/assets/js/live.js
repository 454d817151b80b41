// Follows the events of a run.

const NAMED = ['damaged', 'limit', 'replaced', 'refused', 'current', 'piece'];

/** Calls `on.line` with each line of the record, and the other functions with events about it. */
class LiveRun {
  constructor(runId, on) {
    this.runId = runId;
    this.on = on;
    this.open();
  }

  open(from) {
    this.close();
    const query = from === undefined ? { id: this.runId } : { id: this.runId, from };
    this.source = new EventSource(`/api/run/events?${new URLSearchParams(query)}`);
    this.source.onmessage = (event) => {
      this.last = event.lastEventId || this.last;
      this.on.line(JSON.parse(event.data));
    };

    for (const name of NAMED) {
      this.source.addEventListener(name, (event) => {
        this.last = event.lastEventId || this.last;
        this.handle(name, JSON.parse(event.data));
      });
    }
    this.source.onerror = () => {
      if (this.source.readyState === EventSource.CLOSED) this.on.refused?.({ error: 'the events of the run are not available' });
    };
  }

  handle(name, data) {
    if (name === 'limit' || name === 'refused' || name === 'replaced') this.close();
    this.on[name]?.(data);
  }

  /** Continues after a limit. */
  continue() {
    this.open(this.last);
  }

  close() {
    this.source?.close();
  }
}

/** Reads the events of a run that are recorded so far. */
function readRun(runId) {
  return new Promise((resolve, reject) => {
    let run;
    const live = new LiveRun(runId, {
      line(line) {
        if (line.type === 'opened' && !run) run = new Run(line);
        else run?.apply(line);
      },
      current: () => end(),
      limit: () => end('Only the beginning of this run is compared, because it is long.'),
      replaced: () => end(),
      refused: ({ error }) => reject(new Error(error)),
    });

    function end(note) {
      live.close();
      if (run) resolve({ run, note });
      else reject(new Error(`nothing of the run ${runId} is recorded yet`));
    }
  });
}
