// The messages that both servers get, in this order.

let id = 0;

function request(method, params) {
  id += 1;
  return { jsonrpc: '2.0', id, method, ...(params && { params }) };
}

export const cases = [];

function add(name, message) {
  cases.push({ name, message });
}

function call(name, args) {
  const params = { name: 'sequentialthinking', ...(args !== undefined && { arguments: args }) };
  add(name, request('tools/call', params));
}

/** A call with other arguments than the usual ones. Those that are undefined are left out. */
function thought(others, name = JSON.stringify(others)) {
  call(name, { thought: 'a', nextThoughtNeeded: true, thoughtNumber: 1, totalThoughts: 3, ...others });
}

add('initialize', request('initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'differential', version: '1' },
}));
add('initialized', { jsonrpc: '2.0', method: 'notifications/initialized' });
add('ping', request('ping'));
add('tools/list', request('tools/list'));

thought({});
thought({ thoughtNumber: 5 });
thought({ thoughtNumber: 3, nextThoughtNeeded: false, needsMoreThoughts: true });
thought({ isRevision: true, revisesThought: 1 });
thought({ isRevision: true });
thought({ revisesThought: 99 });
thought({ branchFromThought: 99, branchId: 'a' });
thought({ branchFromThought: 1, branchId: 'b' });
thought({ branchFromThought: 1, branchId: 'a' });
thought({ branchFromThought: 1 });
thought({ branchId: 'c' });
thought({ branchFromThought: 1, branchId: '' });
thought({ thought: '' });
thought({ thought: 'a'.repeat(10_000) }, 'a long thought');
thought({ thought: '\u001b[2J\u202e\n"\\\u0000' }, 'control characters');
thought({ other: 1 });

// What models usually send, and what both refuse. Left out is what only JavaScript reads, such as '0x10', '1e3', '00012'
// or true as a number, and what only our server reads, such as 'yes' as a truth value or 7 as a text.
const texts = [
  '3', ' 3 ', '\n3\t', '\u00a03', '\u200b3', '+3', '-3', '--1', '3.0', '5.', '.5', '.',
  '5e-1', '1e', 'e5', '1e-400', '0x', '0xg', '1_000', '3n', '3,5', '٣', 'abc', 'inf', 'nan', 'NaN', 'infinity',
  '9007199254740991', '9007199254740992', 'true', '[3]',
];
const numbers = [
  1, 1.5, 0, -0, -1, -1.5, 1e300, 9007199254740991, 9007199254740992, [true], ['x'], [1, 2], [{}], {}, { a: 1 },
  { toString: 1 },
];
for (const value of [...texts, ...numbers]) {
  for (const name of ['thoughtNumber', 'totalThoughts', 'revisesThought', 'branchFromThought']) {
    thought({ [name]: value });
  }
}

const booleans = [
  true, false, 'true', 'TRUE', 'tRuE', 'False', '1', 'maybe', 'a"b\nc\u001b', 1, 0, [], {},
];
for (const value of booleans) {
  for (const name of ['nextThoughtNeeded', 'isRevision', 'needsMoreThoughts']) thought({ [name]: value });
}

// An optional argument that is null is the same as none for our server.
thought({ thought: null });
for (const value of [[], {}, 'é𝄞']) {
  thought({ thought: value });
  thought({ branchId: value });
}

const required = ['thought', 'nextThoughtNeeded', 'thoughtNumber', 'totalThoughts'];
for (const name of required) thought({ [name]: undefined }, `without ${name}`);
call('no arguments');
call('empty arguments', {});
thought({
  thought: 1,
  nextThoughtNeeded: 4,
  thoughtNumber: 1.5,
  totalThoughts: 'x',
  isRevision: 'q',
  revisesThought: -1,
  branchFromThought: 'y',
  branchId: 2,
  needsMoreThoughts: [],
});

for (const branchId of ['z', 'b c', '01', '-1', '1.5', '\u001b[31m', 'z']) {
  thought({ branchFromThought: 1, branchId });
}
for (const sessionId of ['x y', 5]) thought({ sessionId });
thought({}, 'after wrong ids of sessions');
thought({ branchFromThought: 1, branchId: '__proto__' });
thought({ branchFromThought: 1, branchId: 'constructor' });
thought({ thought: 'a'.repeat(300_000) }, 'a thought that is too long');
thought({ nextThoughtNeeded: 'a'.repeat(2_000) }, 'a long value in an error');

for (const args of [null, [], 'x', 5]) call(`arguments ${JSON.stringify(args)}`, args);
add('unknown tool', request('tools/call', { name: 'nope', arguments: {} }));
add('tool without a name', request('tools/call', {}));
add('unknown method', request('nope/nope'));
