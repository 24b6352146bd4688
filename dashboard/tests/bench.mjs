// How the page keeps up with 1000 devices: a real broker with the fleet's listener for browsers, a program that publishes
// what 1000 devices and their gateway would, and the page in a real browser, by way of `aflguard dashboard`.
//   AFLGUARD_BIN=build/release/bin node dashboard/tests/bench.mjs [--json] [--devices N] [--rate N] [--seconds N]
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
  json: { type: 'boolean' }, devices: { type: 'string', default: '1000' }, rate: { type: 'string', default: '1100' }, seconds: { type: 'string', default: '20' },
} });
const devices = Number(options.devices);
const rate = Number(options.rate);
const seconds = Number(options.seconds);
if (!(devices >= 1 && devices <= 5000 && rate >= 1 && rate <= 100000 && seconds >= 1)) {
  console.error('bench dashboard: --devices 1 to 5000, --rate 1 to 100000 messages per second, --seconds from 1');
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

function quantile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

async function measure(page, fleet) {
  await page.evaluate(recordFrames);
  await pause(500);
  const before = { sent: fleet.sent, shown: await page.evaluate(() => Number(document.body.dataset.messages)), at: Date.now() };
  await page.evaluate(() => { window.frames_ms.length = 0; window.long_tasks.length = 0; });
  const heapBefore = await page.evaluate(() => performance.memory?.usedJSHeapSize ?? null);
  for (let i = 0; i < seconds; i += 1) {
    await pause(1000);
    // Somebody scrolls through the table meanwhile.
    await page.evaluate((at) => { const view = document.getElementById('viewport'); view.scrollTop = (view.scrollHeight * (at % 10)) / 10; }, i);
  }
  const { frames, long, shown, heap } = await page.evaluate(() => ({ frames: [...window.frames_ms], long: [...window.long_tasks], shown: Number(document.body.dataset.messages), heap: performance.memory?.usedJSHeapSize ?? null }));
  const elapsed = (Date.now() - before.at) / 1000;
  frames.sort((a, b) => a - b);
  const row = (name, value, unit) => ({ name, value: Number(value.toFixed(2)), unit });
  return [
    row('dashboard_frame_median_ms', quantile(frames, 0.5), 'ms'), row('dashboard_frame_p99_ms', quantile(frames, 0.99), 'ms'), row('dashboard_frame_longest_ms', frames[frames.length - 1], 'ms'),
    row('dashboard_frames_per_s', frames.length / elapsed, '1/s'), row('dashboard_long_tasks', long.length, 'tasks over 50 ms'),
    row('dashboard_messages_per_s', (shown - before.shown) / elapsed, '1/s'), row('dashboard_published_per_s', (fleet.sent - before.sent) / elapsed, '1/s'),
    row('dashboard_heap_mb', (heap ?? heapBefore ?? 0) / 1e6, 'MB'),
  ];
}

const real = new RealFleet(resolve(process.env.AFLGUARD_BIN ?? 'build/release/bin'), { honest: 0, byzantine: 0 });
const simulated = new SimulatedFleet({ fleet: 'greenhouse', devices, byzantine: Math.ceil(devices / 50) });
let browser;
let results;
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
  simulated.run(rate);
  await pause(3000);
  results = await measure(page, simulated);
} finally {
  await browser?.stop();
  await simulated.stop();
  await real.stop();
}
results.unshift({ name: 'dashboard_open_ms', value: opened, unit: 'ms' });
const conditions = { devices, messages_per_second: rate, seconds, processors: cpus().length, processor: cpus()[0]?.model ?? 'unknown', browser: 'headless Chromium, 1440x1000, no GPU', broker: 'Mosquitto, WebSocket over TLS, by way of aflguard dashboard' };
if (options.json) console.log(JSON.stringify({ schema: 'aflguard.bench/1', benchmark: 'dashboard', context: { cores: cpus().length, load_average: loadavg()[0] }, results: results.map((result) => ({ ...result, spread: null, baseline: null, ratio: null, conditions })) }, null, 2));
else {
  console.log(`${devices} devices, ${rate} messages per second, ${conditions.browser}, ${conditions.processors} x ${conditions.processor}`);
  for (const { name, value, unit } of results) console.log(`${name.padEnd(28)} ${String(value).padStart(10)} ${unit}`);
}
process.exit(0);
