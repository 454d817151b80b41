// A drawing of a graph, with the visits up to a moment of the run.

// Graphs that are larger than their panel are drawn smaller, down to the smallest scale. What is still
// too high begins folded.
const DRAWING_HEIGHT = 270;
const SMALLEST_SCALE = 0.72;
const LARGEST_ZOOM = 4;

class GraphView {
  /** `onselect(key)` is called with the place of a node. */
  constructor({ graph, label, folds, onselect }) {
    Object.assign(this, { graph, folds, onselect });
    this.zoom = 1;
    this.scroll = el('div', {
      class: 'graph-scroll',
      tabindex: '0',
      role: 'group',
      'aria-label': label,
    });
    this.element = el(
      'div',
      { class: 'graph-view' },
      el(
        'div',
        { class: 'figure-tools' },
        button('Draw smaller', 'minus', () => this.setZoom(this.zoom / 1.5)),
        button('Fit into the panel', 'everything', () => this.setZoom(1)),
        button('Draw larger', 'plus', () => this.setZoom(this.zoom * 1.5)),
      ),
      this.scroll,
    );
    this.draw();
  }

  draw() {
    this.nodes = new Map();
    this.edges = new Map();
    let layout = layoutGraph(this.graph, this.folds);
    if (layout.height * SMALLEST_SCALE > DRAWING_HEIGHT && this.folds.size === 0) {
      for (const node of layout.nodes) this.folds.set(node.key, node.hasInside);
      layout = layoutGraph(this.graph, this.folds);
    }

    this.layout = layout;
    this.drawing = svg('svg', {
      class: 'graph',
      viewBox: `0 0 ${Math.ceil(layout.width)} ${Math.ceil(layout.height)}`,
    });
    this.drawing.append(...this.level(layout, 0, 0));
    replace(
      this.scroll,
      this.drawing,
      layout.more > 0 &&
        el('p', { class: 'muted' }, `${plural(layout.more, 'more node')} not drawn.`),
    );
    this.setZoom(this.zoom);
  }

  /** Draws the graph larger or smaller; 1 fits it into its panel. */
  setZoom(zoom) {
    this.zoom = Math.min(LARGEST_ZOOM, Math.max(0.25, zoom));
    const { width, height } = this.layout;
    const fit = Math.min(1, Math.max(SMALLEST_SCALE, DRAWING_HEIGHT / height));
    this.height = height * fit;
    this.drawing.setAttribute('width', Math.ceil(width * fit * this.zoom));
    this.drawing.setAttribute('height', Math.ceil(height * fit * this.zoom));
    this.drawing.classList.toggle('fits', this.zoom <= 1);
  }

  /** Folds a node with a flow inside, or opens it. */
  fold(key) {
    this.folds.set(key, !this.folds.get(key));
    this.draw();
    if (this.moment) this.show(this.moment);
    this.nodes.get(key)?.toggle?.focus();
  }

  level(layout, x, y) {
    const edges = layout.edges.map((edge) => this.edge(edge, x, y));
    const nodes = layout.nodes.flatMap((node) => this.node(node, x, y, layout));
    const labels = layout.edges
      .filter((edge) => edge.label)
      .map((edge) => edgeLabel(edge, x, y));
    return [...edges, ...nodes, ...labels];
  }

  edge(edge, x, y) {
    const path = svg('path', {
      d: edge.loop ? loopPath(edge.loop, x, y) : edgePath(edge.points, x, y),
      class: 'edge',
    });
    const end = edge.loop ? { x: edge.loop.x, y: edge.loop.y + 8 } : edge.points.at(-1);
    const before = edge.loop
      ? { x: end.x + 10, y: end.y + 3 }
      : (edge.points.at(-2) ?? end);
    const angle = (Math.atan2(end.y - before.y, end.x - before.x) * 180) / Math.PI;
    const head = svg('path', {
      d: 'M0,0 L-7,-3.6 L-7,3.6 Z',
      class: 'edge-head',
      transform: `translate(${end.x + x},${end.y + y}) rotate(${angle})`,
    });
    const group = svg('g', { class: 'edge-group' }, path, head);
    this.edges.set(edge.key, group);
    return group;
  }

  node(node, x, y, { start, prefix }) {
    if (node.isEnd) {
      return [svg('circle', { cx: node.x + x, cy: node.y + y, r: 6, class: 'end-node' })];
    }

    const left = node.x + x - node.width / 2;
    const top = node.y + y - node.height / 2;
    const box = svg('rect', {
      x: left,
      y: top,
      width: node.width,
      height: node.height,
      rx: 8,
      class: 'node-box',
    });
    const isOpen = node.inside.length > 0;
    const label = svg(
      'text',
      {
        x: left + 14,
        y: top + (isOpen ? 18 : node.height / 2 + 4.5),
        class: 'node-label',
      },
      node.label,
    );
    const visits = svg('text', {
      x: left + node.width - 12,
      y: top + (isOpen ? 18 : node.height / 2 + 4.5),
      class: 'node-visits',
    });
    const group = svg(
      'g',
      { class: 'node', 'data-kind': node.kind, role: 'button', tabindex: '0' },
      box,
      label,
      visits,
    );
    group.classList.toggle('start', node.id === start);
    group.classList.toggle('inside', prefix !== '');
    group.addEventListener('click', () => this.onselect(node.key));
    group.addEventListener('keydown', (event) =>
      onEnter(event, () => this.onselect(node.key)),
    );
    const toggle = node.hasInside && this.toggle(node, left, top);
    if (toggle) visits.setAttribute('x', left + node.width - 32);
    const isFolded = node.hasInside && !isOpen;
    this.nodes.set(node.key, { group, visits, toggle, isFolded });

    const parts = toggle ? [group, toggle] : [group];
    let inner = left + 10;
    for (const { layout } of node.inside) {
      parts.push(...this.level(layout, inner, top + 26));
      inner += layout.width + 10;
    }
    return parts;
  }

  /** Returns the button that folds a node. */
  toggle(node, left, top) {
    const isFolded = node.inside.length === 0;
    const x = left + node.width - 18;
    const y = isFolded ? top + node.height / 2 : top + 14;
    const bars = isFolded ? `M${x - 4},${y} h8 M${x},${y - 4} v8` : `M${x - 4},${y} h8`;
    const toggle = svg(
      'g',
      {
        class: 'fold',
        role: 'button',
        tabindex: '0',
        'aria-expanded': String(!isFolded),
        'aria-label': `Inside of ${node.label}`,
      },
      svg('rect', { x: x - 9, y: y - 9, width: 18, height: 18, rx: 4 }),
      svg('path', { d: bars }),
    );
    toggle.addEventListener('click', () => this.fold(node.key));
    toggle.addEventListener('keydown', (event) => onEnter(event, () => this.fold(node.key)));
    return toggle;
  }

  /** Shows visit counts by place and by edge, and the node at work. */
  show(moment) {
    this.moment = moment;
    const { visits, edges } = moment;
    let { current } = moment;
    // A place in a folded node is that of the node.
    while (current?.includes('/') && !this.nodes.has(current))
      current = current.slice(0, current.lastIndexOf('/'));
    for (const [key, node] of this.nodes) {
      const times = visits.get(key) ?? 0;
      const isInside = current !== undefined && current.startsWith(`${key}/`);
      const isVisited = times > 0 || (node.isFolded && visits.has(key));
      node.group.classList.toggle('visited', isVisited);
      node.group.classList.toggle('current', key === current);
      node.group.classList.toggle('around', isInside);
      node.visits.textContent = times > 0 ? `${count(times)}×` : '';
      if (key === current) node.group.setAttribute('aria-current', 'step');
      else node.group.removeAttribute('aria-current');
    }
    this.reveal(this.nodes.get(current)?.group);
    for (const [key, group] of this.edges)
      group.classList.toggle('visited', (edges.get(key) ?? 0) > 0);
  }

  /** Scrolls the drawing, and only that, so that the node is in view. */
  reveal(group) {
    const view = this.scroll.getBoundingClientRect();
    if (!group || view.height === 0) return;
    const box = group.getBoundingClientRect();
    const isVisible =
      box.top >= view.top &&
      box.bottom <= view.bottom &&
      box.left >= view.left &&
      box.right <= view.right;
    if (isVisible) return;
    this.scroll.scrollTop += box.top + box.height / 2 - view.top - view.height / 2;
    this.scroll.scrollLeft += box.left + box.width / 2 - view.left - view.width / 2;
  }
}

function onEnter(event, act) {
  if (event.key !== 'Enter' && event.key !== ' ') return;
  event.preventDefault();
  event.stopPropagation();
  act();
}

function edgeLabel(edge, x, y) {
  const width = textWidth(edge.label) + 6;
  const box = svg('rect', {
    x: edge.x + x - width / 2,
    y: edge.y + y - 8,
    width,
    height: 16,
    rx: 4,
    class: 'edge-label-box',
  });
  const text = svg(
    'text',
    { x: edge.x + x, y: edge.y + y + 4, class: 'edge-label' },
    edge.label,
  );
  return svg('g', {}, box, text);
}

function loopPath(loop, x, y) {
  const right = loop.x + x;
  const middle = loop.y + y;
  const reach = right + loop.width * 1.3;
  return `M${right},${middle - 8} C${reach},${middle - 22} ${reach},${middle + 22} ${right},${middle + 8}`;
}

/** Draws a curve through the points. */
function edgePath(points, x, y) {
  const at = (point) => `${(point.x + x).toFixed(1)},${(point.y + y).toFixed(1)}`;
  if (points.length < 3) return `M${points.map(at).join(' L')}`;

  let path = `M${at(points[0])}`;
  for (let index = 1; index < points.length - 1; index += 1) {
    const point = points[index];
    const next = points[index + 1];
    const isLast = index === points.length - 2;
    const to = isLast ? next : { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 };
    path += ` Q${at(point)} ${at(to)}`;
  }
  return path;
}
