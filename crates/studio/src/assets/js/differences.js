// What differs between two texts.

const MOST_WORDS = 3000;

/** Returns the parts of two texts, each with `side` 'both', 'left' or 'right'. */
function differences(left, right) {
  const a = wordsOf(left);
  const b = wordsOf(right);
  if (a.length > MOST_WORDS || b.length > MOST_WORDS) return undefined;

  const lengths = commonLengths(a, b);
  const parts = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      addPart(parts, 'both', a[i]);
      i += 1;
      j += 1;
    } else if (j >= b.length || (i < a.length && lengths[i + 1][j] >= lengths[i][j + 1])) {
      addPart(parts, 'left', a[i]);
      i += 1;
    } else {
      addPart(parts, 'right', b[j]);
      j += 1;
    }
  }
  return parts;
}

function wordsOf(text) {
  return String(text ?? '').match(/\s+|[^\s]+/gu) ?? [];
}

/** Returns how many words the rests of two lists have in common, for each pair of places. */
function commonLengths(a, b) {
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      lengths[i][j] = a[i] === b[j] ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
    }
  }
  return lengths;
}

function addPart(parts, side, text) {
  const last = parts.at(-1);
  if (last?.side === side) last.text += text;
  else parts.push({ side, text });
}

/** Returns one side of two texts, in which what the other lacks is marked. */
function sideOf(parts, side, text) {
  if (!parts) return prose(text);
  const name = side === 'left' ? 'del' : 'ins';
  const shown = parts.filter((part) => part.side === 'both' || part.side === side);
  const marked = shown.map((part) => (part.side === 'both' ? part.text : el(name, {}, part.text)));
  return el('p', { class: 'prose', dir: 'auto' }, marked);
}
