// Starts the page.

/** Waits until the page was painted, so that a test can measure how long it takes to open. */
function painted() {
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve));
  });
}

async function start() {
  const root = document.getElementById('app');
  try {
    const { header, events } = await readRecord(
      document.getElementById('record').textContent,
    );
    const app = new App(root, header);
    for (const event of events) app.apply(event);
    app.build();
    app.update();
    await painted();
    performance.mark('ready');
    document.documentElement.dataset.ready = 'true';
  } catch (error) {
    replace(
      root,
      el('p', { class: 'note bad' }, `The record could not be shown: ${error.message}`),
    );
    document.documentElement.dataset.ready = 'failed';
    throw error;
  }
}

start();
