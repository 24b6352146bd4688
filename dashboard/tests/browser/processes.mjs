// Programs that run beside a test, each of which ends with it.
import { spawn } from 'node:child_process';
import { createWriteStream, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

export const kPatienceMs = 120000;

export async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Asks until the answer is something; fails with `what` when that takes too long. */
export async function until(what, ask, patienceMs = kPatienceMs) {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    if (Date.now() > deadline) throw new Error(`not in ${patienceMs / 1000} s: ${what}`);
    await pause(50);
  }
}

export class Program {
  constructor(command, args, { cwd, log }) {
    this.log = log;
    const output = createWriteStream(log, { flags: 'a' });
    this.child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    this.child.stdout.pipe(output);
    this.child.stderr.pipe(output);
    this.ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.once('error', (error) => { this.problem = error; });
    this.running = true;
    this.ended.then(() => { this.running = false; });
  }
  said() {
    try { return readFileSync(this.log, 'utf8'); } catch { return ''; }
  }
  async says(words) {
    await until(`${this.log} says “${words}”; it says: ${this.said().slice(-400)}`, () => {
      if (this.problem) throw this.problem;
      if (!this.running) throw new Error(`${this.log}: ended early: ${this.said().slice(-800)}`);
      return this.said().includes(words);
    });
  }
  signal(name) {
    this.child.kill(name);
  }
  async end(name = 'SIGTERM') {
    if (!this.running) return;
    this.signal(name);
    if (name !== 'SIGKILL') this.signal('SIGCONT');
    const late = setTimeout(() => this.signal('SIGKILL'), 15000);
    await this.ended;
    clearTimeout(late);
  }
}
