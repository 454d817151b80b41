// Names of steps, such as `crawl/page#1[4]/fetch#2` or, of a call in one, `crawl/report#2.1/search.3`.

function unescapeName(name) {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

const NAME_PART = /^(.*?)#(\d+)(?:\[(.*)\])?(?:\.(\d+))?$/;

/**
 * Splits the name of a step.
 *
 * `step` is the name without an item of a batch and without a call. `place` identifies the node in
 * the graph, and `scope` is the flow, item or branch around it.
 */
function parseStepName(name) {
  const parts = name.split('/');
  const places = [];
  const scope = [];
  let isNested = false;

  for (const [index, part] of parts.entries()) {
    const match = NAME_PART.exec(part);
    if (!match) {
      if (index > 0) places.push(part);
      scope.push(part);
      continue;
    }

    const [, node, number, inside, attempt] = match;
    const isLast = attempt !== undefined || index === parts.length - 1;
    places.push(node);
    if (isLast) {
      const call = attempt === undefined ? undefined : parts.slice(index + 1).join('/');
      return {
        step: [...scope, `${node}#${number}`].join('/'),
        scope: scope.join('/'),
        place: places.join('/'),
        node: unescapeName(node),
        number: Number(number),
        item: inside,
        call,
        isNested,
      };
    }

    isNested = true;
    if (inside !== undefined && !/^\d+$/.test(inside)) places.push(inside);
    scope.push(part);
  }

  const node = unescapeName(parts.at(-1));
  return {
    step: name,
    scope: scope.join('/'),
    place: places.join('/'),
    node,
    number: 1,
    isNested,
  };
}
