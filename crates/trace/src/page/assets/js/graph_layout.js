// The layout of a graph. Each level is laid out by dagre, and a node with flows inside is as large
// as they are.

const NODE_HEIGHT = 34;
const MOST_NODES = 250;

function textWidth(text) {
  let width = 0;
  for (const character of visibleString(text))
    width += character.charCodeAt(0) > 0x2e80 ? 14 : 8;
  return width;
}

/**
 * Lays out a graph of the record, and returns `{ width, height, nodes, edges }`, with all levels
 * inside those nodes that `folds` doesn't fold.
 */
function layoutGraph(graph, folds, prefix = '', depth = 0) {
  const shown = (graph.nodes ?? []).slice(0, MOST_NODES);
  const nodes = shown.map((node) => measuredNode(node, folds, prefix, depth));
  const edges = readEdges(graph, nodes, prefix);
  const level = { nodes, edges, start: graph.start, prefix };
  if (edges.some((edge) => edge.to === END_NODE)) {
    nodes.push({
      id: END_NODE,
      key: END_NODE,
      isEnd: true,
      width: 16,
      height: 16,
      inside: [],
    });
  }

  layoutByDagre(level);
  level.more = (graph.nodes ?? []).length - shown.length;
  return level;
}

// Names are texts, so this is no name.
const END_NODE = Symbol('end');

function measuredNode(node, folds, prefix, depth) {
  const name = String(node.name);
  const key = prefix + escapeName(name);
  const label = oneLine(name, 28);
  const flows = depth < DEEPEST_LEVEL ? (node.inside ?? []) : [];
  const shown = folds.get(key) ? [] : flows;
  const inside = shown.map((flow) => ({
    name: flow.name,
    layout: layoutGraph(flow, folds, insidePrefix(node, flow, key), depth + 1),
  }));

  const padding = 10;
  const caption = 26;
  const width = inside.reduce((sum, { layout }) => sum + layout.width + padding, padding);
  const height = inside.reduce((most, { layout }) => Math.max(most, layout.height), 0);
  const ownWidth = Math.max(64, textWidth(label) + (flows.length > 0 ? 76 : 56));
  return {
    id: name,
    key,
    label,
    kind: node.kind,
    inside,
    hasInside: flows.length > 0,
    width: Math.max(ownWidth, inside.length > 0 ? width : 0),
    height: inside.length > 0 ? height + caption + padding : NODE_HEIGHT,
  };
}

function readEdges(graph, nodes, prefix) {
  const names = new Set(nodes.map((node) => node.id));
  return (graph.edges ?? [])
    .filter((edge) => names.has(edge.from) && (edge.to === null || names.has(edge.to)))
    .map((edge) => ({
      from: edge.from,
      to: edge.to ?? END_NODE,
      action: String(edge.action),
      key: edgeKey(prefix + escapeName(edge.from), edge.action),
    }));
}

function layoutByDagre(level) {
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({
    rankdir: 'TB',
    nodesep: 26,
    ranksep: 34,
    edgesep: 14,
    marginx: 8,
    marginy: 8,
  });
  // dagre keeps its nodes in objects, in which a name such as `__proto__` isn't a key like others.
  const ids = new Map(level.nodes.map((node, index) => [node.id, `n${index}`]));
  for (const node of level.nodes)
    graph.setNode(ids.get(node.id), { width: node.width, height: node.height });
  for (const [index, edge] of level.edges.entries()) {
    const label =
      edge.action === 'default' || edge.action === edge.to
        ? ''
        : oneLine(edge.action, 20);
    edge.label = label;
    graph.setEdge(
      ids.get(edge.from),
      ids.get(edge.to),
      { width: label ? textWidth(label) + 8 : 0, height: label ? 16 : 0, labelpos: 'c' },
      String(index),
    );
  }
  dagre.layout(graph);

  for (const node of level.nodes) Object.assign(node, placed(graph.node(ids.get(node.id))));
  for (const [index, edge] of level.edges.entries()) {
    const laidOut = graph.edge(ids.get(edge.from), ids.get(edge.to), String(index));
    Object.assign(edge, placed(laidOut), { points: laidOut.points });
  }
  level.width = Math.max(0, graph.graph().width);
  placeLoops(level);
  level.height = Math.max(0, graph.graph().height);
}

const LOOP_WIDTH = 30;

/** Draws edges from a node to itself as loops at its right side, with labels next to them. */
function placeLoops(level) {
  for (const node of level.nodes) {
    const loops = level.edges.filter(
      (edge) => edge.from === node.id && edge.to === node.id,
    );
    for (const [index, edge] of loops.entries()) {
      const right = node.x + node.width / 2;
      edge.loop = { x: right, y: node.y, width: LOOP_WIDTH + 8 * index };
      edge.x = right + LOOP_WIDTH + 6 + textWidth(edge.label) / 2;
      edge.y = node.y + 18 * (index - (loops.length - 1) / 2);
      level.width = Math.max(level.width, edge.x + textWidth(edge.label) / 2 + 8);
    }
  }
}

function placed({ x, y }) {
  return { x, y };
}
