// A whole fleet on this machine, as an operator makes one: broker, gateway, clients, and some that lie. The model and
// the data are small, so that a slow machine can run it.
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, Program, until } from './processes.mjs';

const kFeatures = 8;
const kClasses = 3;

/** Normal numbers that are the same in every run. */
function normals(seed) {
  let state = seed >>> 0;
  const uniform = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state + 1) / (2 ** 32 + 1);
  };
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}

/** Three clouds that overlap. */
function samples(count, seed) {
  const normal = normals(seed);
  const rows = [`${Array.from({ length: kFeatures }, (_, i) => `x${i}`).join(',')},label`];
  for (let i = 0; i < count; i += 1) {
    const label = i % kClasses;
    rows.push(`${Array.from({ length: kFeatures }, (_, f) => (normal() * 1.1 + (f % kClasses === label ? 1 : 0)).toFixed(4)).join(',')},${label}`);
  }
  return `${rows.join('\n')}\n`;
}

export class RealFleet {
  /** `programs`: the folder with aflguard and its siblings. `interval`: seconds between two updates of a client. */
  constructor(programs, { honest = 5, malicious = 1, interval = 1, learningRate = 0.0002 } = {}) {
    this.learningRate = learningRate;
    this.programs = programs;
    this.honest = honest;
    this.malicious = malicious;
    this.interval = interval;
    this.folder = mkdtempSync(join(tmpdir(), 'aflguard-dashboard-'));
    this.clients = new Map();
  }

  aflguard(...args) {
    return execFileSync(join(this.programs, 'aflguard'), args, { cwd: this.folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  }
  path(...parts) {
    return join(this.folder, 'fleet', ...parts);
  }
  program(name, args, log) {
    return new Program(name.startsWith('/') ? name : join(this.programs, name), args, { cwd: this.folder, log: join(this.folder, log) });
  }
  edit(file, ...changes) {
    let text = readFileSync(file, 'utf8');
    for (const [from, to] of changes) {
      if (!text.match(from)) throw new Error(`${file} has no ${from}`);
      text = text.replace(from, to);
    }
    writeFileSync(file, text);
  }

  async make() {
    this.port = await freePort();
    this.webPort = await freePort();
    this.aflguard('model', 'build', '--zoo', 'logistic-regression', '--features', String(kFeatures), '--classes', String(kClasses), '-o', 'model');
    this.aflguard('fleet', 'init', 'fleet', '--name', 'greenhouse', '--broker-port', String(this.port), '--dashboard-port', String(this.webPort), '--model', 'model');
    writeFileSync(this.path('gateway', 'trusted.csv'), samples(300, 1));
    writeFileSync(this.path('gateway', 'validation.csv'), samples(1500, 2));
    this.edit(this.path('gateway', 'gateway.toml'), [/learning_rate = .*/, `learning_rate = ${this.learningRate}`]);
    appendFileSync(this.path('gateway', 'gateway.toml'), '\n[evaluation]\nformat = "csv"\nfile = "validation.csv"\nlabel_column = "last"\nheader = true\ninterval_seconds = 2\n');
    for (let i = 1; i <= this.honest + this.malicious; i += 1) this.enrol(`pi-${i}`, 10 + i);
  }

  enrol(name, seed) {
    this.aflguard('device', 'add', name, '--fleet', 'fleet');
    writeFileSync(this.path('devices', name, 'data.csv'), samples(600, seed));
    this.edit(this.path('devices', name, 'client.toml'), [/^file = .*/m, `file = "data.csv"`], [/^package = .*/m, 'package = "../../model"'], [/^# interval_seconds = 0 .*/m, `interval_seconds = ${this.interval}`],
      [/^# interval_seconds = 30 .*/m, 'interval_seconds = 5'], [/^(# )?folder = .*/m, 'folder = "state"']);
  }

  names() {
    return Array.from({ length: this.honest + this.malicious }, (_, i) => `pi-${i + 1}`);
  }
  /** The last ones lie. */
  maliciousNames() {
    return this.names().slice(this.honest);
  }

  async startBroker() {
    this.broker = this.program('/usr/sbin/mosquitto', ['-c', this.path('broker', 'mosquitto.conf')], 'broker.log');
    for (const port of [this.port, this.webPort]) {
      await until(`the broker listens on ${port}: ${this.broker.said().slice(-400)}`, () => new Promise((resolve) => {
        const socket = connect(port, '127.0.0.1', () => { socket.destroy(); resolve(true); });
        socket.once('error', () => resolve(false));
      }));
    }
  }
  async startGateway() {
    this.gateway = this.program('aflguard-gateway', ['--config', this.path('gateway', 'gateway.toml')], 'gateway.log');
    await this.gateway.says('ready');
  }
  startClient(name) {
    const malicious = this.maliciousNames().includes(name);
    const args = ['--config', this.path('devices', name, 'client.toml'), ...(malicious ? ['--attack', 'gd'] : [])];
    this.clients.set(name, this.program(malicious ? 'aflguard-byzantine-client' : 'aflguard-client', args, `${name}.log`));
  }
  async startDashboard() {
    this.dashboard = this.program('aflguard', ['dashboard', '--fleet', 'fleet', '--port', '0', '--json'], 'dashboard.log');
    await this.dashboard.says('"schema"');
    this.address = JSON.parse(this.dashboard.said().split('\n').find((line) => line.startsWith('{'))).address;
  }
  async start() {
    await this.make();
    await this.startBroker();
    await this.startGateway();
    for (const name of this.names()) this.startClient(name);
    await this.startDashboard();
  }

  async stop() {
    await Promise.all([...this.clients.values()].map((client) => client.end()));
    for (const program of [this.dashboard, this.gateway, this.broker]) await program?.end();
    if (process.env.AFLGUARD_KEEP) console.log(`kept: ${this.folder}`);
    else rmSync(this.folder, { recursive: true, force: true });
  }
}
