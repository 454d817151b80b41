// The keys of the page, and a dialog that lists them.

const KEYS = [
  ['← →', 'previous and next step of the replay'],
  ['Space', 'play or pause the replay'],
  ['j k', 'next and previous entry of the list'],
  ['↑ ↓', 'the same, inside the list'],
  ['1 … 6', 'thoughts, steps and the other lists'],
  ['/', 'search'],
  ['+ − 0', 'zoom the timeline, inside it'],
  ['t', 'light or dark'],
  ['?', 'this help'],
  ['Esc', 'close'],
];

function helpDialog() {
  const dialog = el(
    'dialog',
    { class: 'help', 'aria-labelledby': 'help-title' },
    el('h2', { id: 'help-title' }, 'Keys'),
    el(
      'dl',
      {},
      KEYS.map(([keys, what]) =>
        el(
          'div',
          {},
          el(
            'dt',
            {},
            keys.split(' ').map((key) => el('kbd', {}, key)),
          ),
          el('dd', {}, what),
        ),
      ),
    ),
    el(
      'button',
      { type: 'button', class: 'plain-button', onclick: () => dialog.close() },
      'Close',
    ),
  );
  return dialog;
}

function isTyping(target) {
  return (
    target instanceof Element &&
    target.closest('input:not([type=range]), select, textarea, dialog[open]') !== null
  );
}

function installKeys(app) {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    const isOnButton =
      event.target instanceof Element &&
      event.target.closest('button, summary, input') !== null;
    if (isOnButton && event.key === ' ') return;
    const isOnRange = event.target instanceof HTMLInputElement;
    if (isOnRange && event.key.startsWith('Arrow')) return;

    const action = keyAction(app, event.key);
    if (!action) return;
    event.preventDefault();
    action();
  });
}

function keyAction(app, key) {
  if (/^[1-9]$/.test(key)) return () => app.contents.show(Number(key) - 1);
  return {
    ArrowLeft: () => app.player.stopAt(app.player.at - 1),
    ArrowRight: () => app.player.stopAt(app.player.at + 1),
    ' ': () => app.player.toggle(),
    j: () => app.contents.move(1),
    k: () => app.contents.move(-1),
    '/': () => app.search.input.focus(),
    t: toggleTheme,
    '?': () => app.help.showModal(),
  }[key];
}
