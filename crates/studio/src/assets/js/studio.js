// Chooses the page from the address.

function themeButton() {
  return button('Light or dark', 'theme', toggleTheme);
}

function homeLink() {
  return el('a', { href: '/' }, '← All runs');
}

async function startStudio() {
  const root = document.getElementById('studio');
  const query = new URLSearchParams(location.search);
  try {
    if (query.has('run')) new RunPage(root, query.get('run'));
    else if (query.has('compare')) new ComparePage(root, query.get('compare'), query.get('with') ?? '');
    else new ListPage(root, (await call('/api/flows')).flows);
  } catch (error) {
    replace(root, errorNote(error.message));
    document.documentElement.dataset.ready = 'failed';
  }
}

startStudio();
