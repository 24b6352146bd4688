import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readMessage } from '../src/contract.js';
import { fleetColumns, historyPoints, kEarlier, LiveSeries, mergeDistances } from '../src/series.js';

const start = Date.parse('2026-01-31T12:00:00Z');
const reading = (seconds, accepted, tooFar, uptime = seconds) => readMessage('metrics', JSON.stringify({
  schema: 'aflguard-gateway-metrics-1', time: new Date(start + 1000 * seconds).toISOString(), uptime_seconds: uptime, accepted, rejected: tooFar, rejected_by: { 'too-far': tooFar }, refused: { 'bad-signature': tooFar }, test_error: 0.5 - accepted / 1000,
}));

test('Rates come from differences of counters, by reason', () => {
  const live = new LiveSeries();
  live.add(reading(10, 100, 4));
  live.add(reading(20, 130, 14));
  const columns = fleetColumns([], 10000, live.points, start, start + 30000);
  const at = columns.times.indexOf((start + 20000) / 1000);
  assert.equal(columns.accepted[at], 3);
  assert.equal(columns.by.get('too-far')[at], 1);
  assert.equal(columns.by.get('refused: bad-signature')[at], 1);
  assert.equal(columns.error[at], 0.37);
});

test('A gateway that started again makes no negative and no giant rates', () => {
  const live = new LiveSeries();
  live.add(reading(10, 100, 4, 10));
  live.add(reading(20, 5, 1, 2));
  live.add(reading(30, 15, 1, 12));
  assert.deepEqual(live.points.map((point) => point.accepted), [0, 0, 10]);
});

test('Readings that repeat or go back in time are left out', () => {
  const live = new LiveSeries();
  for (const seconds of [10, 10, 8, 12]) live.add(reading(seconds, seconds, 0));
  assert.deepEqual(live.points.map((point) => (point.time - start) / 1000), [10, 12]);
});

test('History fills the past and live points follow it, none counted twice', () => {
  const past = historyPoints({ fields: ['time_ms', 'accepted', 'rejected', 'refused', 'test_error'], points: [[start, 20, 10, 0, 0.4], [start + 10000, 30, 0, 0, 0.3]] });
  const live = new LiveSeries();
  live.add(reading(12, 100, 0));
  live.add(reading(19, 107, 0));
  live.add(reading(25, 113, 0));
  const columns = fleetColumns(past, 10000, live.points, start, start + 29999);
  assert.deepEqual(columns.accepted, [2, 1, 1]);
  assert.deepEqual(columns.by.get(kEarlier), [1, 0, 0]);
  assert.deepEqual(columns.error.slice(0, 2), [0.4, 0.393]);
});

test('However long the time, columns are at most about a thousand', () => {
  assert.ok(fleetColumns([], null, [], start - 30 * 86400e3, start).times.length <= 1002);
});

test('History without times or with holes does no harm', () => {
  assert.deepEqual(historyPoints({ fields: ['accepted'], points: [[1]] }), []);
  assert.deepEqual(historyPoints({ fields: ['time_ms', 'accepted'], points: [[null, 1], [5]] }), [{ time: 5, accepted: null }]);
});

test('A device’s past ends where its live distances begin', () => {
  const past = [{ time: 1, distance: 5, bound: 9, rejected: 0 }, { time: 2, distance: null, bound: 9, rejected: 0 }, { time: 9, distance: 7, bound: 9, rejected: 3 }];
  const live = [{ time: 8, distance: 6, bound: 9, accepted: true }];
  assert.deepEqual(mergeDistances(past, live).map((point) => point.time), [1, 8]);
});
