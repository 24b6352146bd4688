import assert from 'node:assert/strict';
import { test } from 'node:test';
import { orderDevices } from '../src/device_order.js';
import { troubleLevel } from '../src/trouble.js';

const now = Date.parse('2026-01-31T12:00:00Z');
const device = (name, state, share, ratio = 0.5, judged = 50) => ({
  name, status: state === null ? null : { state, time: null }, revision: 0,
  summary: share === null ? null : { accepted: judged, rejected: 0, rejectedShare: share, ratio, trend: 0, last: null, lastSeen: null, state: null },
});

test('A device that is mostly rejected is a suspect, also when it is lost; one bad update is not enough', () => {
  assert.equal(troubleLevel(device('a', 'training', 0.9), now), 'suspect');
  assert.equal(troubleLevel(device('a', 'lost', 0.9), now), 'suspect');
  assert.equal(troubleLevel(device('a', 'training', 1, 5, 1), now), 'fine');
  assert.equal(troubleLevel(device('a', 'training', 0.3), now), 'watch');
  assert.equal(troubleLevel(device('a', 'training', 0, 0.95), now), 'watch');
  assert.equal(troubleLevel(device('a', 'lost', 0), now), 'lost');
  assert.equal(troubleLevel(device('a', 'disconnected', 0), now), 'off');
  assert.equal(troubleLevel(device('a', 'training', 0), now), 'fine');
});

test('Suspects come first, then those who ask, then the lost; names as people count', () => {
  const devices = [device('pi-10', 'training', 0), device('pi-2', 'training', 0), device('x', 'lost', 0), device('bad', 'training', 1, 9), device('worse', 'training', 1, 30), device('hot', 'alert', 0)];
  assert.deepEqual(orderDevices(devices, now).map(({ name }) => name), ['bad', 'worse', 'hot', 'x', 'pi-2', 'pi-10']);
});

test('Filters and other orders', () => {
  const devices = [device('pi-1', 'training', 0.1), device('pi-2', 'training', null), device('cam-1', 'lost', 0.6)];
  assert.deepEqual(orderDevices(devices, now, { filter: ' PI ' }).map(({ name }) => name), ['pi-1', 'pi-2']);
  assert.deepEqual(orderDevices(devices, now, { levels: 'suspect' }).map(({ name }) => name), ['cam-1']);
  assert.deepEqual(orderDevices(devices, now, { key: 'name', descending: false }).map(({ name }) => name), ['cam-1', 'pi-1', 'pi-2']);
  assert.deepEqual(orderDevices(devices, now, { key: 'share', descending: true }).map(({ name }) => name), ['cam-1', 'pi-1', 'pi-2']);
});

test('An ended certificate is as bad here as in the monitor', () => {
  const ended = device('a', 'ready', 0);
  ended.status.certificateUntil = now - 1;
  assert.equal(troubleLevel(ended, now), 'alert');
  ended.status.certificateUntil = now + 86400e3;
  assert.equal(troubleLevel(ended, now), 'watch');
  ended.status.certificateUntil = now + 30 * 86400e3;
  assert.equal(troubleLevel(ended, now), 'fine');
});
