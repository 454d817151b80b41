// Names of steps, such as `crawl/page#1[4]/fetch#2` or, of a call in one, `crawl/report#2.1/search.3`.

function unescapeName(name) {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** Escapes a name in the way of step names. */
function escapeName(name) {
  return name
    .replace(/[/#[\]%\n\t]/g, encodeURIComponent)
    .replace(UNSAFE, encodeURIComponent);
}

/** Returns what identifies an edge. In the place of a node, `#` is escaped. */
function edgeKey(place, action) {
  return `${place}#${action}`;
}

const DEEPEST_LEVEL = 6;

/** Returns the places of the nodes of a graph whose flows inside are branches. */
function branchPlaces(graph, prefix = '', depth = 0, found = new Set()) {
  if (depth > DEEPEST_LEVEL) return found;
  for (const node of graph?.nodes ?? []) {
    const place = prefix + escapeName(String(node.name));
    if (node.kind === 'branches') found.add(place);
    for (const flow of node.inside ?? [])
      branchPlaces(flow, insidePrefix(node, flow, place), depth + 1, found);
  }
  return found;
}

function insidePrefix(node, flow, place) {
  return node.kind === 'branches'
    ? `${place}/${escapeName(String(flow.name))}/`
    : `${place}/`;
}

const NAME_PART = /^(.*?)#(\d+)(?:\[(.*)\])?(?:\.(\d+))?$/;

/**
 * Splits the name of a step.
 *
 * `step` is the name without an item of a batch and without a call. `place` identifies the node in
 * the graph, and `scope` is the flow, item or branch around it. `branches` are the places of nodes with
 * branches, whose names may look like the numbers of items.
 */
function parseStepName(name, branches) {
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
    const isItem = /^\d+$/.test(inside ?? '') && !branches.has(places.join('/'));
    if (inside !== undefined && !isItem) places.push(inside);
    scope.push(part);
  }

  const place = places.join('/');
  return { ...unparsed(name, parts.at(-1)), scope: scope.join('/'), place, isNested };
}

function unparsed(name, node) {
  return {
    step: name,
    scope: '',
    place: name,
    node: unescapeName(node),
    number: 1,
    isNested: false,
  };
}
