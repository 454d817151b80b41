// An OpenAI-compatible HTTP server for one small local model. Started by scripts/local-model.
import { randomUUID } from "node:crypto";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { parseArgs } from "node:util";
import { ApiError, invalid } from "./errors.mjs";
import { loadModel } from "./model.mjs";
import { Queue } from "./queue.mjs";
import { readChatRequest } from "./request.mjs";

const MAX_BODY_BYTES = 2 * 1024 * 1024;
const MAX_REQUESTS = 8;
const RETRY_AFTER_SECONDS = 5;

const text = { type: "string" };
const { values: options } = parseArgs({ options: { library: text, model: text, id: text, port: text, state: text } });
const created = Math.floor(Date.now() / 1000);
const queue = new Queue(MAX_REQUESTS);
let model;

const routes = {
  "/health": { GET: health },
  "/v1/models": { GET: listModels },
  "/v1/chat/completions": { POST: completeChat },
};

function log(...words) {
  console.log(new Date().toISOString(), ...words);
}

function sendJson(response, status, body) {
  response.writeHead(status, { "content-type": "application/json", ...(status === 503 && { "retry-after": RETRY_AFTER_SECONDS }) });
  response.end(JSON.stringify(body));
}

async function route(request, response) {
  const path = request.url.split("?", 1)[0];
  const methods = Object.hasOwn(routes, path) ? routes[path] : undefined;
  if (methods === undefined) throw new ApiError(404, "not_found_error", `Unknown path; expected one of ${Object.keys(routes).join(", ")}.`);
  if (!Object.hasOwn(methods, request.method)) {
    throw new ApiError(405, "invalid_request_error", `${path} supports ${Object.keys(methods).join(", ")}.`);
  }
  await methods[request.method](request, response);
}

function health(_request, response) {
  // Not thrown as an error, because errors are logged and this path is requested several times a second.
  if (model === undefined) return sendJson(response, 503, loading().body());
  sendJson(response, 200, { status: "ok" });
}

function listModels(_request, response) {
  const { contextTokens } = loadedModel();
  const entry = { id: options.id, object: "model", created, owned_by: "local", meta: { n_ctx: contextTokens } };
  sendJson(response, 200, { object: "list", data: [entry] });
}

function loading() {
  return new ApiError(503, "unavailable_error", "The model is being loaded.");
}

function loadedModel() {
  if (model === undefined) throw loading();
  return model;
}

async function completeChat(request, response) {
  const gone = new AbortController();
  response.on("close", () => gone.abort(new Error("the client disconnected")));
  const started = Date.now();
  const chat = readChatRequest(await readJson(request), options.id);
  const loaded = loadedModel();
  const prompt = loaded.prompt(chat.messages);
  const grammar = await loaded.grammar(chat.constraint);
  await queue.run(gone.signal, async () => {
    const reply = chat.stream ? streamReply(response, chat.includeUsage) : wholeReply(response);
    reply.begin();
    const result = await loaded.generate(prompt, grammar, chat, reply.text, gone.signal);
    reply.end(result);
    const { usage, finishReason } = result;
    const cached = usage.prompt_tokens_details.cached_tokens;
    log(`prompt ${usage.prompt_tokens} (cached ${cached}) completion ${usage.completion_tokens} ${finishReason} ${Date.now() - started} ms`);
  });
}

async function readJson(request) {
  const chunks = [];
  let size = 0;
  // The body is read completely even if it is too long, because a client that is still sending does not read the
  // response. The request timeout of the server limits how long this takes.
  for await (const chunk of request) {
    size += chunk.length;
    if (size <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  if (size > MAX_BODY_BYTES) throw new ApiError(413, "invalid_request_error", `The body must be at most ${MAX_BODY_BYTES} bytes.`);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks)));
  } catch (error) {
    throw invalid(`The body is not JSON: ${error.message}`);
  }
}

function envelope(object) {
  return { id: `chatcmpl-${randomUUID()}`, object, created: Math.floor(Date.now() / 1000), model: options.id };
}

function wholeReply(response) {
  return {
    begin() {},
    text() {},
    end({ text, finishReason, usage }) {
      const choice = { index: 0, message: { role: "assistant", content: text }, finish_reason: finishReason };
      sendJson(response, 200, { ...envelope("chat.completion"), choices: [choice], usage });
    },
  };
}

function streamReply(response, includeUsage) {
  const head = envelope("chat.completion.chunk");
  const send = (chunk) => response.write(`data: ${JSON.stringify({ ...head, ...chunk })}\n\n`);
  const sendDelta = (delta, finish_reason = null) => send({ choices: [{ index: 0, delta, finish_reason }] });
  return {
    begin() {
      response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
      sendDelta({ role: "assistant", content: null });
    },
    text: (content) => sendDelta({ content }),
    end({ finishReason, usage }) {
      sendDelta({}, finishReason);
      if (includeUsage) send({ choices: [], usage });
      response.end("data: [DONE]\n\n");
    },
  };
}

function fail(request, response, error) {
  if (response.destroyed) return log("the client disconnected");
  const known = error instanceof ApiError ? error : new ApiError(500, "server_error", "Internal server error; see the log of the server.");
  log(request.method, request.url, known.status, known === error ? error.message : error);
  if (!response.headersSent) return sendJson(response, known.status, known.body());
  response.end(`data: ${JSON.stringify(known.body())}\n\n`);
}

const server = createServer({ requestTimeout: 60_000, keepAliveTimeout: 75_000 }, (request, response) => {
  route(request, response).catch((error) => fail(request, response, error));
});
server.on("error", (error) => {
  const busy = error.code === "EADDRINUSE";
  console.error(busy ? `port ${options.port} is in use; choose another one, or omit --port to use any free port` : error.message);
  process.exit(1);
});
server.listen({ host: "127.0.0.1", port: Number(options.port) }, async () => {
  // Tells the script the process id and the port. The file is renamed so that it is never read half written.
  const mine = `${process.pid} ${server.address().port}\n`;
  writeFileSync(`${options.state}.new`, mine);
  renameSync(`${options.state}.new`, options.state);
  process.on("exit", () => {
    try {
      if (readFileSync(options.state, "utf8") === mine) rmSync(options.state);
    } catch {
      // The file has already been removed.
    }
  });
  try {
    model = await loadModel(options.library, options.model);
    log(`ready on port ${server.address().port}`);
  } catch (error) {
    console.error(`cannot load the model: ${error.message}`);
    process.exit(1);
  }
});
// Node resets an inherited "ignore SIGHUP", so it is ignored here again, for when the terminal is closed.
process.on("SIGHUP", () => {});
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => process.exit(0));
