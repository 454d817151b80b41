// What the reports of calls to models change in the model of a run.

const CHAT = {
  __proto__: null,
  message(run, report) {
    const message = { ...report, role: report.role ?? '' };
    run.messages.set(message.id, message);
    run.newMessages.push(message);
  },

  tools(run, report) {
    run.toolLists.set(report.id, report.tools ?? []);
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
    const call = run.callsById.get(report.call);
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

function addCall(run, step, report) {
  const previous = run.calls.at(-1);
  const took = report.took;
  const call = {
    index: run.calls.length,
    number: run.calls.length + 1,
    name: report.name,
    model: report.model ?? '',
    messages: report.messages ?? [],
    settings: report.settings ?? {},
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
  run.callsById.set(report.call, call);
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
