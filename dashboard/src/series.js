// What happened over time: the past as the gateway tells it, and what was seen live after that. Bounded: live points
// are as many as a quarter of an hour brings, the past is asked for again before they run out.

export const kMaxLivePoints = 1000;
/** History keeps no reasons. */
export const kEarlier = 'rejected, earlier';
const kRefusedEarlier = 'refused, earlier';

/** Counters that only rise, or start again with the gateway: what was added between two readings. */
function added(now, before) {
  return now !== null && before !== null && now >= before ? now - before : 0;
}

/** Live points of the fleet, made from the gateway's metrics. */
export class LiveSeries {
  constructor(limit = kMaxLivePoints) {
    this.limit = limit;
    this.points = [];
    this.previous = null;
  }

  add(metrics) {
    if (metrics.time === null) return;
    const before = this.previous;
    this.previous = metrics;
    if (before === null) {
      this.push({ time: metrics.time, seconds: 0, accepted: 0, by: new Map(), error: metrics.testError, delay: metrics.meanDelay });
      return;
    }
    const seconds = (metrics.time - before.time) / 1000;
    if (seconds <= 0) return;
    const restarted = metrics.uptime !== null && before.uptime !== null && metrics.uptime < before.uptime;
    const point = { time: metrics.time, seconds, accepted: 0, by: new Map(), error: metrics.testError, delay: metrics.meanDelay };
    if (!restarted) {
      point.accepted = added(metrics.accepted, before.accepted);
      for (const [reason, count] of metrics.rejectedBy) {
        const more = added(count, before.rejectedBy.get(reason) ?? 0);
        if (more > 0) point.by.set(reason, more);
      }
      for (const [reason, count] of metrics.refused) {
        const more = added(count, before.refused.get(reason) ?? 0);
        if (more > 0) point.by.set(`refused: ${reason}`, more);
      }
    }
    this.push(point);
  }

  push(point) {
    this.points.push(point);
    if (this.points.length > this.limit) this.points.splice(0, this.points.length - this.limit);
  }
}

/** An answer of the gateway's history as points {time, [field]: number}. */
export function historyPoints(answer) {
  const at = answer.fields.indexOf('time_ms');
  if (at < 0) return [];
  const points = [];
  for (const row of answer.points) {
    if (row[at] === null || row[at] === undefined) continue;
    const point = { time: row[at] };
    answer.fields.forEach((field, i) => { if (i !== at) point[field] = row[i] ?? null; });
    points.push(point);
  }
  points.sort((a, b) => a.time - b.time);
  return points;
}

const kMinStep = 2000;
const kMaxColumns = 1000;

/**
 * Past and present in columns of equal width: {stepMs, times[], error[], accepted[], by: Map reason -> []}, the last
 * three in updates per second. Columns without news hold null.
 */
export function fleetColumns(past, pastStepMs, live, fromMs, toMs) {
  const span = Math.max(1, toMs - fromMs);
  const stepMs = Math.max(pastStepMs ?? 0, kMinStep, span / kMaxColumns);
  const first = Math.floor(fromMs / stepMs);
  const size = Math.min(kMaxColumns + 2, Math.floor(toMs / stepMs) - first + 1);
  const columns = Array.from({ length: size }, () => null);
  const column = (time) => {
    const index = Math.floor(time / stepMs) - first;
    if (index < 0 || index >= size) return null;
    columns[index] ??= { seconds: 0, accepted: 0, by: new Map(), error: null };
    return columns[index];
  };
  // What was seen live has reasons, which history does not keep: history ends where live points begin.
  const liveBegin = live.length > 0 ? live[0].time : Infinity;
  for (const point of past) {
    const into = point.time + (pastStepMs ?? 0) <= liveBegin ? column(point.time) : null;
    if (into === null) continue;
    into.seconds += (pastStepMs ?? stepMs) / 1000;
    into.accepted += point.accepted ?? 0;
    add(into.by, kEarlier, point.rejected ?? 0);
    add(into.by, kRefusedEarlier, point.refused ?? 0);
    into.error = point.test_error ?? into.error;
  }
  for (const point of live) {
    const into = column(point.time);
    if (into === null) continue;
    into.seconds += point.seconds;
    into.accepted += point.accepted;
    for (const [reason, count] of point.by) add(into.by, reason, count);
    into.error = point.error ?? into.error;
  }
  return rates(columns, first, stepMs);
}

function add(map, key, count) {
  if (count > 0) map.set(key, (map.get(key) ?? 0) + count);
}

function rates(columns, first, stepMs) {
  const totals = new Map();
  for (const column of columns) {
    for (const [reason, count] of column?.by ?? []) totals.set(reason, (totals.get(reason) ?? 0) + count);
  }
  const reasons = [...totals.keys()].sort((a, b) => totals.get(b) - totals.get(a));
  const perSecond = (column, count) => (column === null || column.seconds === 0 ? null : count / column.seconds);
  return {
    stepMs,
    times: columns.map((_, i) => ((first + i) * stepMs) / 1000),
    error: columns.map((column) => column?.error ?? null),
    accepted: columns.map((column) => perSecond(column, column?.accepted ?? 0)),
    by: new Map(reasons.map((reason) => [reason, columns.map((column) => perSecond(column, column?.by.get(reason) ?? 0))])),
  };
}

/** Distances of one device: history first, then what came live; at most `limit` points, the newest. */
export function mergeDistances(past, live, limit = 800) {
  const start = live.length > 0 ? live[0].time : Infinity;
  const earlier = past
    .filter((point) => point.time < start && point.distance !== null && point.distance !== undefined)
    .map((point) => ({ time: point.time, distance: point.distance, bound: point.bound ?? null, accepted: (point.rejected ?? 0) === 0 }));
  return earlier.concat(live).slice(-limit);
}
