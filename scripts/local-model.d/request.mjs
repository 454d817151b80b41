// Validates the untrusted body of a chat completion request.
import { invalid } from "./errors.mjs";
import { checkSchema } from "./schema.mjs";

const MAX_MESSAGES = 10_000;
const MAX_STOPS = 16;
const MAX_STOP_LENGTH = 256;
// The grammar parser is recursive native code. The limit keeps it from overflowing the stack.
const MAX_GRAMMAR_LENGTH = 8 * 1024;
// ChatML has three roles; newer clients use `developer` for the system.
const ROLES = { system: "system", developer: "system", user: "user", assistant: "assistant" };
// Fields that would change the reply and that this server does not support. Other unknown fields are ignored.
const REFUSED = ["tools", "functions", "logprobs", "audio"];

export function readChatRequest(body, modelId) {
  if (!isObject(body)) throw invalid("The body must be a JSON object.");
  if (body.model != null && body.model !== modelId) throw invalid(`'model' must be '${modelId}', the only model of this server.`);
  for (const name of REFUSED) {
    const given = body[name];
    if (given != null && given !== false && given.length !== 0) throw invalid(`'${name}' is not supported by this server.`);
  }
  if (body.n != null && body.n !== 1) throw invalid("'n' must be 1; this server returns one choice.");
  return {
    messages: readMessages(body.messages),
    maxTokens: number(body, "max_completion_tokens", 1, 1e6, Number.isInteger) ?? number(body, "max_tokens", 1, 1e6, Number.isInteger),
    temperature: number(body, "temperature", 0, 2) ?? 0.8,
    topP: number(body, "top_p", 0, 1) ?? 0.95,
    topK: number(body, "top_k", 0, 1e6, Number.isInteger) ?? 40,
    minP: number(body, "min_p", 0, 1) ?? 0.05,
    seed: number(body, "seed", 0, 2 ** 32 - 1, Number.isInteger),
    stop: readStops(body.stop),
    constraint: readConstraint(body),
    stream: boolean(body, "stream"),
    includeUsage: isObject(body.stream_options) && boolean(body.stream_options, "include_usage"),
  };
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function number(body, name, min, max, accepts = Number.isFinite) {
  const value = body[name];
  if (value == null) return undefined;
  if (!accepts(value) || value < min || value > max) {
    throw invalid(`'${name}' must be ${accepts === Number.isInteger ? "a whole number" : "a number"} from ${min} to ${max}.`);
  }
  return value;
}

function boolean(body, name) {
  const value = body[name] ?? false;
  if (typeof value !== "boolean") throw invalid(`'${name}' must be true or false.`);
  return value;
}

function readMessages(messages) {
  if (!Array.isArray(messages) || messages.length === 0 || messages.length > MAX_MESSAGES) {
    throw invalid(`'messages' must be a list of 1 to ${MAX_MESSAGES} messages.`);
  }
  return messages.map((message, index) => {
    const role = isObject(message) && Object.hasOwn(ROLES, message.role) ? ROLES[message.role] : undefined;
    if (role === undefined) throw invalid(`'messages[${index}].role' must be one of ${Object.keys(ROLES).join(", ")}.`);
    return { role, content: readContent(message.content, index) };
  });
}

function readContent(content, index) {
  if (typeof content === "string") return content;
  const isText = (part) => isObject(part) && part.type === "text" && typeof part.text === "string";
  if (Array.isArray(content) && content.every(isText)) return content.map((part) => part.text).join("");
  throw invalid(`'messages[${index}].content' must be a string or a list of text parts.`);
}

function readStops(stop) {
  const stops = stop == null ? [] : Array.isArray(stop) ? stop : [stop];
  const isStop = (text) => typeof text === "string" && text.length > 0 && text.length <= MAX_STOP_LENGTH;
  if (stops.length > MAX_STOPS || !stops.every(isStop)) {
    throw invalid(`'stop' must be a string or up to ${MAX_STOPS} strings, each of 1 to ${MAX_STOP_LENGTH} characters.`);
  }
  return stops;
}

/** Returns what the reply must match: `undefined`, `{ grammar }`, `{ schema }`, or `{ json: true }`. */
function readConstraint({ grammar, response_format: format }) {
  if (format != null && !isObject(format)) throw invalid("'response_format' must be an object.");
  const type = format?.type ?? "text";
  if (grammar != null) {
    if (typeof grammar !== "string" || grammar.length > MAX_GRAMMAR_LENGTH) {
      throw invalid(`'grammar' must be a GBNF grammar of at most ${MAX_GRAMMAR_LENGTH} characters.`);
    }
    if (type !== "text") throw invalid("'grammar' and 'response_format' cannot both be given.");
    return { grammar };
  }
  const schema = type === "json_schema" ? (format.json_schema?.schema ?? format.schema) : format?.schema;
  switch (type) {
    case "text":
      return undefined;
    case "json_object":
      return schema == null ? { json: true } : { schema: checkSchema(schema) };
    case "json_schema":
      return { schema: checkSchema(schema) };
    default:
      throw invalid("'response_format.type' must be text, json_object or json_schema.");
  }
}
