// How our server differs from the official one on purpose.

const refused = /^\/result\/(content|isError|structuredContent)/;

export const intended = [
  {
    case: /^initialize$/,
    path: /^\/result\/(serverInfo|capabilities)/,
    why: 'The server has a name and capabilities of its own.',
  },
  {
    case: /^tools\/list$/,
    path: /\/description$/,
    why: 'Descriptions are in our own words.',
  },
  {
    case: /^tools\/list$/,
    path: /\/inputSchema\/properties\/sessionId$/,
    why: 'There is an optional sessionId.',
  },
  {
    case: /^tools\/list$/,
    path: /\/annotations\/(readOnlyHint|idempotentHint)$/,
    why: 'The annotations say that the tool records something, each time that it is called.',
  },
  {
    case: /^tools\/list$/,
    path: /\/execution$/,
    why: 'taskSupport is left out where it is "forbidden", which is the default; the newest protocol has no such field.',
  },
  {
    case: /^\{"sessionId":/,
    path: refused,
    why: 'An id of a session that cannot be one is refused instead of ignored.',
  },
  {
    case: /^after wrong ids of sessions$/,
    path: /^\/result\/(content\/0\/text|structuredContent\/thoughtHistoryLength)$/,
    why: 'What was refused is not counted.',
  },
  {
    case: /"branchId":"(__proto__|constructor)"/,
    path: refused,
    why: 'Every name of a branch is accepted, even those of properties that all objects have in JavaScript.',
  },
  {
    case: /^a thought that is too long$/,
    path: refused,
    why: 'The arguments of a call have at most 256 KiB.',
  },
  {
    case: /^(arguments (\[\]|"x"|5)|tool without a name|unknown method)$/,
    path: /^\/(error|result)/,
    why: 'Requests that the protocol does not allow are refused by another SDK, with other codes and texts.',
  },
  {
    case: /^arguments null$/,
    path: /^\/(error|result)/,
    why: 'Arguments that are null are the same as none.',
  },
];
