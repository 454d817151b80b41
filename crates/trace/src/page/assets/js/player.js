// The slider that replays a run step by step.

const PLAY_SECONDS = 12;
const SLOWEST_STEP = 0.7;

class Player {
  constructor({ run, onmove }) {
    this.run = run;
    this.onmove = onmove;
    this.at = 0;
    this.timer = undefined;

    this.range = el('input', {
      type: 'range',
      min: 0,
      max: 0,
      value: 0,
      step: 1,
      'aria-label': 'Step of the replay',
      class: 'player-range',
      oninput: () => this.stopAt(Number(this.range.value)),
    });
    this.playButton = button('Play', 'play', () => this.toggle(), 'play');
    this.where = el('span', { class: 'player-where' });
    this.element = el(
      'div',
      { class: 'player', role: 'group', 'aria-label': 'Replay' },
      button('First step', 'first', () => this.stopAt(0)),
      button('Previous step', 'previous', () => this.stopAt(this.at - 1)),
      this.playButton,
      button('Next step', 'next', () => this.stopAt(this.at + 1)),
      button('Last step', 'last', () => this.stopAt(this.last)),
      this.range,
      this.where,
    );
  }

  get last() {
    return Math.max(0, this.run.steps.length - 1);
  }

  update() {
    this.range.max = String(this.last);
    this.show();
  }

  stopAt(index) {
    this.stop();
    this.move(index);
  }

  move(index) {
    const to = Math.min(this.last, Math.max(0, index));
    this.at = to;
    this.show();
    this.onmove(to);
  }

  /** Moves the slider without calling `onmove`. */
  show(index = this.at) {
    this.at = index;
    const step = this.run.steps[index];
    this.range.value = String(index);
    const text = step
      ? `Step ${count(index + 1)} of ${count(this.run.steps.length)}: ${visibleString(step.node)}`
      : 'No steps';
    this.range.setAttribute('aria-valuetext', text);
    replace(this.where, `${count(index + 1)} / ${count(this.run.steps.length)}`);
  }

  toggle() {
    if (this.timer !== undefined) this.stop();
    else this.play();
  }

  play() {
    if (this.at >= this.last) this.move(0);
    setPlayLabel(this.playButton, 'Pause', 'pause');

    // Long runs skip steps, so that a replay takes a few seconds.
    const pause = Math.max(0.04, Math.min(SLOWEST_STEP, PLAY_SECONDS / (this.last + 1)));
    const stride = Math.max(1, Math.round(((this.last + 1) * pause) / PLAY_SECONDS));
    this.timer = setInterval(() => {
      this.move(this.at + stride);
      if (this.at >= this.last) this.stop();
    }, pause * 1000);
  }

  stop() {
    if (this.timer === undefined) return;
    clearInterval(this.timer);
    this.timer = undefined;
    setPlayLabel(this.playButton, 'Play', 'play');
  }
}

function setPlayLabel(node, label, iconName) {
  node.setAttribute('aria-label', label);
  node.setAttribute('title', label);
  replace(node, icon(iconName));
}
