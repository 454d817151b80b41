// Calls of the server.

/** Calls the server. With a body, it is sent as JSON. Throws an error with the server's reason. */
async function call(path, query, body) {
  const address = query ? `${path}?${new URLSearchParams(query)}` : path;
  const options = body === undefined
    ? {}
    : { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };

  const response = await fetch(address, options).catch(() => {
    throw new Error('the studio cannot be reached; it may have been stopped');
  });
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) {
    const message = String(answer.error ?? `the server answered ${response.status}`);
    throw Object.assign(new Error(message), { part: answer.part });
  }
  return answer;
}

/** Calls a function every few seconds while the page is visible. Returns a function that ends it. */
function every(milliseconds, work) {
  const timer = setInterval(() => {
    if (!document.hidden) work();
  }, milliseconds);
  return () => clearInterval(timer);
}

function addressOf(query) {
  return `/?${new URLSearchParams(query)}`;
}

/** Formats the time since a moment. */
function age(seconds) {
  if (!seconds) return '–';
  const since = Math.max(0, Date.now() / 1000 - seconds);
  if (since < 60) return `${Math.round(since)} s ago`;
  if (since < 3600) return `${Math.round(since / 60)} min ago`;
  if (since < 48 * 3600) return `${Math.round(since / 3600)} h ago`;
  return `${Math.round(since / 86400)} days ago`;
}

const STUDIO_STATUS = {
  open: { icon: '…', className: 'warn', label: 'open' },
  running: { icon: '…', className: 'warn', label: 'running' },
  paused: { icon: '‖', className: 'warn', label: 'waiting' },
  failed: { icon: '×', className: 'bad', label: 'failed' },
  ended: { icon: '✓', className: 'good', label: 'ended' },
  damaged: { icon: '!', className: 'bad', label: 'damaged' },
};

function runTag(status) {
  const { icon, className, label } = STUDIO_STATUS[status] ?? { icon: '?', className: '', label: status };
  return el('span', { class: `tag ${className}` }, `${icon} ${label}`);
}

function errorNote(message) {
  return el('p', { class: 'note bad', role: 'alert' }, message);
}
