// Which devices are shown, and in which order.
import { deviceState, lastSeen, levelWord, troubleOf } from './trouble.js';

const kKeys = {
  // Whole points only: a hundredth more or less must not make rows jump while they are read.
  trouble: (device, trouble) => Math.trunc(trouble.score),
  name: (device) => device.name,
  state: (device) => deviceState(device) ?? '',
  share: (device) => device.summary?.rejectedShare ?? -1,
  ratio: (device) => device.summary?.ratio ?? -1,
  trend: (device) => device.summary?.trend ?? -Infinity,
  delay: (device) => device.summary?.last?.delay ?? -1,
  seen: (device) => lastSeen(device) ?? 0,
};

const byName = new Intl.Collator('en', { numeric: true });

function fits(device, trouble, filter, levels) {
  return (filter === '' || device.name.toLowerCase().includes(filter)) && (levels === 'all' || levelWord(device, trouble) === levels);
}

/** An array of devices, as things are at `nowMs`. `descending` turns the order round; names stay ascending among equals. */
export function orderDevices(devices, nowMs, { key = 'trouble', descending = true, filter = '', levels = 'all' } = {}) {
  const value = kKeys[key] ?? kKeys.trouble;
  const wanted = filter.trim().toLowerCase();
  const rows = [];
  for (const device of devices) {
    const trouble = troubleOf(device, nowMs);
    if (fits(device, trouble, wanted, levels)) rows.push({ device, value: value(device, trouble) });
  }
  const turn = descending ? -1 : 1;
  rows.sort((a, b) => {
    const order = typeof a.value === 'string' ? byName.compare(a.value, b.value) : a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
    return order === 0 ? byName.compare(a.device.name, b.device.name) : order * turn;
  });
  return rows.map((row) => row.device);
}
