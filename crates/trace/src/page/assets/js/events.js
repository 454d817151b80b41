// What each event of a run changes in its model.

/** Ends a step. A step that is replayed after a crash keeps the times of its first visit. */
function finish(run, step, event) {
  step.action = String(event.action);
  step.status = 'done';
  if (!step.isDone) step.end = run.now;
  step.isDone = true;
}

/** Returns the item of a step that an event is about. */
function itemOf(step, name) {
  const index = /\[(\d+)\]$/.exec(name)?.[1];
  return index && (step.items[index] ??= { index: Number(index) });
}

/** Returns the name of a call without its number among those with this name. */
function labelOf(call) {
  return unescapeName(call).replace(/\.\d+$/, '');
}

/** Returns what somebody answered to a call inside a step, such as one that needs approval. */
function decisionOf(answer) {
  const approved = answer?.approved ?? answer;
  if (typeof approved !== 'boolean') return textOf(answer);
  const reason = answer.reason ? `, ${answer.reason}` : '';
  return `${approved ? 'approved' : 'refused'}${reason}`;
}

const RUN_EVENTS = {
  __proto__: null,
  run_started(run) {
    run.status = { kind: 'open', label: 'Not finished' };
  },

  step_entered(run, event, step) {
    if (!step) return;
    step.entries += 1;
    if (step.entries === 1) {
      step.at = run.now;
      step.end = run.now;
    }
  },

  phase_finished(run, event, step) {
    if (!step || step.isDone) return;
    // Nothing else tells that it is over, or that the run goes on.
    if (run.hasOnlyOutcomes && event.step === step.name) {
      step.status = 'done';
      run.status = { kind: 'open', label: 'Not finished' };
    }
    step.phases[event.phase] = (step.phases[event.phase] ?? 0) + event.took;
    step.end = run.now;
  },

  /** The outcome of a node or of an item of a batch, or the answer to a wait. */
  outcome(run, event, step) {
    if (!step || event.outcome === undefined) return;
    const outcome = textOf(event.outcome);
    const item = itemOf(step, event.step);
    const { call } = parseStepName(event.step, run.branchPlaces);
    if (item) item.outcome = outcome;
    else if (call) step.notes.push(`${labelOf(call)}: ${decisionOf(event.outcome)}`);
    else step.output ??= outcome;
  },

  /** The text of an item of a batch. */
  item(run, event, step) {
    const item = step && itemOf(step, event.step);
    if (item) item.text = event.text;
  },

  retrying(run, event, step) {
    step?.attempts.push({
      attempts: event.attempts,
      delay: event.delay,
      error: event.error,
      at: run.now,
    });
    run.addProblem('retry', step, event.error);
  },

  noted(run, event, step) {
    step?.notes.push(String(event.text));
  },

  reported(run, event, step) {
    const report = event.report;
    if (!isObject(report)) {
      step?.reports.push(report);
      return;
    }

    for (const [name, value] of Object.entries(report)) {
      if (value === null) delete report[name];
    }
    const handler = REPORTS[event.source]?.[report.type];
    if (handler) handler(run, report, step, event);
    else if (report.type !== 'thinking') step?.reports.push(report);
  },

  moved(run, event, step) {
    if (!step) return;
    step.to = String(event.to);
    finish(run, step, event);
  },

  ended(run, event, step) {
    if (step) {
      step.ends = true;
      finish(run, step, event);
    }
    if (!step?.isNested) {
      const label = event.action === 'default' ? 'Ended' : `Ended on ${event.action}`;
      run.status = { kind: 'done', label };
    }
    // Events that were made of the outcomes of a run have its answer here.
    if (event.answer !== undefined) run.finalAnswer = event.answer;
  },

  /** What the whole flow answered, whatever its parts did. */
  answered(run, event) {
    run.finalAnswer = event.text;
  },

  replayed(run, event, step) {
    if (!step) return;
    step.isReplayed = true;
    // One that was seen before keeps its times, so its bar isn't that of a replay.
    if (!step.isDone) step.isFromJournal = true;
  },

  paused(run, event, step) {
    const at = step ?? (event.waits_at ? run.step(event.waits_at) : undefined);
    const until = event.until ? `, until ${date(event.until)}` : '';
    const why = event.why ? `: ${event.why}` : '';
    const wait = `waits for ${event.event}${until}${why}`;
    const isAgain = at?.wait === wait;
    if (at) Object.assign(at, { status: 'waiting', wait, question: event.why, event: event.event });
    run.status = { kind: 'waiting', label: `Waits for ${event.event}`, step: at };
    if (!isAgain) run.addProblem('wait', at, wait);
    for (const other of event.also ?? []) RUN_EVENTS.paused(run, other);
  },

  failed(run, event, step) {
    if (step) {
      step.status = 'failed';
      step.error = String(event.error);
      step.end = run.now;
    }
    run.status = { kind: 'failed', label: 'Failed', error: String(event.error), step };
    run.addProblem('error', step, event.error);
    // The run waits again once it is resumed.
    for (const other of run.steps) if (other.status === 'waiting') other.status = 'open';
  },

  lost(run, event) {
    run.addProblem(
      'lost',
      undefined,
      `${plural(event.count, 'event was', 'events were')} lost, because the reader was too slow`,
    );
  },

  full(run, event) {
    run.addProblem(
      'left_out',
      undefined,
      `the limit of ${count(event.limit)} bytes was reached; what followed was not recorded`,
    );
  },

  /** The run was resumed. The first event of this type is the header. */
  opened(run, event) {
    const before = run.sessionStart + (run.now - run.base);
    const pause = Math.max(0, Number(event.started) - before);
    run.base = run.now;
    run.sessionStart = Number(event.started);
    run.status = { kind: 'open', label: 'Not finished' };
    run.resumes.push({ at: run.now, pause, started: event.started });
    run.addProblem(
      'resumed',
      undefined,
      `resumed ${date(event.started)}, ${duration(pause)} after the last event`,
    );
  },

};
