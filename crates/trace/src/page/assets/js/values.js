// Values of reports, which may be of any type in a record that was edited.

/** Returns a finite number, or `undefined`. */
function asNumber(value) {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** Returns a text, with other values as JSON, or `undefined` if there is none. */
function asText(value) {
  if (value === undefined || value === null) return undefined;
  return textOf(value);
}

function textOf(value) {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
}

/** Returns a list, which is empty for other values. */
function asList(value) {
  return Array.isArray(value) ? value : [];
}

/** Returns the objects of a list. */
function asObjects(value) {
  return asList(value).filter(isObject);
}

/** Returns an object, which is empty for other values. */
function asObject(value) {
  return isObject(value) ? value : {};
}

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
