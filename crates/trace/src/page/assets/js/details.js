// The details of what is selected: a thought, a step, a call, a tool call, a branch or a problem.

function heading(title, ...tags) {
  return el('h2', { tabindex: '-1', class: 'detail-title' }, el('bdi', {}, title), tags);
}

function linkTo(app, selection, text) {
  return el(
    'button',
    { type: 'button', class: 'link', onclick: () => app.select(selection) },
    el('bdi', {}, text),
  );
}

/** Names the step in which something happened. */
function crumb(app, step) {
  const link = linkTo(app, { kind: 'step', index: step.index }, step.name);
  return el('p', { class: 'crumb' }, 'in ', link);
}

const DETAILS = {
  __proto__: null,
  thought(app, thought) {
    const calls = thought.step.calls;
    const title =
      thought.kind === 'stage'
        ? `Thought ${thought.number}: ${thought.stage}`
        : `Thought ${thought.number}`;
    return [
      heading(
        title,
        thought.isLast && el('span', { class: 'tag good' }, 'last'),
        thought.branch !== undefined &&
          thought.branch !== 'main' &&
          el('span', { class: 'tag' }, `branch ${thought.branch}`),
        calls.some((call) => call.repairs.length > 0) &&
          el('span', { class: 'tag changed' }, 'reply repaired'),
      ),
      thoughtFacts(app, thought),
      thought.evaluation !== undefined && evaluationView(app, thought),
      prose(thought.work, { class: 'work' }),
      thought.complaints.map((complaint) =>
        notice('warn', 'Asked again', complaint),
      ),
      thought.parameters &&
        Object.keys(thought.parameters).length > 0 &&
        facts(
          Object.entries(thought.parameters).map(([name, value]) => [
            name,
            textOf(value),
          ]),
        ),
      thought.plan.length > 0 && planSection(thought),
      toolSection(app, thought.step.tools),
      callSection(app, calls),
    ];
  },

  step(app, step) {
    return [
      heading(
        step.node,
        runTag(step.status),
        step.isReplayed && el('span', { class: 'tag' }, 'from the journal'),
      ),
      facts([
        ['Step', step.name],
        ['Began', duration(step.at)],
        ['Took', duration(step.took)],
        ...Object.entries(step.phases).map(([phase, took]) => [phase, duration(took)]),
        step.action !== undefined && ['Action', step.action],
        (step.to ?? (step.ends ? 'end' : undefined)) && [
          'Next',
          step.to ?? 'end of the flow',
        ],
      ]),
      step.status === 'waiting' && step.event && waitView(app.run, step),
      step.status !== 'waiting' && step.question && [el('h3', {}, 'Question'), question(step.question)],
      inputView(app.run, step),
      step.error &&
        notice('bad', 'Failed', step.error),
      step.attempts.map((attempt) =>
        notice('warn', `Attempt ${attempt.attempts} failed, next after ${duration(attempt.delay)}`, attempt.error),
      ),
      itemsView(step.items),
      step.output !== undefined && [
        el('h3', {}, 'Output'),
        prose(step.output, { class: 'work' }),
      ],
      step.notes.length > 0 && [
        el('h3', {}, 'Notes'),
        step.notes.slice(0, 200).map((note) => prose(note)),
      ],
      step.thoughts.length > 0 && [
        el('h3', {}, 'Thoughts'),
        el(
          'ul',
          { class: 'plain' },
          step.thoughts
            .slice(0, 200)
            .map((thought) =>
              el(
                'li',
                {},
                linkTo(
                  app,
                  { kind: 'thought', index: thought.index },
                  `${thought.number}: ${oneLine(thought.work, 100)}`,
                ),
              ),
            ),
        ),
      ],
      step.reports.length > 0 &&
        folded(plural(step.reports.length, 'report'), () =>
          el(
            'pre',
            { class: 'raw' },
            JSON.stringify(step.reports.slice(0, 200), null, 2),
          ),
        ),
      toolSection(app, step.tools),
      callSection(app, step.calls),
    ];
  },

  call(app, call) {
    return [
      heading(
        `Call ${call.number}: ${callTitle(call)}`,
        verdictTag(call),
      ),
      call.step &&
        crumb(app, call.step),
      callView(app.run, call),
    ];
  },

  tool(app, tool) {
    return [
      heading(
        tool.name,
        el(
          'span',
          { class: tool.failed ? 'tag bad' : 'tag good' },
          tool.failed
            ? '× failed'
            : tool.output === undefined
              ? 'no result'
              : '✓ returned',
        ),
      ),
      tool.step &&
        crumb(app, tool.step),
      facts([
        ['Took', duration(tool.took)],
        tool.thought !== undefined && ['Thought', String(tool.thought)],
      ]),
      el('h3', {}, 'Arguments'),
      valueView(tool.input),
      el('h3', {}, 'Result'),
      valueView(tool.output ?? 'no result'),
    ];
  },

  branch(app, branch) {
    const thoughts = app.run.stages.filter((thought) => thought.branch === branch.name);
    return [
      heading(
        branch.name,
        el(
          'span',
          { class: `tag ${BRANCH_TAGS[branch.status]?.className ?? ''}` },
          branchStatus(branch),
        ),
      ),
      facts([
        branch.score !== undefined && ['Score', String(branch.score)],
        branch.from !== undefined && ['From thought', String(branch.from)],
        branch.into !== undefined && ['Merged by thought', String(branch.into)],
        branch.merges && ['Merges', branch.merges.join(', ')],
        ['Thoughts', count(thoughts.length)],
      ]),
      el(
        'ol',
        { class: 'walk', role: 'list' },
        thoughts
          .slice(0, 500)
          .map((thought) =>
            el(
              'li',
              {},
              el('span', { class: 'walk-stage' }, `${thought.number} ${thought.stage}`),
              linkTo(
                app,
                { kind: 'thought', index: thought.index },
                oneLine(thought.work, 200),
              ),
            ),
          ),
      ),
    ];
  },

  problem(app, problem) {
    return [
      heading(PROBLEMS[problem.kind]?.text ?? problem.kind),
      problem.step &&
        el(
          'p',
          { class: 'crumb' },
          'in ',
          linkTo(app, { kind: 'step', index: problem.step.index }, problem.step.name),
          `, ${duration(problem.at)} after the start`,
        ),
      prose(problem.text, { class: 'raw' }),
      callSection(app, problem.step?.calls ?? []),
    ];
  },
};
