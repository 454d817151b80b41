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

/** Returns what an agent was told in its first call: its role and its prompt. */
function inputView(run, step) {
  const call = step.calls[0];
  if (!call || step.thoughts.length > 0) return undefined;
  const messages = messagesOf(call).map((id) => run.messages.get(id));
  const text = (role) => {
    const found = messages.findLast((message) => message?.role === role);
    return found && textOf(found.content);
  };
  return [
    ['Role', text('system')],
    ['Prompt', text('user')],
  ]
    .filter(([, content]) => content)
    .map(([title, content]) => [el('h3', {}, title), prose(content, { class: 'said' })]);
}

/** Returns the items of a batch, each with its outcome, as far as they are known. */
function itemsView(items) {
  if (items.length === 0) return undefined;
  return [
    el('h3', {}, 'Items', el('span', { class: 'count' }, count(items.length))),
    el(
      'ol',
      { class: 'walk', role: 'list' },
      items.slice(0, MOST_ITEMS).map(({ index, text, outcome }) =>
        el(
          'li',
          {},
          el('span', { class: 'walk-stage' }, `${index} `, el('bdi', {}, oneLine(text, 200))),
          outcome !== undefined && prose(outcome),
        ),
      ),
    ),
  ];
}

const MOST_ITEMS = 500;

/** Returns the names and values of a JSON object, or `undefined` for other texts. */
function fieldsOf(text) {
  try {
    const value = JSON.parse(text);
    if (isObject(value)) return Object.entries(value).map(([name, field]) => [name, textOf(field)]);
  } catch {
    // It isn't JSON.
  }
  return undefined;
}

/** Returns a value of a tool in words: the fields of an object, or a text. */
function valueView(text) {
  const fields = fieldsOf(text);
  return fields ? facts(fields) : prose(text, { class: 'raw' });
}

/** Returns the arguments of a tool in one line. */
function argumentsLine(text) {
  const fields = fieldsOf(text)?.map(([name, value]) => `${name}: ${value}`);
  return fields?.join(', ') ?? text;
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
            ' with ',
            el('code', {}, el('bdi', {}, oneLine(argumentsLine(tool.input), 100) || 'no arguments')),
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
        ` · ${oneLine(callTitle(call), 60)} · ${callMeta(call)} `,
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
