// Bars over time: a row for each node, a bar for each step, and the calls to models inside.

const LANE_HEIGHT = 22;
const MOST_LANES = 60;
const SMALLEST_BAR = 2;
const LANE_LABEL = 130;

class Timeline {
  constructor({ run, onselect }) {
    this.run = run;
    this.onselect = onselect;
    this.zoom = 1;
    this.byOrder = false;
    this.current = -1;

    this.drawing = svg('svg', { class: 'timeline-drawing', role: 'img' });
    this.marker = svg('rect', { class: 'current-bar', height: LANE_HEIGHT - 6, rx: 3 });
    this.space = el('div', { class: 'timeline-space' });
    this.scroll = el(
      'div',
      {
        class: 'timeline-scroll',
        tabindex: '0',
        role: 'group',
        'aria-label': 'Timeline. Plus and minus zoom, the arrow keys scroll.',
      },
      this.space,
      this.drawing,
    );
    this.labels = el('div', { class: 'timeline-labels', 'aria-hidden': 'true' });
    this.scale = el(
      'select',
      {
        'aria-label': 'Scale of the timeline',
        onchange: () => this.setScale(this.scale.value === 'order'),
      },
      el('option', { value: 'time' }, 'By time'),
      el('option', { value: 'order' }, 'By step'),
    );
    this.element = el(
      'div',
      { class: 'timeline' },
      el(
        'div',
        { class: 'figure-tools' },
        this.scale,
        button('Zoom out', 'minus', () => this.zoomBy(1 / 2)),
        button('Show everything', 'everything', () => this.setZoom(1)),
        button('Zoom in', 'plus', () => this.zoomBy(2)),
      ),
      el('div', { class: 'timeline-body' }, this.labels, this.scroll),
      legend(),
    );

    this.scroll.addEventListener('scroll', () => this.draw(), { passive: true });
    this.scroll.addEventListener('keydown', (event) => this.key(event));
    this.scroll.addEventListener('wheel', (event) => this.wheel(event), {
      passive: false,
    });
    this.drawing.addEventListener('click', (event) => this.click(event));
    new ResizeObserver(() => this.draw()).observe(this.scroll);
  }

  update() {
    this.lanes = lanesOf(this.run);
    replace(
      this.labels,
      this.lanes.rows.map((row) =>
        el('div', { class: 'lane-label', title: row.place }, oneLine(row.label, 40)),
      ),
    );
    this.draw();
  }

  setScale(byOrder) {
    this.byOrder = byOrder;
    this.setZoom(1);
  }

  setZoom(zoom) {
    this.zoom = Math.min(2000, Math.max(1, zoom));
    this.draw();
  }

  /** Zooms around the middle of the view, or around the current step if it is in view. */
  zoomBy(factor, at = 0.5) {
    const width = this.scroll.clientWidth;
    const middle = (this.scroll.scrollLeft + width * at) / (width * this.zoom);
    this.setZoom(this.zoom * factor);
    this.scroll.scrollLeft = middle * width * this.zoom - width * at;
    this.draw();
  }

  wheel(event) {
    if (!event.ctrlKey) return;
    event.preventDefault();
    const box = this.scroll.getBoundingClientRect();
    this.zoomBy(event.deltaY < 0 ? 1.25 : 0.8, (event.clientX - box.left) / box.width);
  }

  key(event) {
    if (event.key === '+' || event.key === '=') this.zoomBy(2);
    else if (event.key === '-') this.zoomBy(1 / 2);
    else if (event.key === '0') this.setZoom(1);
    else if (event.key === 'ArrowRight') this.scroll.scrollLeft += 80;
    else if (event.key === 'ArrowLeft') this.scroll.scrollLeft -= 80;
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  show(index) {
    this.current = index;
    const step = this.run.steps[index];
    if (!step || !this.lanes) return;

    const [from] = this.span(step);
    const x = from * this.scroll.clientWidth * this.zoom;
    const { scrollLeft, clientWidth } = this.scroll;
    if (x < scrollLeft || x > scrollLeft + clientWidth)
      this.scroll.scrollLeft = x - clientWidth / 3;
    this.mark();
  }

  /** Marks the current step, without drawing the others again. */
  mark() {
    const step = this.run.steps[this.current];
    const lane = step && this.lanes?.of.get(step.place);
    this.marker.toggleAttribute('hidden', lane === undefined);
    if (lane === undefined || this.scroll.clientWidth === 0) return;

    const whole = this.scroll.clientWidth * this.zoom;
    const [from, to] = this.span(step);
    const left = from * whole - this.scroll.scrollLeft;
    this.marker.setAttribute('x', left);
    this.marker.setAttribute('y', lane * LANE_HEIGHT + 3);
    this.marker.setAttribute('width', Math.max(SMALLEST_BAR, (to - from) * whole));
  }

  /** Returns where a step begins and ends, from 0 to 1. */
  span(step) {
    if (this.byOrder) {
      const steps = Math.max(1, this.run.steps.length);
      return [step.index / steps, (step.index + 0.9) / steps];
    }
    const whole = this.run.now || 1;
    return [step.at / whole, step.end / whole];
  }

  draw() {
    if (!this.lanes || this.scroll.clientWidth === 0) return;
    const view = { left: this.scroll.scrollLeft, width: this.scroll.clientWidth };
    const whole = view.width * this.zoom;
    const height = this.lanes.rows.length * LANE_HEIGHT + 20;

    this.space.style.width = `${whole}px`;
    this.space.style.height = `${height}px`;
    this.drawing.setAttribute('width', view.width);
    this.drawing.setAttribute('height', height);
    this.drawing.setAttribute(
      'aria-label',
      `${plural(this.run.steps.length, 'step')} in ${duration(this.run.now)}`,
    );
    this.drawing.style.transform = `translateX(${view.left}px)`;
    this.hits = [];
    this.drawing.replaceChildren(
      ...this.axis(view, whole, height),
      ...this.bars(view, whole),
      ...this.marks(view, whole, height),
      this.marker,
    );
    this.mark();
  }

  bars(view, whole) {
    const drawn = [];
    const ends = this.lanes.rows.map(() => -Infinity);
    for (const step of this.run.steps) {
      const lane = this.lanes.of.get(step.place);
      if (lane === undefined) continue;
      const [from, to] = this.span(step);
      const x = from * whole - view.left;
      const width = Math.max(SMALLEST_BAR, (to - from) * whole);
      if (x + width < 0 || x > view.width) continue;

      // Steps that share a pixel are one bar, so the number of elements depends on the width only.
      if (x + width <= ends[lane] + 0.5 && step.status !== 'failed') continue;
      ends[lane] = Math.max(ends[lane], Math.floor(x + width));
      drawn.push(...this.bar(step, lane, x, width, whole, view));
    }
    return drawn;
  }

  bar(step, lane, x, width, whole, view) {
    const y = lane * LANE_HEIGHT + 3;
    const left = Math.max(-2, x);
    const visibleWidth = Math.min(view.width + 2, x + width) - left;
    const bar = svg('rect', {
      x: left,
      y,
      width: Math.max(SMALLEST_BAR, visibleWidth),
      height: LANE_HEIGHT - 6,
      rx: Math.min(3, width / 2),
      class: `bar ${step.status} ${step.isFromJournal ? 'replayed' : ''}`,
    });
    this.hits.push({ left: x, right: x + width, lane, step });
    if (this.byOrder || width < 6) return [bar];

    const calls = step.calls.slice(0, 50).map((call) => {
      const callX = (call.at / (this.run.now || 1)) * whole - view.left;
      const callWidth = Math.max(1, ((call.took ?? 0) / (this.run.now || 1)) * whole);
      if (callX + callWidth < 0 || callX > view.width) return undefined;
      return svg('rect', {
        x: Math.max(-2, callX),
        y: y + 5,
        width: Math.min(view.width + 2, callX + callWidth) - Math.max(-2, callX),
        height: LANE_HEIGHT - 16,
        rx: 1,
        class: call.error ? 'call-bar failed' : 'call-bar',
      });
    });
    return [bar, ...calls.filter(Boolean)];
  }

  axis(view, whole, height) {
    const parts = [];
    const span = this.byOrder ? this.run.steps.length : this.run.now || 1;
    const tick = niceTick((span * 110) / whole, this.byOrder);
    const first = Math.floor(((view.left / whole) * span) / tick) * tick;
    for (
      let at = first;
      at <= ((view.left + view.width) / whole) * span && parts.length < 200;
      at += tick
    ) {
      const x = (at / span) * whole - view.left;
      parts.push(svg('line', { x1: x, x2: x, y1: 0, y2: height - 16, class: 'grid' }));
      const label = this.byOrder ? count(at + 1) : duration(at);
      if (x < view.width - 40)
        parts.push(
          svg(
            'text',
            { x: x + 3, y: height - 4, class: 'tick' },
            at === 0 && !this.byOrder ? '0' : label,
          ),
        );
    }
    return parts;
  }

  marks(view, whole, height) {
    if (this.byOrder) return [];
    let end = -Infinity;
    return this.run.resumes.map((resume) => {
      const x = (resume.at / (this.run.now || 1)) * whole - view.left;
      const text = `resumed after ${duration(resume.pause)}`;
      const hasRoom = x > end && x + textWidth(text) < view.width;
      if (hasRoom) end = x + textWidth(text);
      return svg(
        'g',
        { class: 'resume' },
        svg('line', { x1: x, x2: x, y1: 0, y2: height - 16 }),
        hasRoom && svg('text', { x: x + 4, y: 11 }, text),
      );
    });
  }

  click(event) {
    const box = this.drawing.getBoundingClientRect();
    const x = event.clientX - box.left;
    const lane = Math.floor((event.clientY - box.top) / LANE_HEIGHT);
    const near = this.hits.filter((hit) => hit.lane === lane);
    const distance = (hit) => Math.max(0, hit.left - x, x - hit.right);
    near.sort((a, b) => distance(a) - distance(b));
    if (near[0]) this.onselect(near[0].step);
  }
}

function lanesOf(run) {
  const of = new Map();
  const rows = [];
  for (const step of run.steps) {
    if (of.has(step.place)) continue;
    if (rows.length < MOST_LANES) rows.push({ parts: step.place.split('/').map(unescapeName) });
    of.set(step.place, rows.length - 1);
  }

  for (const row of rows) {
    row.place = row.parts.join('/');
    row.label = distinctEnd(row.parts, rows);
  }
  return { of, rows };
}

/** Returns the shortest end of a place that no other place has. */
function distinctEnd(parts, rows) {
  const end = (of, length) => of.slice(-length).join('/');
  let length = 1;
  const isSame = (row) => row.parts !== parts && end(row.parts, length) === end(parts, length);
  while (length < parts.length && rows.some(isSame)) length += 1;
  return end(parts, length);
}

/** Returns a distance between ticks of 1, 2 or 5 times a power of ten. */
function niceTick(least, isWhole) {
  const power = 10 ** Math.floor(Math.log10(least));
  const factor = [1, 2, 5, 10].find((candidate) => candidate * power >= least) ?? 10;
  return isWhole ? Math.max(1, Math.round(factor * power)) : factor * power;
}

function legend() {
  const entry = (className, text) =>
    el(
      'span',
      { class: 'legend-entry' },
      el('i', { class: `legend-mark ${className}` }),
      text,
    );
  return el(
    'p',
    { class: 'legend' },
    entry('bar-mark', 'step'),
    entry('call-mark', 'call to a model'),
    entry('failed-mark', 'failed'),
    entry('waiting-mark', 'waits'),
    entry('replayed-mark', 'from the journal'),
  );
}
