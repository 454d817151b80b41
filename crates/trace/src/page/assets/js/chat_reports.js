// What the reports of calls to models change in the model of a run.

const CHAT = {
  __proto__: null,
  message(run, report) {
    const id = uniqueId(run, report.id);
    const message = { ...report, id, role: report.role ?? '' };
    run.messages.set(id, message);
    run.newMessages.push(message);
  },

  tools(run, report) {
    run.toolLists.set(uniqueId(run, report.id), report.tools ?? []);
  },

  chat(run, report, step) {
    addCall(run, step, report);
  },

  chat_failed(run, report, step) {
    const call = addCall(run, step, report);
    call.error = report.error ?? '';
    run.addProblem('error', step, `call ${call.number}: ${call.error}`);
  },

  judged(run, report, step) {
    const call = run.callsById.get(uniqueId(run, report.call));
    if (!call) return;
    call.verdict = report.verdict;
    call.problem = report.problem;
    call.repairs = report.repairs ?? [];
    if (call.repairs.length > 0)
      run.addProblem(
        'repair',
        step,
        `call ${call.number}: ${plural(call.repairs.length, 'repair')}`,
      );
  },
};

/** Returns an id that is unique in the whole run, also if the run was resumed. */
function uniqueId(run, id) {
  const unique = run.offset + id;
  run.nextId = Math.max(run.nextId, unique + 1 || 0);
  return unique;
}

function addCall(run, step, report) {
  const previous = run.calls.at(-1);
  const took = report.took;
  const settings = report.settings ?? {};
  if (settings.tools !== undefined) settings.tools = uniqueId(run, settings.tools);
  const call = {
    index: run.calls.length,
    number: run.calls.length + 1,
    name: report.name,
    model: report.model ?? '',
    messages: (report.messages ?? []).map((id) =>
      Array.isArray(id) ? id.map((end) => uniqueId(run, end)) : uniqueId(run, id),
    ),
    settings,
    took,
    reply: report.reply,
    thinking: report.thinking,
    toolCalls: report.tool_calls ?? [],
    finish: report.finish,
    adjustments: (report.adjustments ?? []).map(textOf),
    usage: readUsage(report.usage),
    cost: report.cost,
    id: report.id,
    repairs: [],
    previous,
    step,
    at: Math.max(0, run.now - (took ?? 0)),
  };
  claimMessages(run, call.index);
  run.calls.push(call);
  run.callsById.set(uniqueId(run, report.call), call);
  step?.calls.push(call);
  if (step) step.end = Math.max(step.end, run.now);
  return call;
}

/** Returns the ids of the messages of a call, in which a pair is a range with both ends. */
function messagesOf(call) {
  return call.messages.flatMap((id) => {
    const [first, last] = Array.isArray(id) ? id : [id, id];
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}

/** Returns the number of leading messages that the previous call had as well. */
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
