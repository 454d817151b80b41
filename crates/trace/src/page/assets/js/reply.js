// The raw reply of a model, with its repairs marked in place.

/** Returns the lines of a reply that were repaired, as ranges of UTF-16 units, in order. */
function repairRanges(reply, repairs) {
  const starts = [0];
  for (let at = reply.indexOf('\n'); at >= 0; at = reply.indexOf('\n', at + 1))
    starts.push(at + 1);

  const ranges = new Map();
  for (const [index, { line }] of repairs.entries()) {
    if (!Number.isInteger(line) || line < 1 || line > starts.length) continue;
    const start = starts[line - 1];
    const end = starts[line] === undefined ? reply.length : starts[line] - 1;
    if (!ranges.has(line)) ranges.set(line, { start, end, numbers: [] });
    ranges.get(line).numbers.push(index + 1);
  }
  return [...ranges.values()].sort((a, b) => a.start - b.start);
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
        range.numbers.map((number) =>
          el('sup', { 'aria-label': `repair ${number}` }, String(number)),
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
      el('ol', { class: 'repairs' }, call.repairs.map(repairRow)),
  ];
}

function repairRow(repair) {
  const line = repair.line === undefined ? '' : `line ${repair.line}: `;
  return el(
    'li',
    {},
    el('bdi', {}, `${line}${repair.what ?? ''}`),
    ' ',
    el('span', { class: 'tag' }, (repair.kind ?? 'repair').replaceAll('_', ' ')),
  );
}
