// Numbers and times as people read them. An unknown value is a dash.
const kDash = '–';

export function count(value) {
  return value === null || value === undefined ? kDash : Math.round(value).toLocaleString('en-US');
}

export function figure(value, digits = 3) {
  if (value === null || value === undefined) return kDash;
  if (value !== 0 && (Math.abs(value) >= 1e5 || Math.abs(value) < 1e-3)) return value.toExponential(1);
  return Number(value.toPrecision(digits)).toLocaleString('en-US', { maximumFractionDigits: 6 });
}

export function percent(share) {
  if (share === null || share === undefined) return kDash;
  const value = share * 100;
  return `${value > 0 && value < 10 ? value.toFixed(1) : Math.round(value)}%`;
}

export function bytes(value) {
  if (value === null || value === undefined) return kDash;
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) { value /= 1000; unit += 1; }
  return `${value >= 100 || unit === 0 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

export function duration(seconds) {
  if (seconds === null || seconds === undefined) return kDash;
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86400)} d`;
}

export function ago(timeMs, nowMs) {
  return timeMs === null || timeMs === undefined ? kDash : duration((nowMs - timeMs) / 1000);
}

export function clock(timeMs) {
  return timeMs === null || timeMs === undefined ? kDash : new Date(timeMs).toLocaleTimeString('en-GB');
}

export function day(timeMs) {
  return timeMs === null || timeMs === undefined ? kDash : new Date(timeMs).toISOString().slice(0, 10);
}
