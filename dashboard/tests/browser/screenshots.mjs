// The pictures of docs/dashboard.md, of a fleet that runs and has at least one suspect.
//   node dashboard/tests/browser/screenshots.mjs FOLDER ADDRESS
// ADDRESS is what `aflguard dashboard --fleet FLEET` prints.
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startBrowser } from './browser.mjs';
import { until } from './processes.mjs';

const [folder, address] = process.argv.slice(2);
if (address === undefined) {
  console.error('usage: node screenshots.mjs FOLDER ADDRESS');
  process.exit(2);
}
const browser = await startBrowser({ viewport: { width: 1440, height: 1000 }, colorScheme: 'light' });
try {
  const page = await browser.context.newPage();
  const shoot = (name) => page.screenshot({ path: join(folder, `dashboard-${name}.png`) });
  const suspect = page.locator('.row[data-level="suspect"]').first();
  await page.goto(address);
  await until('a suspect', () => suspect.isVisible());
  await until('the past', async () => Number(await page.evaluate(() => document.body.dataset.past ?? '0')) > 0);
  await pause(15000);  // some live points and events
  await shoot('light');
  await page.emulateMedia({ colorScheme: 'dark' });
  await pause(1000);
  await shoot('dark');
  await suspect.click();
  await until('its past', async () => Number((await page.locator('#panel').getAttribute('data-past')) ?? 0) > 0);
  await pause(2000);
  await shoot('device-dark');
  await page.emulateMedia({ colorScheme: 'light' });
  await pause(1000);
  await shoot('device-light');
  await page.locator('#panel-close').click();
  await page.setViewportSize({ width: 390, height: 844 });
  await pause(2000);
  await shoot('phone-top');
  await page.locator('#device-card').evaluate((node) => window.scrollTo(0, node.offsetTop - 110));
  await pause(1500);
  await shoot('phone');
  await suspect.click();
  await pause(2000);
  await shoot('phone-device');
} finally {
  await browser.stop();
}
process.exit(0);
