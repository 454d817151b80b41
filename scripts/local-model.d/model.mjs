// The language model: ChatML in, text out, one generation at a time.
import { createRequire } from "node:module";
import { randomInt } from "node:crypto";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ApiError, invalid } from "./errors.mjs";

// The context length that the model was trained with. The prefix of a growing conversation is cached, so a
// long context costs memory (200 MB) but little time.
const CONTEXT_TOKENS = 8192;
// The number of prompt tokens evaluated between two checks of the abort signal, which takes one to four seconds.
const PROMPT_CHUNK = 128;

/** Loads the model file `path` with the node-llama-cpp that is installed in the folder `library`. */
export async function loadModel(library, path) {
  const entry = createRequire(join(library, "package.json")).resolve("node-llama-cpp");
  const { getLlama, LlamaCompletion } = await import(pathToFileURL(entry));
  // With two threads on cores that do other work, the threads wait for each other, at a tenth of the speed.
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
   * Returns the messages as a ChatML prompt, in tokens. Only the markers around a message become control
   * tokens; the same markers inside its text are plain characters.
   *
   * Throws an `ApiError` if the prompt leaves no room for a reply.
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
        `The request has ${prompt.length} tokens, but the context has room for ${this.contextTokens}, including the reply.`,
        { n_prompt_tokens: prompt.length, n_ctx: this.contextTokens },
      );
    }
    return prompt;
  }

  /** Compiles the constraint that the reply must match. */
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

  /** Generates the reply to `prompt`, and calls `onText` with each piece. Must not be called concurrently. */
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
      // The default penalty for repetition would also apply to the dashes of YAML and the braces of JSON.
      repeatPenalty: false,
      // A full context ends the reply. By default, the library would drop the start of the conversation,
      // and truncate any prompt that fills more than nine tenths of the context.
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
   * Evaluates all but the last token of the prompt, reuses the prefix shared with the previous request, and
   * returns the number of reused tokens. The library would do the same, but could not be interrupted.
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
