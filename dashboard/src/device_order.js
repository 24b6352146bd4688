// Which devices are shown, and in which order.
import { deviceState, troubleLevel, troubleScore } from './trouble.js';

const kKeys = {
  trouble: troubleScore,
  name: (device) => device.name,
  state: (device) => deviceState(device) ?? '',
  share: (device) => device.summary?.rejectedShare ?? -1,
  ratio: (device) => device.summary?.ratio ?? -1,
  trend: (device) => device.summary?.trend ?? -Infinity,
  delay: (device) => device.summary?.last?.delay ?? -1,
  seen: (device) => lastSeen(device) ?? 0,
};

export function lastSeen(device) {
  const seen = Math.max(device.summary?.lastSeen ?? 0, device.status?.time ?? 0);
  return seen > 0 ? seen : null;
}

const byName = new Intl.Collator('en', { numeric: true });

function fits(device, filter, levels) {
  return (filter === '' || device.name.toLowerCase().includes(filter)) && (levels === 'all' || troubleLevel(device) === levels);
}

/** An array of devices. `descending` turns the order round; names stay ascending among equals. */
export function orderDevices(devices, { key = 'trouble', descending = true, filter = '', levels = 'all' } = {}) {
  const value = kKeys[key] ?? kKeys.trouble;
  const wanted = filter.trim().toLowerCase();
  const rows = [];
  for (const device of devices) if (fits(device, wanted, levels)) rows.push({ device, value: value(device) });
  const turn = descending ? -1 : 1;
  rows.sort((a, b) => {
    const order = typeof a.value === 'string' ? byName.compare(a.value, b.value) : a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
    return order === 0 ? byName.compare(a.device.name, b.device.name) : order * turn;
  });
  return rows.map((row) => row.device);
}
