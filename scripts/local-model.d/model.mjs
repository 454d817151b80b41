// The language model: ChatML in, text out, one generation at a time.
import { createRequire } from "node:module";
import { randomInt } from "node:crypto";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ApiError, invalid } from "./errors.mjs";

// What the model was trained for. One conversation grows by appending and its prefix is kept, so a
// long context costs memory (200 MB), not time.
const CONTEXT_TOKENS = 8192;
// Prompt tokens evaluated between two looks at the abort signal: one to four seconds' worth.
const PROMPT_CHUNK = 128;

/** Loads the model file `path` with the node-llama-cpp installed in the folder `library`. */
export async function loadModel(library, path) {
  const entry = createRequire(join(library, "package.json")).resolve("node-llama-cpp");
  const { getLlama, LlamaCompletion } = await import(pathToFileURL(entry));
  // One thread: two that share their cores with other work wait for each other, at a tenth of the speed.
  const llama = await getLlama({ gpu: false, build: "never", skipDownload: true, maxThreads: 1, logLevel: "warn" });
  const model = await llama.loadModel({ modelPath: path });
  const context = await model.createContext({ contextSize: CONTEXT_TOKENS, threads: 1 });
  return new Model(llama, model, context.getSequence(), LlamaCompletion);
}

class Model {
  constructor(llama, model, sequence, LlamaCompletion) {
    this.llama = llama;
    this.model = model;
    this.sequence = sequence;
    this.completion = new LlamaCompletion({ contextSequence: sequence });
    this.contextTokens = sequence.contextSize;
  }

  /**
   * The messages as a ChatML prompt, in tokens. Only the marks around a message may become control
   * tokens; the same marks inside its text are read as plain characters.
   *
   * Throws an `ApiError` when the prompt leaves no room for a reply.
   */
  prompt(messages) {
    const open = this.model.tokenize("<|im_start|>", true);
    const close = [...this.model.tokenize("<|im_end|>", true), ...this.model.tokenize("\n")];
    const tokens = messages.flatMap(({ role, content }) => [...open, ...this.model.tokenize(`${role}\n${content}`), ...close]);
    const prompt = [...tokens, ...open, ...this.model.tokenize("assistant\n")];
    if (prompt.length >= this.contextTokens) {
      throw new ApiError(
        400,
        "exceed_context_size_error",
        `The request takes ${prompt.length} tokens, but the context holds ${this.contextTokens}, reply included.`,
        { n_prompt_tokens: prompt.length, n_ctx: this.contextTokens },
      );
    }
    return prompt;
  }

  /** Compiles what a reply must match. */
  async grammar(constraint) {
    if (constraint === undefined) return undefined;
    if (constraint.json) return await this.llama.getGrammarFor("json");
    try {
      return constraint.schema !== undefined
        ? await this.llama.createGrammarForJsonSchema(constraint.schema)
        : await this.llama.createGrammar({ grammar: constraint.grammar });
    } catch (error) {
      throw invalid(`The ${constraint.schema !== undefined ? "JSON schema" : "grammar"} cannot be used: ${error.message}`);
    }
  }

  /** Generates the reply to `prompt`, calling `onText` with each piece. Must not be called twice at once. */
  async generate(prompt, grammar, request, onText, signal) {
    const cached = await this.evaluatePrompt(prompt, signal);
    const before = this.sequence.tokenMeter.getState();
    const { response, metadata } = await this.completion.generateCompletionWithMeta(prompt, {
      maxTokens: request.maxTokens,
      temperature: request.temperature,
      topP: request.topP,
      topK: request.topK,
      minP: request.minP,
      seed: request.seed ?? randomInt(2 ** 32),
      customStopTriggers: request.stop,
      grammar,
      // The library's default penalty falls on YAML's dashes and JSON's braces like on any repetition.
      repeatPenalty: false,
      // A full context ends the reply. By default the library would drop the start of the conversation,
      // and would already cut a prompt that fills more than nine tenths.
      disableContextShift: true,
      contextShiftSize: 1,
      onTextChunk: onText,
      signal,
    });
    const generated = this.sequence.tokenMeter.diff(before).usedOutputTokens;
    return {
      text: response,
      finishReason: metadata.stopReason === "maxTokens" ? "length" : "stop",
      usage: {
        prompt_tokens: prompt.length,
        completion_tokens: generated,
        total_tokens: prompt.length + generated,
        prompt_tokens_details: { cached_tokens: cached },
      },
    };
  }

  /**
   * Evaluates all but the prompt's last token, keeping what the last request's tokens share with it,
   * and says how many were kept. The library would do the same inside, but could not be stopped meanwhile.
   */
  async evaluatePrompt(prompt, signal) {
    const head = prompt.slice(0, -1);
    await this.sequence.adaptStateToTokens(head, false);
    const cached = this.sequence.nextTokenIndex;
    for (let start = cached; start < head.length; start += PROMPT_CHUNK) {
      signal.throwIfAborted();
      await this.sequence.evaluateWithoutGeneratingNewTokens(head.slice(start, start + PROMPT_CHUNK));
    }
    return cached;
  }
}
