// Makes the page: one HTML file that holds its script and style, and a policy that allows nothing else.
//   node build.mjs OUTPUT.html
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const output = process.argv[2];
if (output === undefined) {
  console.error('usage: node build.mjs OUTPUT.html');
  process.exit(2);
}

const bundled = await build({
  entryPoints: [join(here, 'src/main.js')], bundle: true, minify: true, write: false, format: 'iife', target: 'es2022',
  platform: 'browser', legalComments: 'none', logLevel: 'warning', absWorkingDir: here,
  alias: { mqtt: join(here, 'node_modules/mqtt/dist/mqtt.esm.js') },
});
// A script inside a page ends at the first of these, wherever it stands.
const script = bundled.outputFiles[0].text.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
const style = (await build({
  stdin: { contents: await readFile(join(here, 'node_modules/uplot/dist/uPlot.min.css'), 'utf8') + await readFile(join(here, 'src/style.css'), 'utf8'), loader: 'css' },
  minify: true, write: false, target: 'chrome111',
})).outputFiles[0].text;

const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
// Charts and rows set styles of elements; a worker of mqtt.js keeps time while the tab is hidden.
const policy = `default-src 'none'; script-src ${hash(script)}; style-src 'unsafe-inline'; img-src data:; ` +
  `connect-src 'self' ws: wss:; worker-src blob:; base-uri 'none'; form-action 'none'`;

let page = await readFile(join(here, 'src/index.html'), 'utf8');
const put = (mark, text) => {
  if (!page.includes(mark)) throw new Error(`index.html lacks ${mark}`);
  page = page.replace(mark, () => text);
};
put('<!-- policy -->', `<meta http-equiv="Content-Security-Policy" content="${policy}">`);
put('<!-- style -->', `<style>${style}</style>`);
put('<!-- script -->', `<script>${script}</script>`);
await mkdir(dirname(output), { recursive: true });
await writeFile(`${output}.new`, page);
await rename(`${output}.new`, output);
console.log(`${output}: ${Math.round(page.length / 1024)} KB`);
