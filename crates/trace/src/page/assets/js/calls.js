// A call to a model: what was sent, what came back, and what was made of it.

const VERDICTS = {
  __proto__: null,
  usable: { className: 'good', text: '✓ usable' },
  continue: { className: 'good', text: '→ continued' },
  unusable: { className: 'bad', text: '× not usable' },
};

function verdictTag(call) {
  if (call.error) return el('span', { class: 'tag bad' }, '× failed');
  const verdict = VERDICTS[call.verdict];
  return verdict && el('span', { class: `tag ${verdict.className}` }, verdict.text);
}

function callFacts(call) {
  return facts([
    call.model && ['Model', call.model],
    ['Took', duration(call.took)],
    call.usage.input > 0 && ['Read', plural(call.usage.input, 'token')],
    call.usage.output > 0 && ['Written', plural(call.usage.output, 'token')],
    call.usage.cached > 0 && ['From cache', plural(call.usage.cached, 'token')],
    call.usage.cacheWritten > 0 && ['Into cache', plural(call.usage.cacheWritten, 'token')],
    call.usage.reasoning > 0 && ['Reasoning', plural(call.usage.reasoning, 'token')],
    call.cost !== undefined && ['Cost', money(call.cost)],
    call.finish && ['Finished', call.finish],
    call.adjustments.length > 0 && ['Adjusted', call.adjustments.join('; ')],
    ...Object.entries(call.settings)
      .filter(([name]) => name !== 'tools')
      .map(([name, value]) => [name.replaceAll('_', ' '), settingText(value)]),
    call.id && ['Response', call.id],
  ]);
}

function settingText(value) {
  return oneLine(typeof value === 'string' ? value : JSON.stringify(value), 80);
}

/** Returns a list of names and values. */
function facts(entries) {
  return el(
    'dl',
    { class: 'facts' },
    entries
      .filter(Boolean)
      .map(([name, value]) =>
        el('div', {}, el('dt', {}, name), el('dd', {}, el('bdi', {}, value))),
      ),
  );
}

function callView(run, call) {
  return [
    callFacts(call),
    call.error &&
      notice('bad', 'Failed', call.error),
    call.problem &&
      notice('warn', 'Judgement', call.problem),
    call.reply !== undefined && replyView(call),
    call.toolCalls.length > 0 && [
      el('h4', {}, 'Requested tools'),
      call.toolCalls.map(requestedTool),
    ],
    call.thinking &&
      folded('Reasoning of the model', () => prose(call.thinking, { class: 'raw' })),
    offeredTools(run, call),
    messagesView(run, call),
  ];
}

/** Returns the tools that the model was offered, which several calls have in common. */
function offeredTools(run, call) {
  const id = call.settings.tools;
  if (id === undefined) return undefined;

  const tools = run.toolLists.get(id);
  if (!tools) return el('p', { class: 'muted' }, 'The offered tools are not in the record.');
  return folded(plural(tools.length, 'offered tool'), () => tools.map(offeredTool));
}

function offeredTool(tool) {
  return [
    el('p', {}, el('strong', {}, el('bdi', {}, tool.name ?? ''))),
    prose(tool.description ?? ''),
    el('pre', { class: 'raw', dir: 'auto' }, tool.input_schema ?? ''),
  ];
}

function requestedTool(tool) {
  return el('pre', { class: 'raw' }, `${tool.name ?? ''} `, textOf(tool.arguments));
}

function messagesView(run, call) {
  const ids = messagesOf(call);
  if (ids.length === 0) return [];
  const shared = sharedWithPrevious(call, ids);
  return [
    el('h4', {}, 'Messages', el('span', { class: 'count' }, count(ids.length))),
    shared > 0 &&
      folded(
        `${plural(shared, 'message')}, the same as in call ${call.previous.number}`,
        () => messageList(run, ids.slice(0, shared)),
      ),
    messageList(run, ids.slice(shared)),
  ];
}

function messageList(run, ids) {
  const rows = ids.map((id) => messageRow(run, id));
  return el('ol', { class: 'messages', role: 'list' }, rows);
}

const ROLES = ['system', 'user', 'assistant', 'tool'];

function messageRow(run, id) {
  const message = run.messages.get(id);
  if (!message) {
    return el('li', { class: 'message' }, `Message ${id} is not in the record.`);
  }

  const text = el('div', { class: 'message-text', dir: 'auto' });
  appendLong(text, textOf(message.content), (part) => visible(part));
  append(text, [
    (message.blocks ?? []).map(blockNote),
    (message.tool_calls ?? []).map(requestedTool),
  ]);
  const role = ROLES.includes(message.role) ? message.role : '';
  const from = message.tool_name
    ? `${message.role} ${message.tool_name}`
    : message.role;
  return el(
    'li',
    { class: `message ${role}` },
    el('span', { class: 'role' }, el('bdi', {}, from)),
    text,
  );
}

/** Describes an image or a file of a message, which is not in the record itself. */
function blockNote(block) {
  const parts = [block.kind, block.name, block.media_type];
  parts.push(`${count(block.bytes)} bytes`);
  return el('p', { class: 'note' }, el('bdi', {}, parts.filter(Boolean).join(', ')));
}

/** Returns a part that is built when it is opened. */
function folded(label, build) {
  const body = el('div', { class: 'folded-body' });
  const part = el('details', { class: 'folded' }, el('summary', {}, label), body);
  part.addEventListener('toggle', () => {
    if (part.open && body.childElementCount === 0) append(body, [build()]);
  });
  return part;
}

/** Returns the title of a call: its node, and what it is for. */
function callTitle(call) {
  return [call.step?.node, call.name].filter(Boolean).join(' · ') || call.model || 'model';
}

/** Returns the model of a call, its time, tokens and cost, as far as they are known. */
function callMeta(call) {
  const tokens = call.usage.input + call.usage.output;
  return [
    call.model && oneLine(call.model, 30),
    duration(call.took),
    tokens > 0 && plural(tokens, 'token'),
    call.cost !== undefined && money(call.cost),
  ]
    .filter(Boolean)
    .join(' · ');
}
