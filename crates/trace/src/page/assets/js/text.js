// Text and elements. All text in the page goes through `visible`, and no text becomes markup.

// The same characters as `cogwork_text::is_unsafe`, except line breaks and tabs.
const UNSAFE = new RegExp(
  '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u17b4\\u17b5\\u180e\\u200b\\u200e\\u200f' +
    '\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff0-\\ufffb\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}' +
    '\\u{e0000}-\\u{e00ff}\\u{e01f0}-\\u{e0fff}]',
  'gu',
);

// The longest text, and the longest question, that is shown at once; the rest is behind a button.
const LONGEST_TEXT = 20_000;
const LONGEST_QUESTION = 500;

function codePoint(character) {
  return 'U+' + character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0');
}

/** Returns the text with unsafe characters as their code points. */
function visibleString(text) {
  return String(text).replace(UNSAFE, (character) => `⟨${codePoint(character)}⟩`);
}

/** Returns nodes for the text, in which unsafe characters are marked. */
function visible(text) {
  const string = String(text);
  if (string.search(UNSAFE) < 0) return [document.createTextNode(string)];

  const nodes = [];
  let end = 0;
  for (const match of string.matchAll(UNSAFE)) {
    if (match.index > end)
      nodes.push(document.createTextNode(string.slice(end, match.index)));
    nodes.push(unsafeMark(match[0]));
    end = match.index + match[0].length;
  }
  if (end < string.length) nodes.push(document.createTextNode(string.slice(end)));
  return nodes;
}

function unsafeMark(character) {
  const mark = document.createElement('span');
  mark.className = 'unsafe';
  mark.textContent = codePoint(character);
  return mark;
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? '' : visibleString(value));
  }
  append(node, children);
  return node;
}

function append(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    if (child instanceof Node) node.append(child);
    else node.append(...visible(child));
  }
}

/** Creates an element. Children that are not nodes become text. */
function el(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function svg(name, attributes, ...children) {
  return fill(
    document.createElementNS('http://www.w3.org/2000/svg', name),
    attributes,
    children,
  );
}

function replace(node, ...children) {
  node.replaceChildren();
  append(node, children);
}

/** Returns a notice about something, with a text from elsewhere. */
function notice(className, label, text) {
  return el(
    'p',
    { class: `note ${className}` },
    el('strong', {}, `${label}: `),
    el('bdi', {}, text),
  );
}

/** Returns a paragraph of text from elsewhere, isolated from the direction of the page. */
function prose(text, attributes = {}, longest = LONGEST_TEXT) {
  const string = String(text ?? '');
  const node = el('p', {
    dir: 'auto',
    ...attributes,
    class: `prose ${attributes.class ?? ''}`,
  });
  appendLong(node, string, (part) => visible(part), longest);
  return node;
}

/** Returns a question of a run, which may have all arguments of a tool call. */
function question(text, attributes) {
  return prose(text, attributes, LONGEST_QUESTION);
}

/** Appends a text, at first only its beginning if it is very long. */
function appendLong(node, text, render, longest = LONGEST_TEXT) {
  if (text.length <= longest) {
    append(node, render(text));
    return;
  }

  const more = el(
    'button',
    { type: 'button', class: 'link' },
    `Show all ${count(text.length)} characters`,
  );
  more.addEventListener('click', () => replace(node, render(text)));
  append(node, [render(text.slice(0, longest)), '… ', more]);
}

function oneLine(text, length = 160) {
  const line = String(text ?? '')
    .slice(0, length * 4)
    .replace(/\s+/g, ' ')
    .trim();
  return line.length > length ? line.slice(0, length - 1) + '…' : line;
}

const NUMBER = new Intl.NumberFormat('en');

function count(number) {
  return NUMBER.format(number ?? 0);
}

function plural(number, one, many = one + 's') {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** Formats seconds. */
function duration(seconds) {
  if (seconds === undefined || seconds === null || !Number.isFinite(seconds)) return '–';
  if (seconds < 0.0000005) return '0 s';
  if (seconds < 0.001) return `${Math.max(1, Math.round(seconds * 1e6))} µs`;
  if (seconds < 0.01) return `${(seconds * 1000).toFixed(1)} ms`;
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;

  const whole = Math.round(seconds);
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  if (hours >= 48) return `${Math.round(hours / 24)} days`;
  if (hours > 0) return `${hours} h ${minutes} min`;
  return `${minutes} min ${whole % 60} s`;
}

/** Formats a cost, in the currency of the price table. */
function money(cost) {
  if (cost === undefined || cost === null) return '–';
  if (cost === 0) return '0';
  if (Math.abs(cost) < 0.01) return String(Number(cost.toPrecision(2)));
  return cost.toFixed(cost < 1 ? 3 : 2);
}

function date(seconds) {
  const time = new Date(seconds * 1000);
  if (Number.isNaN(time.getTime())) return 'unknown time';
  return time.toISOString().slice(0, 19).replace('T', ' ') + ' UTC';
}
