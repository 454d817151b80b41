// The model of a run. `apply` takes one line of the record at a time, so the model can be fed from
// a page or from a server. Views read it and never change it.

class Run {
  constructor(header) {
    this.header = header;
    this.id = String(header.run ?? '');
    this.flow = String(header.flow ?? '');
    this.status = { kind: 'open', label: 'Not finished' };
    this.steps = [];
    this.stepsByName = new Map();
    this.thoughts = [];
    this.calls = [];
    this.callsById = new Map();
    this.messages = new Map();
    this.newMessages = [];
    this.toolLists = new Map();
    this.tools = [];
    this.problems = [];
    this.branches = new Map();
    this.branchNames = new Map();
    this.stages = [];
    this.tables = [];
    this.resumes = [];
    this.now = 0;
    this.base = 0;
    this.sessionStart = Number(header.started) || 0;
    this.lastThoughts = new Map();
    this.branchPlaces = branchPlaces(header.graph);
    this.problem = header.input;
    this.hasOnlyOutcomes = header.left_out === 'events';
  }

  /** Applies one event of the record. Unknown types are ignored. */
  apply(event) {
    this.now = Math.max(this.now, this.base + (event.at ?? 0));

    const step = typeof event.step === 'string' ? this.step(event.step) : undefined;
    const handler = RUN_EVENTS[event.type];
    if (handler) handler(this, event, step);
  }

  /** Returns the step with this name, which is created if it is new. */
  step(name) {
    const known = this.stepsByName.get(name);
    if (known) return known;

    const parsed = parseStepName(name, this.branchPlaces);
    const same = this.stepsByName.get(parsed.step);
    const step = same ?? new Step(parsed, this.steps.length, this.now);
    if (!same) this.steps.push(step);
    this.stepsByName.set(parsed.step, step);
    this.stepsByName.set(name, step);
    return step;
  }

  addProblem(kind, step, text) {
    this.problems.push({
      index: this.problems.length,
      kind,
      step,
      text: text ?? '',
      at: this.now,
    });
  }

  addTable(table) {
    // A run that was resumed reports its table again.
    const known = this.tables.some((other) => other.strategy === table.strategy);
    if (!known) this.tables.push(table);
  }

  /** Returns the sums over all steps. */
  totals() {
    const sums = new Sums();
    for (const step of this.steps) sums.addStep(step);
    return sums;
  }

  /** Returns the last thought of a chain of thoughts, if it ended the reasoning. */
  get lastThought() {
    const last = this.thoughts.at(-1);
    return last?.isLast ? last : undefined;
  }
}

/** A visit of a node. */
class Step {
  constructor(parsed, index, at) {
    Object.assign(this, parsed);
    this.name = parsed.step;
    this.index = index;
    this.at = at;
    this.end = at;
    this.phases = { __proto__: null };
    this.attempts = [];
    this.items = [];
    this.notes = [];
    this.reports = [];
    this.calls = [];
    this.thoughts = [];
    this.thoughtsByKey = new Map();
    this.tools = [];
    this.isReplayed = false;
    this.isFromJournal = false;
    this.entries = 0;
    this.status = 'open';
    this.isDone = false;
  }

  get took() {
    return this.end - this.at;
  }
}

/** Tokens, cost and time of calls. */
class Sums {
  constructor() {
    this.calls = 0;
    this.tools = 0;
    this.input = 0;
    this.output = 0;
    this.cached = 0;
    this.reasoning = 0;
    this.cost = undefined;
    this.estimated = 0;
  }

  get tokens() {
    return this.input + this.output + this.estimated;
  }

  add(call) {
    this.calls += 1;
    this.input += call.usage.input;
    this.output += call.usage.output;
    this.cached += call.usage.cached;
    this.reasoning += call.usage.reasoning;
    if (call.cost !== undefined) this.cost = (this.cost ?? 0) + call.cost;
  }

  /** Adds the calls of a step or, if no tokens of calls are on record, what its thoughts reported. */
  addStep(step) {
    const calls = new Sums();
    for (const call of step.calls) calls.add(call);
    this.tools += step.tools.length;

    const reported = new Sums();
    for (const thought of step.thoughts) reported.addSpent(thought.spent);
    const from = calls.tokens > 0 ? calls : reported;

    for (const field of ['input', 'output', 'cached', 'reasoning', 'estimated']) {
      this[field] += from[field];
    }
    this.calls += calls.calls || reported.calls;
    if (calls.cost !== undefined) this.cost = (this.cost ?? 0) + calls.cost;
  }

  addSpent(spent) {
    if (!spent) return;
    const usage = readUsage(spent.usage);
    this.calls += spent.calls ?? 0;
    this.input += usage.input;
    this.output += usage.output;
    this.cached += usage.cached;
    this.reasoning += usage.reasoning;
    this.estimated += spent.estimated_tokens ?? 0;
  }
}

function readUsage(usage) {
  const from = usage ?? {};
  const number = (name, other) => from[name] ?? from[other] ?? 0;
  return {
    input: number('input', 'prompt_tokens'),
    output: number('output', 'completion_tokens'),
    cached: number('cache_read', 'cached_tokens'),
    cacheWritten: number('cache_write', 'cache_written_tokens'),
    reasoning: number('reasoning', 'reasoning_tokens'),
  };
}
