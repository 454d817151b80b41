// Checks that the library can enforce a JSON schema. The library ignores keywords that it does not support,
// so a reply could violate the schema unnoticed. Such schemas are refused instead.
import { invalid } from "./errors.mjs";

const MAX_LENGTH = 64 * 1024;
const MAX_DEPTH = 64;
const REFS = "#/$defs/";
const LISTS_OF_SCHEMAS = ["oneOf", "prefixItems"];
const MAPS_OF_SCHEMAS = ["properties", "$defs"];
const REFUSED = [
  "allOf", "not", "if", "then", "else", "pattern", "patternProperties", "propertyNames", "dependentSchemas", "contains",
  "uniqueItems", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "definitions",
];

/**
 * Returns the schema in the form that the library accepts. The grammar is stricter than the schema in two ways,
 * and replies remain valid: all properties are written, required or not, and no additional ones.
 */
export function checkSchema(schema) {
  // Parsed JSON has no cycles, so the schema can be serialised to measure its length.
  if (schema != null && JSON.stringify(schema).length > MAX_LENGTH) {
    throw invalid(`The JSON schema must be at most ${MAX_LENGTH} characters.`);
  }
  return check(schema, "schema", 0);
}

function check(schema, place, depth) {
  if (depth > MAX_DEPTH) throw invalid(`'${place}' is nested deeper than ${MAX_DEPTH} levels.`);
  for (const keyword of REFUSED) {
    if (Object.hasOwn(objectAt(schema, place), keyword)) throw invalid(`'${place}.${keyword}' is a JSON schema keyword that this server cannot enforce.`);
  }
  const { anyOf, ...known } = schema;
  if (anyOf !== undefined) known.oneOf ??= anyOf; // a grammar does not distinguish the two
  if (known.$ref !== undefined && !String(known.$ref).startsWith(REFS)) throw invalid(`'${place}.$ref' must start with '${REFS}'.`);
  for (const keyword of LISTS_OF_SCHEMAS) {
    if (known[keyword] === undefined) continue;
    if (!Array.isArray(known[keyword])) throw invalid(`'${place}.${keyword}' must be a list of schemas.`);
    known[keyword] = known[keyword].map((item, index) => check(item, `${place}.${keyword}[${index}]`, depth + 1));
  }
  for (const keyword of MAPS_OF_SCHEMAS) {
    if (known[keyword] === undefined) continue;
    const map = objectAt(known[keyword], `${place}.${keyword}`);
    known[keyword] = Object.fromEntries(Object.entries(map).map(([name, item]) => [name, check(item, `${place}.${keyword}.${name}`, depth + 1)]));
  }
  if (known.items !== undefined) known.items = check(known.items, `${place}.items`, depth + 1);
  if (typeof known.additionalProperties === "object") {
    known.additionalProperties = check(known.additionalProperties, `${place}.additionalProperties`, depth + 1);
  }
  return known;
}

function objectAt(value, place) {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw invalid(`'${place}' must be an object.`);
}
