// A form for a JSON Schema. A field is { element, read() }; `read` returns the value, `undefined` if
// it is left out, and throws an error that says what is wrong.

const DEEPEST_FIELD = 6;
const MOST_FIELDS = 200;
let fieldNumber = 0;

/** Returns a form for a schema; a field for any JSON if the schema has none that it knows. */
function formOf(schema) {
  const root = schema && typeof schema === 'object' ? schema : {};
  return fieldOf({ schema: root, root, depth: 0, name: 'Answer', isRequired: true });
}

function fieldOf(place) {
  const schema = resolved(place.schema, place.root);
  if (schema === undefined || place.depth > DEEPEST_FIELD) return jsonField(place);

  const found = { ...place, schema };
  const choices = choicesOf(schema);
  if (choices) return choiceField(found, choices);

  const inner = withoutNull(schema, place.root);
  if (inner) {
    const { title, description } = schema;
    return fieldOf({ ...place, schema: { title, description, ...inner }, isNullable: true, isRequired: false });
  }

  // The first kind of answer is the one for people if the others have no form.
  const [first, ...others] = schema.type === undefined ? (schema.anyOf ?? []) : [];
  const hasForm = (other) => resolved(other, place.root)?.type !== undefined;
  if (first && !others.some(hasForm)) return fieldOf({ ...place, schema: first, depth: place.depth + 1 });

  switch (schema.type) {
    case 'string':
      return textField(found);
    case 'number':
    case 'integer':
      return numberField(found);
    case 'boolean':
      return choiceField(found, [{ value: true, label: 'Yes' }, { value: false, label: 'No' }]);
    case 'object':
      return objectField(found);
    case 'array':
      return arrayField(found);
    default:
      return jsonField(found);
  }
}

/** Follows references inside the schema. */
function resolved(schema, root) {
  let found = schema;
  for (let steps = 0; steps < 20; steps += 1) {
    if (!found || typeof found !== 'object') return undefined;
    if (typeof found.$ref !== 'string') return found;
    if (!found.$ref.startsWith('#/')) return undefined;

    const { $ref, ...around } = found;
    const parts = $ref.slice(2).split('/').map((part) => part.replace(/~1/g, '/').replace(/~0/g, '~'));
    const target = parts.reduce((value, part) => (value && Object.hasOwn(value, part) ? value[part] : undefined), root);
    found = target && { ...target, ...around };
  }
  return undefined;
}

/** Returns the values to choose from, if the schema lists them. */
function choicesOf(schema) {
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => choice(value));
  if (Object.hasOwn(schema, 'const')) return [choice(schema.const)];

  const options = schema.oneOf ?? schema.anyOf;
  if (!Array.isArray(options) || options.length === 0) return undefined;
  if (!options.every((option) => option && Object.hasOwn(option, 'const'))) return undefined;
  return options.map((option) => choice(option.const, option.title ?? option.description));
}

function choice(value, label) {
  return { value, label: label ?? (typeof value === 'string' ? value : JSON.stringify(value)) };
}

/** Returns the schema of the other value, if `null` is one of two. */
function withoutNull(schema, root) {
  if (Array.isArray(schema.type) && schema.type.length === 2 && schema.type.includes('null')) {
    return { ...schema, type: schema.type.find((type) => type !== 'null') };
  }

  const options = schema.anyOf ?? schema.oneOf;
  if (!Array.isArray(options) || options.length !== 2) return undefined;
  const others = options.filter((option) => resolved(option, root)?.type !== 'null');
  return others.length === 1 ? resolved(others[0], root) : undefined;
}

/** Returns a control with its label and description. */
function labelled(place, control) {
  fieldNumber += 1;
  const id = `field-${fieldNumber}`;
  control.id = id;
  const description = place.schema?.description;
  if (description) control.setAttribute('aria-describedby', `${id}-about`);

  const name = place.schema?.title ?? place.name;
  return el(
    'div',
    { class: 'field' },
    el('label', { for: id }, el('bdi', {}, name), !place.isRequired && el('span', { class: 'muted' }, ' (optional)')),
    description && el('p', { class: 'field-about', id: `${id}-about`, dir: 'auto' }, description),
    control,
  );
}

function nothing(place) {
  if (place.isRequired) throw new Error(`“${place.schema?.title ?? place.name}” is missing`);
  return place.isNullable ? null : undefined;
}

function choiceField(place, choices) {
  const options = choices.map(({ label }, index) => el('option', { value: index }, label));
  const control = el('select', {}, el('option', { value: '' }, '–'), options);
  const preset = choices.findIndex(({ value }) => JSON.stringify(value) === JSON.stringify(place.schema.default));
  if (preset >= 0) control.value = String(preset);
  else if (choices.length === 1 && place.isRequired) control.value = '0';

  return {
    element: labelled(place, control),
    read: () => (control.value === '' ? nothing(place) : choices[Number(control.value)].value),
  };
}

function textField(place) {
  const { schema } = place;
  const isShort = schema.maxLength <= 120 || ['email', 'date', 'uri', 'uuid', 'time', 'date-time'].includes(schema.format);
  const control = isShort ? el('input', { type: 'text' }) : el('textarea', { rows: 3 });
  control.dir = 'auto';
  if (schema.maxLength) control.maxLength = schema.maxLength;
  if (typeof schema.default === 'string') control.value = schema.default;

  return {
    element: labelled(place, control),
    read() {
      if (control.value !== '') return control.value;
      return place.isRequired && !(schema.minLength > 0) ? '' : nothing(place);
    },
  };
}

function numberField(place) {
  const { schema } = place;
  const isInteger = schema.type === 'integer';
  const control = el('input', { type: 'text', inputmode: isInteger ? 'numeric' : 'decimal', placeholder: rangeOf(schema) });
  if (typeof schema.default === 'number') control.value = String(schema.default);

  return {
    element: labelled(place, control),
    read() {
      const text = control.value.trim();
      if (text === '') return nothing(place);
      const number = Number(text);
      const isWrong = !Number.isFinite(number) || (isInteger && !Number.isInteger(number));
      if (isWrong) throw new Error(`“${text}” isn't ${isInteger ? 'a whole number' : 'a number'}`);
      return number;
    },
  };
}

function rangeOf({ minimum, maximum }) {
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}`;
  if (minimum !== undefined) return `at least ${minimum}`;
  return maximum !== undefined ? `at most ${maximum}` : undefined;
}

/**
 * Returns the properties in the order of the schema. Many programs sort them, but not the list of
 * those that are required; so if they are sorted, these come first, in the order of that list.
 */
function orderedProperties({ properties, required }) {
  const entries = Object.entries(properties ?? {});
  const isSorted = entries.every(([name], index) => index === 0 || entries[index - 1][0] < name);
  if (!isSorted || !Array.isArray(required)) return entries;

  const places = new Map(required.map((name, place) => [name, place]));
  const placeOf = ([name]) => places.get(name) ?? required.length;
  return entries.sort((one, other) => placeOf(one) - placeOf(other));
}

function objectField(place) {
  const { schema } = place;
  const properties = orderedProperties(schema);
  if (properties.length === 0 || properties.length > MOST_FIELDS) return jsonField(place);

  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const fields = properties.map(([name, inner]) => {
    const isRequired = required.has(name);
    const { root, depth } = place;
    return { name, ...optional(isRequired, { schema: inner, root, depth: depth + 1, name, isRequired }) };
  });

  return {
    element: group(place, fields.map(({ element }) => element)),
    read() {
      const values = fields.map(({ name, read }) => [name, read()]);
      return Object.fromEntries(values.filter(([, value]) => value !== undefined));
    },
  };
}

/** Returns a field that is added with a button if it may be left out and is a group itself. */
function optional(isRequired, place) {
  const schema = resolved(place.schema, place.root) ?? {};
  const inner = withoutNull(schema, place.root) ?? schema;
  const isGroup = inner.type === 'object' || inner.type === 'array';
  if (isRequired || !isGroup) return fieldOf(place);

  let field;
  const element = el('div', { class: 'field' });
  const show = () => {
    const label = field ? `Leave out ${place.name}` : `Add ${place.name}`;
    const toggle = el('button', { type: 'button', class: 'plain-button', onclick: () => {
      field = field ? undefined : fieldOf({ ...place, schema: inner, isRequired: true });
      show();
    } }, label);
    replace(element, field?.element, toggle);
  };
  show();
  return { element, read: () => field?.read() };
}

function arrayField(place) {
  const { schema } = place;
  const inner = schema.items ?? {};
  const items = [];
  const list = el('div', { class: 'field-items' });
  const most = Math.min(schema.maxItems ?? MOST_FIELDS, MOST_FIELDS);

  const add = () => {
    if (items.length >= most) return;
    const name = `${place.name} ${items.length + 1}`;
    const { root, depth } = place;
    const field = fieldOf({ schema: inner, root, depth: depth + 1, name, isRequired: true });
    const entry = { ...field };
    const remove = plainButton('Remove', () => {
      items.splice(items.indexOf(entry), 1);
      entry.row.remove();
    });
    remove.setAttribute('aria-label', `Remove ${name}`);
    entry.row = el('div', { class: 'field-item' }, field.element, remove);
    items.push(entry);
    list.append(entry.row);
  };
  for (let index = 0; index < Math.min(schema.minItems ?? 0, most); index += 1) add();

  const button = el('button', { type: 'button', class: 'plain-button', onclick: add }, `Add to ${schema.title ?? place.name}`);
  return { element: group(place, [list, button]), read: () => items.map(({ read }) => read()) };
}

function group(place, content) {
  const { schema } = place;
  return el(
    'fieldset',
    { class: 'field-group' },
    el('legend', {}, el('bdi', {}, schema.title ?? place.name)),
    schema.description && el('p', { class: 'field-about', dir: 'auto' }, schema.description),
    content,
  );
}

function jsonField(place) {
  const control = el('textarea', { rows: 4, class: 'raw', spellcheck: 'false', placeholder: 'JSON, or else a text' });
  return {
    element: labelled({ ...place, schema: resolved(place.schema, place.root) }, control),
    read() {
      const text = control.value.trim();
      if (text === '') return nothing(place);
      try {
        return JSON.parse(text);
      } catch {
        return text;
      }
    },
  };
}
