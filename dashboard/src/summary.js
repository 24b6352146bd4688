// The figures at the top, and the lines that say who is away.
import { setText } from './dom.js';
import { bytes, clock, count, duration, figure, percent } from './format.js';
import { gatewayTrouble, troubleLevel } from './trouble.js';

const kLittleSpace = 0.1;

/** {tone, word, text}: text is a sentence when there is something to know. */
export function gatewayHealth(state, nowMs) {
  const { gateway, metrics } = state;
  if (gateway === null && metrics === null) return { tone: 'warn', word: 'gateway: unknown', text: 'The gateway has not said anything yet.' };
  if (gateway?.state === 'lost') return { tone: 'bad', word: 'gateway: lost', text: 'The gateway vanished. Devices wait; what they have is not lost.' };
  if (gateway?.state === 'disconnected') return { tone: 'bad', word: 'gateway: stopped', text: 'The gateway was stopped.' };
  if (gateway?.state === 'alert') return { tone: 'bad', word: 'gateway: alert', text: `The gateway needs attention: ${gateway.message || 'its log says why'}` };
  const { level, why } = gatewayTrouble(state, nowMs);
  if (level !== 'none') return { tone: 'bad', word: 'gateway: silent', text: `The gateway is ${why}.` };
  return { tone: 'good', word: 'gateway: ready', text: '' };
}

/** The same of the broker; `link` is what Connection told. */
export function brokerHealth(link, lastMessageMs, nowMs) {
  const since = lastMessageMs === null ? '' : ` What you see is from ${clock(lastMessageMs)}.`;
  const again = link.retryMs ? ` Trying again in ${Math.max(0, Math.ceil((link.retryMs - nowMs) / 1000))} s.` : '';
  const why = link.why ? ` (${link.why})` : '';
  switch (link.state) {
    case 'connected': return { tone: 'good', word: 'broker: connected', text: '' };
    case 'refused': return { tone: 'bad', word: 'broker: refuses', text: `The broker does not take this key.${again}` };
    case 'connecting': return { tone: 'warn', word: 'broker: connecting', text: lastMessageMs === null ? '' : `Connecting to the broker.${since}` };
    default: return { tone: 'bad', word: 'broker: away', text: `The broker does not answer${why}.${since}${again}` };
  }
}

export function countLevels(devices, nowMs) {
  const levels = { suspect: 0, alert: 0, lost: 0, watch: 0, off: 0, fine: 0 };
  for (const device of devices) levels[troubleLevel(device, nowMs)] += 1;
  return levels;
}

/** Values of the tiles: {id: [value, note]}. */
export function tiles(state, nowMs) {
  const m = state.metrics;
  const levels = countLevels(state.devices.values(), nowMs);
  const judged = (m?.accepted ?? 0) + (m?.rejected ?? 0);
  const space = m?.storeFree != null && m?.storeTotal > 0 ? m.storeFree / m.storeTotal : null;
  const trouble = [levels.alert > 0 ? `${levels.alert} alert` : '', levels.lost > 0 ? `${levels.lost} lost` : '', levels.watch > 0 ? `${levels.watch} to watch` : ''].filter(Boolean);
  return {
    error: [m?.testError == null ? '–' : figure(m.testError), m === null ? '' : `model version ${count(m.version)}`],
    rate: [m === null ? '–' : figure(m.updatesPerSecond, 2), m === null ? '' : `${count(m.updates)} judged`],
    accepted: [judged > 0 ? percent(m.accepted / judged) : '–', judged > 0 ? `${count(m.accepted)} of ${count(judged)}` : ''],
    devices: [m?.connected == null ? count(state.devices.size) : count(m.connected), m?.devices == null ? 'devices' : `of ${count(m.devices)} enrolled`],
    suspects: [count(levels.suspect), trouble.length > 0 ? trouble.join(', ') : 'no other stands out', levels.suspect > 0 ? 'bad' : 'good'],
    reference: [m?.referenceAge == null ? '–' : count(m.referenceAge), m?.referenceAgeSeconds == null ? 'versions old' : `versions, ${duration(m.referenceAgeSeconds)} old`],
    store: [m?.commitMs == null ? '–' : `${figure(m.commitMs, 2)} ms`, space === null ? '' : `${bytes(m.storeFree)} free (${percent(space)})`, space !== null && space < kLittleSpace ? 'bad' : null],
  };
}

export class Summary {
  constructor(root) {
    this.nodes = new Map([...root.querySelectorAll('[data-tile]')].map((node) => [node.dataset.tile, node]));
  }
  draw(state, nowMs) {
    for (const [id, [value, note, tone]] of Object.entries(tiles(state, nowMs))) {
      const node = this.nodes.get(id);
      setText(node.querySelector('.value'), value);
      setText(node.querySelector('.note'), note);
      if (tone !== undefined) node.dataset.tone = tone ?? '';
    }
  }
}
