// What the broker's topics say (docs/topics.md), read with suspicion: whatever does not fit is null, and nothing from
// a message becomes a key of an object or more than a short text.

export const kMaxMessageBytes = 4096;
export const kViewer = 'dashboard';
const kMaxText = 200;
const kMaxReasons = 16;
const kMaxRecent = 16;
const kMaxBuckets = 32;

export const kDeviceStates = new Set(['init', 'ready', 'training', 'disconnected', 'lost', 'alert']);
export const kGatewayStates = new Set(['ready', 'alert', 'disconnected', 'lost']);

export function isIdentifier(text) {
  return typeof text === 'string' && /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(text);
}

function number(value) {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}
/** A count or an amount: never below 0. */
function amount(value) {
  const found = number(value);
  return found !== null && found >= 0 ? found : null;
}
function text(value) {
  if (typeof value !== 'string') return null;
  return value.slice(0, kMaxText).replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, ' ');
}
function time(value) {
  if (typeof value !== 'string' || value.length > 40) return null;
  const parsed = Date.parse(value);
  return Number.isFinite(parsed) ? parsed : null;
}
function word(value, known) {
  return known.has(value) ? value : null;
}
function object(value) {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : null;
}
/** {reason: count} as a Map of at most kMaxReasons entries. */
function counts(value) {
  const found = new Map();
  for (const [reason, count] of Object.entries(object(value) ?? {})) {
    if (found.size >= kMaxReasons) break;
    const clean = amount(count);
    if (/^[a-z0-9-]{1,40}$/.test(reason) && clean !== null) found.set(reason, clean);
  }
  return found;
}

function histogram(value) {
  const { bounds, counts: numbers } = object(value) ?? {};
  if (!Array.isArray(bounds) || !Array.isArray(numbers) || bounds.length > kMaxBuckets ||
      bounds.length === 0 || numbers.length !== bounds.length + 1) return null;
  const clean = { bounds: bounds.map(amount), counts: numbers.map(amount) };
  return clean.bounds.includes(null) || clean.counts.includes(null) ? null : clean;
}

function verdict(value) {
  const found = object(value);
  if (found === null || typeof found.accepted !== 'boolean') return null;
  return {
    accepted: found.accepted, reason: text(found.reason) ?? '', distance: amount(found.distance),
    bound: amount(found.bound), delay: amount(found.delay), version: amount(found.version),
  };
}

function recent(value) {
  if (!Array.isArray(value)) return [];
  const points = [];
  for (const entry of value.slice(-kMaxRecent)) {
    if (!Array.isArray(entry)) continue;
    const at = amount(entry[0]);
    if (at !== null) points.push({ time: at, distance: amount(entry[1]), bound: amount(entry[2]), accepted: entry[3] === 1 });
  }
  return points;
}

/** What a board measured on samples that it holds back; null where it holds none back. */
function localError(json) {
  if (json === null || typeof json !== 'object') return null;
  const error = number(json.error);
  return error === null ? null : { error, version: amount(json.version), samples: amount(json.samples) };
}

function deviceStatus(json) {
  const state = word(json.state, kDeviceStates);
  if (state === null) return null;
  return {
    state, time: time(json.time), version: amount(json.version), sequence: amount(json.sequence),
    verdict: verdict(json.verdict), accepted: amount(json.accepted), rejected: amount(json.rejected),
    refused: amount(json.refused), loss: number(json.loss), samples: amount(json.samples),
    localError: localError(json.local_error ?? null), software: text(json.software),
    rssMb: amount(json.rss_mb), temperature: number(json.temperature_c), memoryFreeMb: amount(json.memory_free_mb),
    certificateUntil: time(json.certificate_until), message: text(json.message),
  };
}

function deviceSummary(json) {
  return {
    time: time(json.time), state: word(json.state, kDeviceStates), accepted: amount(json.accepted),
    rejected: amount(json.rejected), refused: amount(json.refused), rejectedShare: amount(json.recent_rejected_share),
    last: verdict(json.last), recent: recent(json.recent), ratio: amount(json.distance_ratio),
    trend: number(json.distance_trend), lastSeen: time(json.last_seen),
  };
}

function gatewayStatus(json) {
  const state = word(json.state, kGatewayStates);
  if (state === null) return null;
  return { state, fleet: text(json.fleet), guard: text(json.guard), software: text(json.software), message: text(json.message) };
}

function gatewayMetrics(json) {
  return {
    time: time(json.time), uptime: amount(json.uptime_seconds), guard: text(json.guard), rssMb: amount(json.rss_mb),
    version: amount(json.version), updates: amount(json.updates), accepted: amount(json.accepted),
    rejected: amount(json.rejected), rejectedBy: counts(json.rejected_by), refused: counts(json.refused),
    updatesPerSecond: amount(json.updates_per_second), meanDelay: amount(json.mean_delay),
    delays: histogram(json.delay_histogram), referenceAge: amount(json.reference_age),
    referenceAgeSeconds: amount(json.reference_age_seconds), testError: amount(json.test_error),
    devices: amount(json.devices), connected: amount(json.devices_connected), queue: amount(json.queue),
    commitMs: amount(json.commit_ms), commitFailures: amount(json.commit_failures),
    storeFree: amount(json.store_free_bytes), storeTotal: amount(json.store_total_bytes),
  };
}

function event(json) {
  const kind = text(json.kind);
  if (kind === null || kind === '') return null;
  return { time: time(json.time), kind: kind.slice(0, 24), device: isIdentifier(json.device) ? json.device : null, text: text(json.text) ?? '' };
}

const kMaxHistoryPoints = 500;
function history(json) {
  const id = text(json.id);
  if (id === null) return null;
  const answer = { id, part: amount(json.part) ?? 0, last: json.last === true, error: text(json.error), stepMs: amount(json.step_ms), fields: [], points: [] };
  if (Array.isArray(json.fields)) answer.fields = json.fields.slice(0, 32).map((field) => text(field) ?? '');
  if (Array.isArray(json.points)) {
    answer.points = json.points.slice(0, kMaxHistoryPoints).filter(Array.isArray).map((point) => point.slice(0, 32).map(number));
  }
  return answer;
}

const kReaders = {
  status: ['aflguard-device-status-', deviceStatus],
  summary: ['aflguard-device-summary-', deviceSummary],
  gateway: ['aflguard-gateway-status-', gatewayStatus],
  metrics: ['aflguard-gateway-metrics-', gatewayMetrics],
  event: ['aflguard-event-', event],
  history: ['aflguard-history-', history],
};
const kKnownVersion = 1;

/** "up/pi-1/status" -> {kind: 'status', device: 'pi-1'}; null for a topic that is none of ours. */
export function readTopic(tail) {
  const parts = tail.split('/');
  if (parts.length === 3 && parts[0] === 'up' && parts[2] === 'status' && isIdentifier(parts[1])) return { kind: 'status', device: parts[1] };
  if (parts.length === 3 && parts[0] === 'gateway' && parts[1] === 'devices' && isIdentifier(parts[2])) return { kind: 'summary', device: parts[2] };
  if (tail === 'gateway/status') return { kind: 'gateway' };
  if (tail === 'gateway/metrics') return { kind: 'metrics' };
  if (tail === 'events') return { kind: 'event' };
  if (tail === `tell/${kViewer}/history`) return { kind: 'history' };
  return null;
}

/** The message's content; null when it is not what its topic promises. */
export function readMessage(kind, payload) {
  if (payload.length === 0 || payload.length > kMaxMessageBytes) return null;
  let json;
  try {
    json = object(JSON.parse(typeof payload === 'string' ? payload : new TextDecoder('utf-8', { fatal: true }).decode(payload)));
  } catch {
    return null;
  }
  const [schema, reader] = kReaders[kind];
  if (json === null || json.schema !== schema + kKnownVersion) return null;
  return reader(json);
}
