// Parts of the details: facts, judgements, the plan, and what a step called.

function thoughtFacts(app, thought) {
  const sums = new Sums();
  sums.addStep(thought.step);
  return el(
    'p',
    { class: 'crumb' },
    'in ',
    linkTo(app, { kind: 'step', index: thought.step.index }, thought.step.name),
    ` · ${duration(thought.step.took)} · ${tokenCount(sums)} · ${plural(sums.calls, 'call')}`,
    sums.cost !== undefined && ` · cost ${money(sums.cost)}`,
    thought.parents?.length > 0 && ` · after thought ${thought.parents.join(', ')}`,
    thought.revises != null && ` · revises thought ${thought.revises}`,
    thought.merges && ` · merges ${thought.merges.join(', ')}`,
  );
}

function evaluationView(app, thought) {
  const of = thought.previous;
  return el(
    'blockquote',
    { class: 'evaluation' },
    el(
      'div',
      { class: 'evaluation-title' },
      'Judgement of ',
      of
        ? linkTo(app, { kind: 'thought', index: of.index }, `thought ${of.number}`)
        : 'the last thought',
    ),
    prose(thought.evaluation),
  );
}

function judgedLater(app, thought) {
  return el(
    'blockquote',
    { class: 'evaluation later' },
    el(
      'div',
      { class: 'evaluation-title' },
      'Judged by ',
      linkTo(
        app,
        { kind: 'thought', index: thought.next.index },
        `thought ${thought.next.number}`,
      ),
    ),
    prose(thought.next.evaluation),
  );
}

function planSection(thought) {
  const progress = planProgress(thought.plan);
  const changes = thought.changes;
  const summary =
    changes.length === 0
      ? thought.previous
        ? 'unchanged'
        : 'first plan'
      : plural(changes.length, 'change') +
        (thought.previous ? ` since thought ${thought.previous.number}` : '');
  return el(
    'section',
    { class: 'plan-section', 'aria-label': 'Plan' },
    el(
      'h3',
      {},
      'Plan',
      progressBar(progress),
      el(
        'span',
        { class: 'muted' },
        `${progress.done} of ${progress.all} done · ${summary}`,
      ),
    ),
    planView(thought.plan, changes),
  );
}

function toolSection(app, tools) {
  if (tools.length === 0) return [];
  return [
    el('h3', {}, 'Tool calls', el('span', { class: 'count' }, count(tools.length))),
    el(
      'ul',
      { class: 'plain' },
      tools
        .slice(0, 200)
        .map((tool) =>
          el(
            'li',
            { class: 'tool-row' },
            linkTo(app, { kind: 'tool', index: tool.index }, tool.name),
            ' ',
            el('code', {}, el('bdi', {}, oneLine(tool.input, 100))),
            ' → ',
            el(
              'code',
              { class: tool.failed ? 'bad-text' : '' },
              el('bdi', {}, oneLine(tool.output ?? 'no result', 100)),
            ),
          ),
        ),
    ),
  ];
}

function callSection(app, calls) {
  if (calls.length === 0) return [];
  const single = calls.length === 1;
  return [
    el(
      'h3',
      {},
      single ? 'Call to the model' : 'Calls to the model',
      !single && el('span', { class: 'count' }, count(calls.length)),
    ),
    calls.slice(0, 100).map((call) => {
      const label = [
        `Call ${call.number}`,
        ` · ${oneLine(callTitle(call), 60)}`,
        ` · ${call.model} · ${duration(call.took)} · ${plural(call.usage.input + call.usage.output, 'token')} `,
        verdictTag(call),
      ];
      const part = folded(label, () => callView(app.run, call));
      return part;
    }),
    calls.length > 100 &&
      el(
        'p',
        { class: 'muted' },
        `${count(calls.length - 100)} more are in the list of calls.`,
      ),
  ];
}
