// Values of reports, which may be of any type in those of a program.

/** Returns a text, with other values as JSON. */
function textOf(value) {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
}

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
