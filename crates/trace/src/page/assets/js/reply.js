// The raw reply of a model, with its repairs marked in place.

/** Returns the ranges of a reply that were repaired, in UTF-16 units, sorted and without overlaps. */
function repairRanges(reply, repairs) {
  const bytes = byteOffsets(reply, repairs);
  const lines = lineRanges(reply, repairs);
  const ranges = [];
  for (const [index, repair] of repairs.entries()) {
    const range =
      asNumber(repair.start) !== undefined
        ? [bytes(repair.start), bytes(asNumber(repair.end) ?? repair.start)]
        : lines(repair.line);
    if (range && range[1] >= range[0])
      ranges.push({ start: range[0], end: range[1], numbers: [index + 1] });
  }
  ranges.sort((a, b) => a.start - b.start || b.end - a.end);

  const merged = [];
  for (const range of ranges) {
    const last = merged.at(-1);
    if (last && range.start < last.end) {
      last.end = Math.max(last.end, range.end);
      last.numbers.push(...range.numbers);
    } else merged.push(range);
  }
  return merged;
}

/** Returns a function from the offset of a byte to that of a UTF-16 unit. */
function byteOffsets(text, repairs) {
  const wanted = repairs.flatMap(({ start, end }) => [start, end]);
  const offsets = wanted.filter((offset) => asNumber(offset) >= 0).sort((a, b) => a - b);
  const units = new Map();
  if (offsets.length === 0) return () => 0;

  const bytes = new TextEncoder().encode(text);
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let last = 0;
  let length = 0;
  for (const offset of offsets) {
    length += decoder.decode(bytes.subarray(last, offset), { stream: true }).length;
    last = offset;
    units.set(offset, length);
  }
  return (offset) => units.get(offset) ?? 0;
}

/** Returns a function from the number of a line, starting at 1, to its range. */
function lineRanges(text, repairs) {
  if (!repairs.some((repair) => asNumber(repair.line) !== undefined))
    return () => undefined;
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1))
    starts.push(at + 1);
  return (line) => {
    if (!Number.isInteger(line) || line < 1 || line > starts.length) return undefined;
    const end = starts[line] === undefined ? text.length : starts[line] - 1;
    return [starts[line - 1], end];
  };
}

/** Returns the reply as nodes, with marks. */
function markedReply(reply, repairs) {
  const ranges = repairRanges(reply, repairs);
  const parts = [];
  let end = 0;
  for (const range of ranges) {
    parts.push(reply.slice(end, range.start));
    const isEmpty = range.start === range.end;
    parts.push(
      el(
        'mark',
        { class: isEmpty ? 'repair insertion' : 'repair' },
        isEmpty ? '' : reply.slice(range.start, range.end),
        el(
          'sup',
          { 'aria-label': `repair ${range.numbers.join(', ')}` },
          range.numbers.join(','),
        ),
      ),
    );
    end = range.end;
  }
  parts.push(reply.slice(end));
  return parts;
}

function replyView(call) {
  const reply = String(call.reply);
  const marked = call.repairs.length > 0;
  const text = el('pre', {
    class: 'raw',
    dir: 'auto',
    tabindex: '0',
    'aria-label': 'Raw reply',
  });
  if (marked) append(text, markedReply(reply, call.repairs));
  else appendLong(text, reply, (part) => visible(part));

  return [
    el(
      'h4',
      {},
      'Raw reply',
      marked &&
        el('span', { class: 'tag changed' }, plural(call.repairs.length, 'repair')),
    ),
    text,
    marked &&
      el('ol', { class: 'repairs' }, call.repairs.slice(0, MOST_REPAIRS).map(repairRow)),
    call.repairs.length > MOST_REPAIRS &&
      el(
        'p',
        { class: 'muted' },
        `${count(call.repairs.length - MOST_REPAIRS)} more repairs are marked in the reply.`,
      ),
  ];
}

// A reader of replies lists at most a few more.
const MOST_REPAIRS = 1_000;

function repairRow(repair) {
  const line = repair.line === undefined ? '' : `line ${repair.line}: `;
  return el(
    'li',
    {},
    el('bdi', {}, `${line}${asText(repair.what) ?? ''}`),
    ' ',
    el('span', { class: 'tag' }, (asText(repair.kind) ?? 'repair').replaceAll('_', ' ')),
  );
}
