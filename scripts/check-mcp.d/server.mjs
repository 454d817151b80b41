import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** How long to wait for an answer, in milliseconds. Some messages are not answered. */
const PATIENCE = 10_000;

/** A server over stdio. */
export class Server {
  static async start(command) {
    const [program, ...args] = command.split(' ');
    const env = { ...process.env, DISABLE_THOUGHT_LOGGING: 'true' };
    const child = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'ignore'] });
    return new Server(child);
  }

  constructor(child) {
    this.child = child;
    this.lines = createInterface({ input: child.stdout });
    this.answered = () => {};
    this.lines.on('line', (line) => this.answered(JSON.parse(line)));
  }

  /** Sends a message, and returns its answer without the parts that all answers have. */
  async ask(message) {
    const answer = new Promise((resolve) => (this.answered = resolve));
    this.child.stdin.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`);
    if (typeof message === 'object' && message.id === undefined) return null;

    const late = new Promise((resolve) => setTimeout(resolve, PATIENCE, { silent: true }).unref());
    const { jsonrpc, id, ...rest } = await Promise.race([answer, late]);
    return rest;
  }

  stop() {
    this.child.kill();
  }
}
