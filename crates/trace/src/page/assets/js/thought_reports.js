// What the reports of chains of thoughts change in the model of a run.

function addThought(run, step, thought) {
  const owner = step ?? run.step('unknown#1');
  const key = thoughtKey(thought.kind, thought.number);
  const known = owner.thoughtsByKey.get(key);
  if (known) {
    Object.assign(known, thought);
    return known;
  }

  const added = {
    index: run.thoughts.length,
    step: owner,
    at: run.now,
    changes: [],
    complaints: [],
    tools: [],
    ...thought,
  };
  run.thoughts.push(added);
  owner.thoughts.push(added);
  owner.thoughtsByKey.set(key, added);
  return added;
}

/** Links a thought with the previous one of the same node. */
function linkThought(run, thought) {
  const key = `${thought.step.scope}/${thought.step.node}`;
  const previous = run.lastThoughts.get(key);
  if (previous && previous.number < thought.number) thought.previous = previous;
  run.lastThoughts.set(key, thought);
}

function thoughtKey(kind, number) {
  return `${kind} ${number}`;
}

const EVALUATION = /^\s*(evaluation[^\n:]*:)\s*([^\n]*)(?:\n+|$)/i;

/** Splits the judgement on the previous thought from the text of a thought. */
function splitEvaluation(text) {
  const match = EVALUATION.exec(text);
  if (!match) return { evaluation: undefined, work: text };
  return { evaluation: match[2], work: text.slice(match[0].length) };
}

const REASONING = {
  __proto__: null,
  started(run, report) {
    run.problem ??= report.problem;
  },

  thought(run, report, step) {
    const text = report.text ?? '';
    const split = splitEvaluation(text);
    const thought = addThought(run, step, {
      kind: 'thought',
      number: report.thought ?? 0,
      text,
      evaluation: split.evaluation,
      work: split.work,
      plan: report.plan ?? [],
      changes: report.changes ?? [],
      spent: report.spent ?? {},
      isLast: report.next_thought_needed === false,
    });
    linkThought(run, thought);
    const waiting = step?.complaints?.splice(0) ?? [];
    thought.complaints.push(...waiting);
  },

  asking_again(run, report, step) {
    if (step) (step.complaints ??= []).push(report.problem ?? '');
    run.addProblem('asked again', step, report.problem);
  },

  tool_call: addToolCall,
  tool_result: addToolResult,

  ended(run, report, step) {
    const answer = report.answer;
    if (answer !== undefined) run.partAnswer = { text: answer, step };
    run.reason = report.reason;
  },
};
