// The page in a real browser, with a real fleet behind it: what an operator would see.
//   AFLGUARD_BIN=build/release/bin [AFLGUARD_SHOTS=FOLDER] node --test dashboard/tests/browser/dashboard.e2e.mjs
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { startBrowser } from './browser.mjs';
import { until } from './processes.mjs';
import { RealFleet } from './real_fleet.mjs';

const programs = resolve(process.env.AFLGUARD_BIN ?? 'build/release/bin');
const shots = process.env.AFLGUARD_SHOTS;
const fleet = new RealFleet(programs, { honest: 6, malicious: 2 });
let browser;
let page;
const problems = [];

const row = (name) => page.locator(`.row[data-device="${name}"]`);
const tile = (id) => page.locator(`[data-tile="${id}"] .value`).textContent();
const link = () => page.evaluate(() => document.body.dataset.link);
const number = (text) => Number(text.replaceAll(',', ''));

async function shoot(name) {
  if (shots) await page.screenshot({ path: join(shots, `${name}.png`) });
}
async function open() {
  await page.goto(fleet.address);
  await until('the page is connected', async () => (await link()) === 'connected');
}

before(async () => {
  if (shots) mkdirSync(shots, { recursive: true });
  await fleet.start();
  browser = await startBrowser({ viewport: { width: 1440, height: 1000 }, colorScheme: 'light' });
  page = await browser.context.newPage();
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => { if (message.type() === 'error') problems.push(message.text()); });
  await open();
});

after(async () => {
  await browser?.stop();
  await fleet.stop();
});

test('Every device appears, and values change while one looks', async () => {
  await until('all rows', async () => (await page.locator('.row:visible').count()) === fleet.names().length);
  const version = async () => number((await page.locator('[data-tile="error"] .note').textContent()).replace('model version', ''));
  const first = await until('a model version', version);
  await until('a newer model version', async () => (await version()) > first + 5);
  const judged = async () => number((await page.locator('[data-tile="rate"] .note').textContent()).replace('judged', ''));
  assert.ok((await judged()) > 0);
  await until('a test error', async () => Number(await tile('error')) > 0);
  assert.equal(Number(await tile('devices')), fleet.names().length);
});

test('Devices that lie are the first rows, marked, and counted', async () => {
  const malicious = fleet.maliciousNames();
  await until('malicious devices are suspects', async () => {
    const rows = await page.locator('.row:visible').evaluateAll((nodes) => nodes.map((node) => ({ name: node.dataset.device, level: node.dataset.level, at: Number(node.getAttribute('aria-rowindex')) })));
    rows.sort((a, b) => a.at - b.at);
    return malicious.every((_, i) => malicious.includes(rows[i].name) && rows[i].level === 'suspect') && rows.slice(malicious.length).every(({ level }) => level !== 'suspect');
  });
  assert.equal(await row(malicious[0]).locator('.badge').textContent(), 'suspect');
  // Tiles follow the rows within a second.
  await until('malicious devices are counted', async () => (await tile('suspects')) === String(malicious.length));
  await until('an event about a malicious device', async () => (await page.locator('#events li', { hasText: malicious[0] }).count()) > 0);
  await until('rejections in the chart', async () => (await page.locator('#verdict-chart .u-label').allTextContents()).some((label) => label.startsWith('too-far') || label.startsWith('rejected')));
});

test('A click shows a device: its distance against the bound, its past, its own words', async () => {
  const [malicious] = fleet.maliciousNames();
  await until('some history of the device', async () => {
    await row(malicious).click();
    await until('an answer about the past', async () => (await page.locator('#panel').getAttribute('data-past')) !== null);
    const points = Number(await page.locator('#panel').getAttribute('data-past'));
    if (points > 0) return true;
    await page.locator('#panel-close').click();
    return false;
  });
  assert.match(await page.locator('#panel-chart').getAttribute('aria-label'), /distance [\d.]+.*, bound [\d.]+/);
  assert.match(await page.locator('#panel-facts').textContent(), /Rejected[\d,]+/);
  assert.match(await page.locator('#panel-advice').textContent(), /lies/);
  await shoot('panel-light');
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('#panel').isVisible(), false);
});

test('The table obeys the keyboard, filters and sorts', async () => {
  await page.locator('#viewport').focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  assert.equal(await page.locator('#panel').isVisible(), true);
  await page.keyboard.press('Escape');
  await page.locator('#filter').fill('pi-3');
  await until('one row', async () => (await page.locator('.row:visible').count()) === 1);
  await page.locator('#filter').fill('');
  await page.locator('#heads button[data-key="name"]').click();
  await until('rows by name', async () => (await page.locator('.row[aria-rowindex="2"]').getAttribute('data-device')) === 'pi-1');
});

test('A client that is killed is lost within its keep-alive, and so is one that hangs', async () => {
  const [killed, hung] = fleet.names();
  await until('both are there', async () => ['training', 'ready'].includes(await row(killed).getAttribute('data-state')) && ['training', 'ready'].includes(await row(hung).getAttribute('data-state')));
  fleet.clients.get(hung).signal('SIGSTOP');
  const stoppedAt = Date.now();
  fleet.clients.get(killed).signal('SIGKILL');
  await until(`${killed} is lost`, async () => (await row(killed).getAttribute('data-state')) === 'lost');
  console.log(`killed client lost after ${((Date.now() - stoppedAt) / 1000).toFixed(1)} s`);
  await until(`${hung} is lost`, async () => (await row(hung).getAttribute('data-state')) === 'lost');
  console.log(`hung client lost after ${((Date.now() - stoppedAt) / 1000).toFixed(1)} s`);
  await shoot('lost-light');
  fleet.clients.get(hung).signal('SIGCONT');
  await until(`${hung} is back`, async () => (await row(hung).getAttribute('data-state')) !== 'lost');
  fleet.startClient(killed);
  await until(`${killed} is back`, async () => (await row(killed).getAttribute('data-state')) !== 'lost');
});

test('A broker that goes away is told at once, and the page comes back with it', async () => {
  await fleet.broker.end('SIGTERM');
  await until('the page notices', async () => (await link()) === 'away');
  assert.equal(await page.locator('#banner').isVisible(), true);
  assert.match(await page.locator('#banner-text').textContent(), /broker does not answer/);
  await shoot('away-light');
  await fleet.startBroker();
  await until('the page is back', async () => (await link()) === 'connected');
  const before = number((await page.locator('[data-tile="error"] .note').textContent()).replace('model version', ''));
  await until('values change again', async () => number((await page.locator('[data-tile="error"] .note').textContent()).replace('model version', '')) > before);
  await until('no complaint is left', async () => !(await page.locator('#banner').isVisible()));
});

test('A gateway that is killed is told, and so is its return', async () => {
  await fleet.gateway.end('SIGKILL');
  await until('the page says so', async () => (await page.locator('#banner-text').textContent()).includes('gateway vanished'));
  await fleet.startGateway();
  await until('all is well again', async () => (await page.locator('#gateway').textContent()) === 'gateway: ready');
});

test('After a reload the past is there, without asking for the key again', async () => {
  await page.reload();
  await until('the page is connected', async () => (await link()) === 'connected');
  assert.ok(!(await page.url()).includes('key='));
  await until('points of the past', async () => Number(await page.evaluate(() => document.body.dataset.past ?? '0')) > 0);
  assert.equal(await page.locator('#past-note').textContent(), '');
});

test('A wrong key is told, with a form to give another', async () => {
  const other = await browser.context.newPage();
  await other.goto(`${fleet.address.split('&key=')[0]}&key=wrong-key-wrong-key`);
  await until('the form', () => other.locator('#access-box').isVisible());
  await until('the reason', async () => (await other.locator('#access-problem').textContent()).includes('does not take this key'));
  await other.locator('#access-key').fill(fleet.address.split('&key=')[1]);
  await other.locator('#access button').click();
  await until('it is let in', async () => (await other.evaluate(() => document.body.dataset.link)) === 'connected');
  await other.close();
});

test('Two pages at once each have a seat', async () => {
  const other = await browser.context.newPage();
  await other.goto(fleet.address);
  await until('the second is connected', async () => (await other.evaluate(() => document.body.dataset.link)) === 'connected');
  await until('the second shows rows', async () => (await other.locator('.row').count()) > 0);
  await until('and the first', async () => (await link()) === 'connected');
  await other.close();
});

test('Light and dark, desktop and phone', async () => {
  await page.locator('#heads button[data-key="name"]').click();
  await open();
  await until('rows', async () => (await page.locator('.row').count()) === fleet.names().length);
  await until('the delays', () => page.locator('#delays').isVisible());
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background();
  await shoot('desktop-light');
  await page.emulateMedia({ colorScheme: 'dark' });
  await until('dark', async () => (await background()) !== light);
  await shoot('desktop-dark');
  await row(fleet.maliciousNames()[0]).click();
  await until('the panel', () => page.locator('#panel-chart canvas').isVisible());
  await shoot('panel-dark');
  await page.keyboard.press('Escape');
  await page.locator('#theme').click();
  await until('light by choice', async () => (await background()) === light);
  await page.setViewportSize({ width: 390, height: 844 });
  await until('the phone layout fits', async () => page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
  await shoot('phone-light');
  await page.locator('#theme').click();
  await page.locator('#device-card').scrollIntoViewIfNeeded();
  await shoot('phone-dark');
});

test('Nothing went wrong inside the page', () => {
  // The browser itself reports connections that fail while the broker is away.
  assert.deepEqual(problems.filter((text) => !/WebSocket|ERR_|502/.test(text)), []);
});
