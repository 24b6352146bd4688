import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FleetState, kMaxDistances, kMaxEvents } from '../src/fleet_state.js';

const now = Date.parse('2026-01-31T12:00:00Z');
const encode = (value) => new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value));
const status = (more = {}) => ({ schema: 'aflguard-device-status-1', state: 'training', device: 'pi-1', time: '2026-01-31T12:00:00Z', version: 7, loss: 0.3, ...more });
const summary = (more = {}) => ({ schema: 'aflguard-device-summary-1', device: 'pi-1', accepted: 90, rejected: 6, recent_rejected_share: 0.05, recent: [[now - 1000, 12, 18, 1], [now, 14, 18, 1]], ...more });
const metrics = (more = {}) => ({ schema: 'aflguard-gateway-metrics-1', time: '2026-01-31T12:00:00Z', uptime_seconds: 10, updates: 5, accepted: 4, rejected: 1, rejected_by: { 'too-far': 1 }, refused: {}, test_error: 0.2, ...more });

function state(...messages) {
  const made = new FleetState();
  for (const [topic, message] of messages) made.apply(topic, encode(message), now);
  return made;
}

test('Status and summary of a device come together under the name in the topic', () => {
  const fleet = state(['up/pi-1/status', status({ device: 'someone-else' })], ['gateway/devices/pi-1', summary()]);
  assert.equal(fleet.devices.size, 1);
  const device = fleet.devices.get('pi-1');
  assert.equal(device.status.state, 'training');
  assert.equal(device.summary.rejected, 6);
  assert.equal(device.summary.recent.length, 2);
});

test('A last will turns a device into a lost one and keeps what it said before', () => {
  const fleet = state(['up/pi-1/status', status()], ['up/pi-1/status', { schema: 'aflguard-device-status-1', state: 'lost', device: 'pi-1', software: '0.1.0', message: '' }]);
  assert.equal(fleet.devices.get('pi-1').status.state, 'lost');
  assert.equal(fleet.devices.get('pi-1').status.loss, 0.3);
});

test('Hostile messages change nothing and are counted', () => {
  const hostile = ['', 'null', '[]', '{', '"text"', '{"schema":1}', '[[[[', '{"schema":"aflguard-device-status-1"}', '{"schema":"aflguard-device-status-2","state":"ready"}',
    '{"schema":"aflguard-device-status-1","state":"__proto__"}', JSON.stringify(status({ message: 'x'.repeat(5000) })), '\u0000'];
  const fleet = new FleetState();
  for (const text of hostile.slice(1)) fleet.apply('up/pi-1/status', encode(text), now);
  fleet.apply('up/pi-1/status', new Uint8Array([0xff, 0xfe, 0x7b]), now);
  for (const topic of ['', 'up//status', 'up/../status', 'up/a b/status', 'up/pi-1/update', 'gateway/devices/__proto__/x', 'model', `up/${'x'.repeat(65)}/status`]) {
    fleet.apply(topic, encode(status()), now);
  }
  assert.equal(fleet.devices.size, 0);
  assert.equal(fleet.ignored, hostile.length + 8);
});

test('Values of the wrong kind are unknown, never shown', () => {
  const fleet = state(['up/pi-1/status', status({ loss: 'NaN', version: -1, message: 5, time: 'yesterday', verdict: [] })],
    ['gateway/devices/pi-1', summary({ recent_rejected_share: 'all', recent: [[1, 2, 3, 1], 'x', [null, 2, 3, 1], [5, 'far', 3, 0]], distance_ratio: 1e999 })]);
  const { status: told, summary: known } = fleet.devices.get('pi-1');
  assert.deepEqual([told.loss, told.version, told.message, told.time, told.verdict], [null, null, null, null, null]);
  assert.equal(known.rejectedShare, null);
  assert.equal(known.ratio, null);
  assert.deepEqual(known.recent, [{ time: 1, distance: 2, bound: 3, accepted: true }, { time: 5, distance: null, bound: 3, accepted: false }]);
});

test('Keys of objects cannot reach prototypes', () => {
  const fleet = state(['gateway/metrics', '{"schema":"aflguard-gateway-metrics-1","time":"2026-01-31T12:00:00Z","rejected_by":{"__proto__":{"polluted":1},"constructor":3,"too-far":2}}']);
  assert.equal({}.polluted, undefined);
  assert.deepEqual([...fleet.metrics.rejectedBy], [['constructor', 3], ['too-far', 2]]);
});

test('Text from messages has no control characters and no tricks with writing direction', () => {
  const fleet = state(['events', { schema: 'aflguard-event-1', kind: 'rejected', device: 'pi-1', text: 'a\u202eb\u0007c' }]);
  assert.equal(fleet.events[0].text, 'a b c');
});

test('Memory is bounded: devices, events and distances', () => {
  const fleet = new FleetState({ devices: 3 });
  for (let i = 0; i < 10; i += 1) fleet.apply(`up/pi-${i}/status`, encode(status()), now);
  assert.equal(fleet.devices.size, 3);
  assert.equal(fleet.unplaced, 7);
  for (let i = 0; i < 2 * kMaxEvents; i += 1) fleet.apply('events', encode({ schema: 'aflguard-event-1', kind: 'lost', text: String(i) }), now);
  assert.equal(fleet.events.length, kMaxEvents);
  assert.equal(fleet.events[0].text, String(2 * kMaxEvents - 1));
  fleet.watch('pi-0');
  for (let i = 0; i < 2 * kMaxDistances; i += 1) fleet.apply('gateway/devices/pi-0', encode(summary({ recent: [[now + i, 1, 2, 1]] })), now);
  assert.equal(fleet.distances.length, kMaxDistances);
  for (let i = 0; i < 3000; i += 1) fleet.apply('gateway/metrics', encode(metrics({ time: new Date(now + 2000 * i).toISOString() })), now);
  assert.ok(fleet.live.points.length <= 1000);
});

test('An empty retained message forgets what it stood for', () => {
  const fleet = state(['up/pi-1/status', status()], ['gateway/devices/pi-1', summary()], ['gateway/metrics', metrics()]);
  fleet.apply('up/pi-1/status', new Uint8Array(), now);
  assert.equal(fleet.devices.get('pi-1').status, null);
  fleet.apply('gateway/devices/pi-1', new Uint8Array(), now);
  assert.equal(fleet.devices.size, 0);
  fleet.apply('gateway/metrics', new Uint8Array(), now);
  assert.equal(fleet.metrics, null);
});

test('Distances of the watched device are kept once each, of others not at all', () => {
  const fleet = state(['gateway/devices/pi-1', summary()]);
  fleet.watch('pi-1');
  fleet.apply('gateway/devices/pi-1', encode(summary({ recent: [[now, 14, 18, 1], [now + 1000, 90, 18, 0]] })), now);
  fleet.apply('gateway/devices/pi-2', encode(summary({ recent: [[now + 5000, 1, 1, 1]] })), now);
  assert.deepEqual(fleet.distances.map((point) => point.distance), [12, 14, 90]);
  fleet.watch(null);
  assert.deepEqual(fleet.distances, []);
});
