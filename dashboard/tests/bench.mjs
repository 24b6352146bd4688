// How the page keeps up with 1000 devices: a real broker with the fleet's listener for browsers, a program that publishes
// what 1000 devices and their gateway would, and the page in a real browser, by way of `aflguard dashboard`.
//   AFLGUARD_BIN=build/release/bin node dashboard/tests/bench.mjs [--json] [--devices N] [--rate N] [--seconds N] [--rounds N]
import { appendFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startBrowser } from './browser/browser.mjs';
import { freePort, until } from './browser/processes.mjs';
import { RealFleet } from './browser/real_fleet.mjs';
import { SimulatedFleet } from './support/simulated_fleet.mjs';

const { values: options } = parseArgs({ options: {
  json: { type: 'boolean' }, devices: { type: 'string', default: '1000' }, rate: { type: 'string', default: '1100' }, seconds: { type: 'string', default: '20' }, rounds: { type: 'string', default: '3' },
} });
const devices = Number(options.devices);
const rate = Number(options.rate);
const seconds = Number(options.seconds);
const rounds = Number(options.rounds);
if (!(devices >= 1 && devices <= 5000 && rate >= 1 && rate <= 100000 && seconds >= 1 && rounds >= 1)) {
  console.error('bench dashboard: --devices 1 to 5000, --rate 1 to 100000 messages per second, --seconds and --rounds from 1');
  process.exit(2);
}

/** Times between frames, in the page itself. */
function recordFrames() {
  window.frames_ms = [];
  let before = performance.now();
  const tick = (now) => { window.frames_ms.push(now - before); before = now; requestAnimationFrame(tick); };
  requestAnimationFrame(tick);
  window.long_tasks = [];
  new PerformanceObserver((list) => { for (const entry of list.getEntries()) window.long_tasks.push(entry.duration); }).observe({ entryTypes: ['longtask'] });
}

/** Milliseconds from a click on the first device to the frame that shows it, in the page itself. */
async function clickFirst() {
  const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const begin = performance.now();
  document.querySelector('.row:not([hidden])').click();
  await nextFrame();
  await nextFrame();
  const shown = performance.now() - begin;
  document.getElementById('panel-close').click();
  return shown;
}

function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  const place = share * (sorted.length - 1);
  const below = Math.floor(place);
  return sorted[below] + (place - below) * ((sorted[below + 1] ?? sorted[below]) - sorted[below]);
}

/** One span, by the names of its figures. */
async function measure(page, fleet) {
  await page.evaluate(() => { window.frames_ms.length = 0; window.long_tasks.length = 0; });
  const look = () => page.evaluate(() => ({ frames: [...window.frames_ms], long: window.long_tasks.length, shown: Number(document.body.dataset.messages), heap: performance.memory?.usedJSHeapSize ?? 0 }));
  const before = { sent: fleet.sent, at: Date.now(), ...(await look()) };
  const clicks = [];
  for (let i = 0; i < seconds; i += 1) {
    await pause(1000);
    // Someone scrolls through the table meanwhile, and looks at a device now and then.
    await page.evaluate((at) => { const view = document.getElementById('viewport'); view.scrollTop = (view.scrollHeight * (at % 10)) / 10; }, i);
    if (i % 2 === 0) clicks.push(await page.evaluate(clickFirst));
  }
  const { frames, long, shown, heap } = await look();
  const elapsed = (Date.now() - before.at) / 1000;
  return {
    frame_median_ms: quantile(frames, 0.5), frame_p99_ms: quantile(frames, 0.99), frame_longest_ms: Math.max(...frames), frames_per_s: frames.length / elapsed,
    click_ms: quantile(clicks, 0.5), long_tasks: long, messages_per_s: (shown - before.shown) / elapsed, published_per_s: (fleet.sent - before.sent) / elapsed, heap_mb: heap / 1e6,
  };
}

const kUnits = { frame_median_ms: 'ms', frame_p99_ms: 'ms', frame_longest_ms: 'ms', frames_per_s: '1/s', click_ms: 'ms', long_tasks: 'tasks over 50 ms', messages_per_s: '1/s', published_per_s: '1/s', heap_mb: 'MB' };
const short = (value) => Number(value.toFixed(2));

/** Medians of the spans in which devices speak, beside those in which nobody does. */
function results_of(busy, quiet, conditions) {
  return Object.entries(kUnits).map(([name, unit]) => {
    const values = busy.map((span) => span[name]);
    const value = short(quantile(values, 0.5));
    const silent = short(quantile(quiet.map((span) => span[name]), 0.5));
    const beside = !['messages_per_s', 'published_per_s'].includes(name);
    return {
      name: `dashboard_${name}`, value, unit, spread: short((quantile(values, 0.75) - quantile(values, 0.25)) / 2),
      baseline: beside ? { name: 'the same page while nobody speaks', value: silent } : null, ratio: beside && silent > 0 ? short(value / silent) : null,
      conditions: { ...conditions, rounds: values.map(short) },
    };
  });
}

const real = new RealFleet(resolve(process.env.AFLGUARD_BIN ?? 'build/release/bin'), { honest: 0, malicious: 0 });
const simulated = new SimulatedFleet({ fleet: 'greenhouse', devices, malicious: Math.ceil(devices / 50) });
let browser;
const busy = [];
const quiet = [];
let opened;
try {
  await real.make();
  const port = await freePort();
  appendFileSync(real.path('broker', 'mosquitto.conf'), `\n# The benchmark's own: everything at once, from this machine.\nlistener ${port} 127.0.0.1\nallow_anonymous true\n`);
  await real.startBroker();
  await simulated.connect(`mqtt://127.0.0.1:${port}`);
  for (let i = 0; i < 16 * devices; i += 1) { simulated.step(); if (i % 500 === 0) await pause(5); }
  simulated.metrics();
  await real.startDashboard();
  browser = await startBrowser({ viewport: { width: 1440, height: 1000 } });
  const page = await browser.context.newPage();
  const start = Date.now();
  await page.goto(real.address);
  await until('every device is in the table', async () => (await page.locator('#device-count').textContent()).replaceAll(',', '') === String(devices));
  opened = Date.now() - start;
  await page.evaluate(recordFrames);
  for (let round = 0; round < rounds; round += 1) {
    await pause(3000);
    quiet.push(await measure(page, simulated));
    simulated.run(rate);
    await pause(3000);
    busy.push(await measure(page, simulated));
    simulated.fallSilent();
  }
} finally {
  await browser?.stop();
  await simulated.stop();
  await real.stop();
}
const conditions = { devices, messages_per_second: rate, seconds, processors: cpus().length, processor: cpus()[0]?.model ?? 'unknown', browser: 'headless Chromium, 1440x1000, no GPU', broker: 'Mosquitto, WebSocket over TLS, by way of aflguard dashboard' };
const results = [{ name: 'dashboard_open_ms', value: opened, unit: 'ms', spread: 0, baseline: null, ratio: null, conditions: { ...conditions, rounds: [opened] } }, ...results_of(busy, quiet, conditions)];
if (options.json) console.log(JSON.stringify({ schema: 'aflguard.bench/1', benchmark: 'dashboard', context: { cores: cpus().length, load_average: loadavg()[0] }, results }, null, 2));
else {
  console.log(`${devices} devices, ${rate} messages per second, ${conditions.browser}, ${conditions.processors} x ${conditions.processor}`);
  for (const { name, value, unit, spread, baseline } of results) console.log(`${name.padEnd(28)} ${String(value).padStart(10)} ${unit} +- ${spread}${baseline ? `, ${baseline.value} while nobody speaks` : ''}`);
}
process.exit(0);
