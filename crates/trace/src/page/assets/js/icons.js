// Icons as paths, since fonts differ in the symbols they have.

const ICONS = {
  first: 'M3 3h2v10H3z M13 3v10L6 8z',
  previous: 'M11 3v10L4.5 8z',
  play: 'M4 2.5v11L13.5 8z',
  pause: 'M4 3h3v10H4z M9 3h3v10H9z',
  next: 'M5 3v10l6.5-5z',
  last: 'M11 3h2v10h-2z M3 3v10l7-5z',
  plus: 'M7.2 3h1.600v4.200H13v1.600H8.800V13H7.200V8.800H3V7.200h4.200z',
  minus: 'M3 7.200h10v1.600H3z',
  everything: 'M2 3h1.600v10H2z M12.4 3H14v10h-1.600z M5 7.200h6v1.600H5z',
  theme:
    'M8 1.500a6.5 6.5 0 1 0 0 13a6.5 6.5 0 1 0 0-13z M8 3.100v9.800a4.9 4.9 0 0 1 0-9.800z',
  help: 'M7.1 11.200h1.800V13H7.100z M8 2.600c1.9 0 3.3 1.1 3.3 2.800c0 2.4-2.5 2.5-2.5 4.300H7.200c0-2.8 2.4-2.9 2.4-4.300c0-.7-.7-1.2-1.6-1.200c-1 0-1.7.6-1.8 1.600H4.600C4.7 3.9 6.1 2.6 8 2.600z',
};

function icon(name) {
  return svg(
    'svg',
    { class: 'icon', viewBox: '0 0 16 16', width: 16, height: 16, 'aria-hidden': 'true' },
    svg('path', { d: ICONS[name], 'fill-rule': 'evenodd' }),
  );
}

/** Creates a button with an icon and a name. */
function button(label, iconName, onclick, className = '') {
  return el(
    'button',
    {
      type: 'button',
      class: `icon-button ${className}`,
      'aria-label': label,
      title: label,
      onclick,
    },
    icon(iconName),
  );
}
