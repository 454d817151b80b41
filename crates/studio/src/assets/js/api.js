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
    throw new Error(answer.error ?? `the server answered ${response.status}`);
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

function plainButton(label, onclick, className = '') {
  return el('button', { type: 'button', class: `plain-button ${className}`, onclick }, label);
}

/** Returns a control below its name. */
function namedField(name, control) {
  return el('div', { class: 'field' }, el('label', { for: control.id }, name), control);
}

/** Returns the buttons of a dialog: that of its form, and one that closes it. */
function dialogButtons(send, close) {
  return el('div', { class: 'dialog-buttons' }, send, plainButton('Cancel', close));
}

function errorNote(message) {
  return el('p', { class: 'note bad', role: 'alert' }, message);
}
