// The summary of a run: how it ended, and what it took.

const REASONS = {
  __proto__: null,
  answered: 'Answered',
  limit: 'A limit was reached',
  cancelled: 'Cancelled',
  failed: 'Failed',
};

function statusTag(run) {
  const { icon, className } = STATUSES[run.status.kind];
  const reason = run.reason ?? (run.lastThought ? 'answered' : undefined);
  const isNice = run.status.kind === 'done' && REASONS[reason];
  const label = isNice ? REASONS[reason] : run.status.label;
  return el(
    'span',
    { class: `tag status ${className}`, id: 'status' },
    `${icon} `,
    el('bdi', {}, oneLine(label, 60)),
  );
}

/** Returns the answer of a run. Without one of the whole flow, it is that of its last step. */
function answerOf(run) {
  if (run.finalAnswer !== undefined) return run.finalAnswer;
  const last = run.steps.at(-1);
  if (last?.output !== undefined) return last.output;
  if (run.partAnswer && run.partAnswer.step === last) return run.partAnswer.text;
  return run.lastThought?.step === last ? run.lastThought?.text : undefined;
}

function summaryView(run) {
  const sums = run.totals();
  const answer = answerOf(run);
  return [
    run.problem !== undefined &&
      el('div', { class: 'question' }, el('h2', {}, 'Input'), summaryText(run.problem)),
    answer !== undefined &&
      el('div', { class: 'answer' }, el('h2', {}, 'Answer'), summaryText(answer)),
    run.hasOnlyOutcomes &&
      el('p', { class: 'note' }, 'No events of this run were recorded. These are the outcomes in its journal.'),
    run.status.error && notice('bad', 'Failed', run.status.error),
    run.status.kind === 'waiting' && run.status.step && waitView(run, run.status.step),
    el(
      'dl',
      { class: 'metrics' },
      metric(
        'Time',
        duration(run.now),
        run.resumes.length > 0
          ? `resumed ${plural(run.resumes.length, 'time')}`
          : undefined,
      ),
      metric('Steps', count(run.steps.length)),
      run.thoughts.length > 0 && metric('Thoughts', count(run.thoughts.length)),
      sums.calls > 0 && metric('Calls', count(sums.calls), toolNote(sums)),
      sums.tokens > 0 && metric('Tokens', tokenCount(sums, ''), tokenNote(sums)),
      sums.cost !== undefined && metric('Cost', money(sums.cost), run.header.prices),
    ),
    originNote(run.header),
  ];
}

/** Returns what a step waits for, and how to answer. */
function waitView(run, step) {
  const answer = `${step.event}=…`;
  return el(
    'div',
    { class: 'note warn wait-note' },
    el('p', {}, el('strong', {}, 'Waits for '), el('bdi', {}, step.event), '.'),
    step.question && question(step.question),
    el('p', { class: 'muted' }, 'To answer: the form in the studio, or ', el('code', {}, el('bdi', {}, `--resume ${run.id} --answer ${answer}`)), '.'),
  );
}

/** Returns a text that scrolls if it is long, and that the keyboard reaches in that case. */
function summaryText(text) {
  return prose(text, {
    tabindex: String(text).length > LONGEST_WITHOUT_SCROLLING ? '0' : undefined,
  });
}

const LONGEST_WITHOUT_SCROLLING = 300;

/** Returns the number of tokens, marked if it is an estimate. */
function tokenCount(sums, unit = ' tokens') {
  return `${sums.estimated > 0 ? '≈ ' : ''}${count(sums.tokens)}${unit}`;
}

function toolNote({ tools }) {
  return tools > 0 ? plural(tools, 'tool call') : undefined;
}

function tokenNote(sums) {
  if (sums.input + sums.output === 0) return sums.estimated > 0 ? 'estimated' : undefined;
  const cached = sums.cached > 0 ? `, ${count(sums.cached)} cached` : '';
  return `${count(sums.input)} read${cached}, ${count(sums.output)} written`;
}

function metric(name, value, note) {
  return el(
    'div',
    { class: 'metric' },
    el('dt', {}, name),
    el('dd', {}, value, note && el('small', {}, note)),
  );
}

function originNote({ forked_from: origin }) {
  if (!origin) return undefined;
  const { run_id: run, step, edited_state: hasState, edited_outcomes: outcomes } = origin;
  return el(
    'p',
    { class: 'note' },
    `Forked from run ${run} at step ${step}`,
    hasState && ', with a different state',
    outcomes && `, with a different outcome of ${outcomes.join(', ')}`,
    '.',
  );
}
