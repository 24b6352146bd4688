// The pictures of docs/dashboard.md, of a real fleet that runs for some minutes.
//   AFLGUARD_BIN=build/release/bin node dashboard/tests/browser/screenshots.mjs FOLDER [SECONDS]
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startBrowser } from './browser.mjs';
import { until } from './processes.mjs';
import { RealFleet } from './real_fleet.mjs';

const folder = process.argv[2];
if (folder === undefined) {
  console.error('usage: node screenshots.mjs FOLDER [SECONDS]');
  process.exit(2);
}
const fleet = new RealFleet(resolve(process.env.AFLGUARD_BIN ?? 'build/release/bin'), { honest: 10, byzantine: 2, learningRate: 0.00001 });
let browser;
try {
  await fleet.start();
  browser = await startBrowser({ viewport: { width: 1440, height: 1000 }, colorScheme: 'light' });
  const page = await browser.context.newPage();
  await page.goto(fleet.address);
  await until('the liars are suspects', async () => (await page.locator('.row[data-level="suspect"]').count()) === 2);
  await pause(1000 * Number(process.argv[3] ?? 150));
  await page.screenshot({ path: join(folder, 'dashboard-light.png') });
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.locator('.row[data-level="suspect"]').first().click();
  await until('its past', async () => Number((await page.locator('#panel').getAttribute('data-past')) ?? 0) > 0);
  await pause(2000);
  await page.screenshot({ path: join(folder, 'dashboard-device-dark.png') });
  await page.keyboard.press('Escape');
  await page.setViewportSize({ width: 390, height: 844 });
  await pause(2000);
  await page.locator('#device-card').evaluate((node) => window.scrollTo(0, node.offsetTop - 110));
  await pause(1500);
  await page.screenshot({ path: join(folder, 'dashboard-phone.png') });
} finally {
  await browser?.stop();
  await fleet.stop();
}
process.exit(0);
