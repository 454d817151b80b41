// What the reports of nodes change in the model of a run.

function addThought(run, step, thought) {
  const owner = step ?? run.step('unknown#1');
  const known = owner.thoughts.find((other) => other.number === thought.number && other.kind === thought.kind);
  if (known) {
    Object.assign(known, thought);
    return known;
  }

  const added = { index: run.thoughts.length, step: owner, at: run.now, changes: [], complaints: [], tools: [], ...thought };
  run.thoughts.push(added);
  owner.thoughts.push(added);
  return added;
}

/** Links a thought with the previous one of the same node. */
function linkThought(run, thought) {
  const key = `${thought.step.scope}/${thought.step.node}`;
  const previous = run.lastThoughts.get(key);
  if (previous && previous !== thought && previous.number < thought.number) {
    thought.previous = previous;
    previous.next = thought;
  }
  run.lastThoughts.set(key, thought);
}

function thoughtOf(step, number) {
  return step?.thoughts.find((thought) => thought.number === number && thought.kind === 'thought');
}

const EVALUATION = /^\s*(evaluation[^\n]*?(?:\d+\s*)?:)\s*([^\n]*)(?:\n+|$)/i;

/** Splits the judgement on the previous thought from the text of a thought. */
function splitEvaluation(text) {
  const match = EVALUATION.exec(text);
  if (!match) return { evaluation: undefined, work: text };
  return { evaluation: match[2], work: text.slice(match[0].length) };
}

const REASONING = {
  started(run, report) {
    run.problem ??= String(report.problem);
  },

  thought(run, report, step) {
    const text = String(report.text ?? '');
    const split = splitEvaluation(text);
    const thought = addThought(run, step, {
      kind: 'thought',
      number: report.thought,
      text,
      evaluation: split.evaluation,
      work: split.work,
      plan: Array.isArray(report.plan) ? report.plan : [],
      isLast: report.next_thought_needed === false,
    });
    linkThought(run, thought);
    const waiting = step?.complaints?.splice(0) ?? [];
    thought.complaints.push(...waiting);
  },

  plan_changed(run, report, step) {
    const thought = thoughtOf(step, report.thought);
    if (thought && Array.isArray(report.changes)) thought.changes = report.changes;
  },

  usage(run, report, step) {
    const thought = thoughtOf(step, report.thought);
    if (thought) thought.spent = report.spent;
  },

  asking_again(run, report, step) {
    if (step) (step.complaints ??= []).push(String(report.problem));
    run.addProblem('asked again', step, report.problem);
  },

  tool_call(run, report, step) {
    addToolCall(run, step, report);
  },

  tool_result(run, report, step) {
    addToolResult(run, step, report);
  },

  retrying(run, report, step) {
    run.addProblem('retry', step, report.error);
  },

  lost(run, report) {
    RUN_EVENTS.lost(run, report);
  },

  ended(run, report) {
    if (report.answer !== undefined) run.answer = String(report.answer);
    if (report.conclusion !== undefined) run.conclusion = String(report.conclusion);
    if (report.error !== undefined) run.error = String(report.error);
    run.reason = report.reason;
  },
};

function addToolCall(run, step, report) {
  const tool = {
    index: run.tools.length,
    name: String(report.name),
    input: textOf(report.input ?? report.arguments),
    thought: report.thought,
    step,
    at: run.now,
  };
  run.tools.push(tool);
  step?.tools.push(tool);
}

function addToolResult(run, step, report) {
  const open = step?.tools.find((tool) => tool.name === report.name && tool.output === undefined);
  const tool = open ?? { index: run.tools.length, name: String(report.name), input: '', step, at: run.now };
  if (!open) {
    run.tools.push(tool);
    step?.tools.push(tool);
  }
  tool.output = textOf(report.output);
  tool.failed = report.failed === true;
  tool.took = report.took ?? run.now - tool.at;
  if (tool.failed) run.addProblem('tool', step, `${tool.name}: ${tool.output}`);
}

function textOf(value) {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2) ?? '';
}

const CHAT = {
  message(run, report) {
    const message = { ...report };
    run.messages.set(report.id, message);
    run.newMessages.push(message);
  },

  chat(run, report, step) {
    addCall(run, step, report);
  },

  chat_failed(run, report, step) {
    const call = addCall(run, step, report);
    call.error = String(report.error);
    run.addProblem('error', step, `call ${call.number} to ${call.model}: ${call.error}`);
  },

  judged(run, report, step) {
    const call = run.callsByNumber.get(report.call);
    if (!call) return;
    call.verdict = report.verdict;
    call.problem = report.problem;
    call.repairs = Array.isArray(report.repairs) ? report.repairs : [];
    if (call.repairs.length > 0) run.addProblem('repair', step, `call ${call.number}: ${plural(call.repairs.length, 'repair')}`);
  },
};

function addCall(run, step, report) {
  const previous = run.calls.at(-1);
  const messages = Array.isArray(report.messages) ? report.messages : [];
  const call = {
    index: run.calls.length,
    number: report.call,
    name: report.name,
    model: String(report.model ?? ''),
    messages,
    settings: report.settings,
    took: report.took,
    reply: report.reply,
    thinking: report.thinking,
    toolCalls: report.tool_calls ?? [],
    finish: report.finish,
    usage: readUsage(report.usage),
    cost: report.cost,
    id: report.id,
    cut: report.cut,
    repairs: [],
    previous,
    step,
    at: Math.max(0, run.now - (report.took ?? 0)),
  };
  claimMessages(run, call.index);
  run.calls.push(call);
  run.callsByNumber.set(call.number, call);
  step?.calls.push(call);
  if (step) step.end = Math.max(step.end, run.now);
  return call;
}

/** Returns the ids of the messages of a call, in which a pair is a range with both ends. */
function messagesOf(call) {
  return call.messages.flatMap((id) => {
    if (!Array.isArray(id)) return [id];
    const [first, last] = id;
    const length = Math.max(0, Math.min(last - first + 1, MOST_IDS));
    return Array.from({ length }, (_, index) => first + index);
  });
}

const MOST_IDS = 100_000;

/** Returns the number of leading messages that the previous call of the same step or node had as well. */
function sharedWithPrevious(call, ids) {
  if (!call.previous) return 0;
  const before = messagesOf(call.previous);
  const different = ids.findIndex((id, index) => id !== before[index]);
  return different < 0 ? ids.length : different;
}

/** Notes which call sent the messages first that were recorded since the last call. */
function claimMessages(run, index) {
  for (const message of run.newMessages.splice(0)) message.call = index;
}

const SOLVING = {
  table(run, report) {
    run.addTable(report);
  },

  stage(run, report, step) {
    const stage = { index: run.stages.length, ...report, step, at: run.now };
    const known = run.stages.find((other) => other.thought === report.thought && other.step === step);
    if (!known) run.stages.push(stage);
    addThought(run, step, {
      kind: 'stage',
      number: report.thought,
      text: String(report.text ?? ''),
      work: String(report.text ?? ''),
      stage: report.stage,
      branch: report.branch,
      parents: report.parents ?? [],
      score: report.score,
      parameters: report.parameters,
      plan: [],
    });
    branchOf(run, report.branch);
  },

  branch(run, report) {
    Object.assign(branchOf(run, report.id), report);
  },

  merged(run, report) {
    const branch = branchOf(run, report.into);
    branch.merges = report.parents ?? [];
    if (report.branch !== undefined) {
      const merged = branchOf(run, report.branch);
      merged.status = 'merged';
      merged.into = report.into;
    }
  },

  pruned(run, report) {
    branchOf(run, report.branch).status = 'pruned';
  },

  ended: REASONING.ended,
};

function branchOf(run, id) {
  const key = String(id ?? 'main');
  let branch = run.branches.get(key);
  if (!branch) {
    branch = { id: key, name: key, index: run.branches.size, status: 'open' };
    run.branches.set(key, branch);
  }
  return branch;
}

const TOOL = { tool_call: addedTool, tool_result: addedResult };

function addedTool(run, report, step) {
  addToolCall(run, step, report);
}

function addedResult(run, report, step) {
  addToolResult(run, step, report);
}

const REPORTS = { reasoning: REASONING, chat: CHAT, solving: SOLVING, tool: TOOL };
const ANY_REPORT = {};
