// The golden files that the C++ writers and readers are tested with, as the page reads them.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { kDeviceStates, kGatewayStates, readMessage } from '../src/contract.js';
import { orderDevices } from '../src/device_order.js';
import { FleetState } from '../src/fleet_state.js';
import { HistoryQuestions } from '../src/history.js';
import { deviceState, gatewayTrouble, troubleOf } from '../src/trouble.js';

const folder = new URL('../../tests/golden/telemetry/', import.meta.url);
const golden = (name) => readFileSync(new URL(`${name}.json`, folder)).subarray(0, -1);  // without the newline
const kKinds = { device_status: 'status', device_summary: 'summary', gateway_status: 'gateway', gateway_metrics: 'metrics', event: 'event', history_answer: 'history' };

const kTables = new Set(['states.json', 'troubles.json']);  // the others are messages

test('The page knows the states that are sent, and no others', () => {
  const states = JSON.parse(golden('states'));
  assert.deepEqual([...kDeviceStates].sort(), states.devices.sort());
  assert.deepEqual([...kGatewayStates].sort(), states.gateways.sort());
});

test('Every message of the contract is read', () => {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json') && !kTables.has(name)).map((name) => name.slice(0, -5));
  assert.ok(names.length >= 30);
  for (const name of names) {
    const topic = name.split('.')[0];
    if (topic !== 'history_question' && topic !== 'rollout') assert.notEqual(readMessage(kKinds[topic], golden(name)), null, name);
  }
});

test('Fields are read under their names', () => {
  const status = readMessage('status', golden('device_status.full'));
  assert.deepEqual([status.state, status.version, status.accepted, status.rejected, status.refused, status.loss, status.temperature, status.memoryFreeMb],
    ['training', 812, 90, 6, 1, 0.31, 51.5, 310]);
  assert.equal(status.certificateUntil, Date.parse('2028-01-31T12:00:00Z'));
  assert.deepEqual([status.verdict.accepted, status.verdict.reason, status.verdict.delay], [true, 'accepted', 3]);
  const summary = readMessage('summary', golden('device_summary.full'));
  assert.deepEqual([summary.accepted, summary.rejected, summary.refused, summary.last.version, summary.recent.length], [90, 6, 2, 812, 6]);
  assert.deepEqual(summary.recent[1], { time: 1769860798000, distance: null, bound: 18.9, accepted: false });
  const metrics = readMessage('metrics', golden('gateway_metrics.full'));
  assert.deepEqual([metrics.version, metrics.updates, metrics.referenceAge, metrics.devices, metrics.connected, metrics.storeFree], [1234, 1500, 4, 12, 11, 41200000000]);
  assert.deepEqual([...metrics.rejectedBy], [['too-far', 338], ['too-old', 3]]);
  assert.equal(metrics.delays.counts.length, 10);
  const minimal = readMessage('metrics', golden('gateway_metrics.minimal'));
  assert.deepEqual([minimal.testError, minimal.meanDelay, minimal.commitMs, minimal.storeFree], [null, null, null, null]);
  assert.equal(readMessage('gateway', golden('gateway_status.non_ascii')).message.startsWith('Füllstand 80 % – Σ日本🌱'), true);
  assert.equal(readMessage('event', golden('event.minimal')).device, null);
  const answer = readMessage('history', golden('history_answer.fleet'));
  assert.deepEqual([answer.id, answer.last, answer.error, answer.stepMs, answer.fields.length], ['7', true, null, 300000, 8]);
  assert.deepEqual(answer.points[1], [1769774700000, 155, 0, 0, 3, 0, null, null]);
});

test('A question has the fields that the gateway reads', () => {
  const sent = [];
  const questions = new HistoryQuestions((topic, text) => sent.push(JSON.parse(text)), { set: () => 0, clear: () => {} });
  for (const [name, more] of [['history_question.fleet', { series: 'fleet' }], ['history_question.device', { series: 'device', device: 'pi-1' }]]) {
    questions.ask({ ...more, fromMs: 1769774400000, toMs: 1769860800000 });
    assert.deepEqual({ ...sent.pop(), id: '' }, { ...JSON.parse(golden(name)), id: '' });
  }
});

const table = JSON.parse(readFileSync(new URL('troubles.json', folder)));
const nowMs = Date.parse(table.now);
const take = (fleet, { topic, payload }, ms) => fleet.apply(topic, new TextEncoder().encode(JSON.stringify(payload)), ms);

test('Devices of the shared table have the trouble, the state and the rank that the monitor gives them, too', () => {
  const fleet = new FleetState();
  for (const { messages } of table.devices) for (const message of messages) take(fleet, message, nowMs);
  assert.equal(fleet.ignored, 0);
  const order = orderDevices(fleet.devices.values(), nowMs);
  const found = order.map((device, rank) => {
    const { level, suspicious, why, score } = troubleOf(device, nowMs);
    return [device.name, { rank, state: deviceState(device), level, suspicious, why, score: Math.trunc(score) }];
  });
  const expected = [...table.devices].sort((a, b) => a.expected.rank - b.expected.rank).map(({ name, expected: wanted }) => [name, wanted]);
  assert.deepEqual(found, expected);
});

test('Gateways of the shared table have the trouble that the monitor gives them, too', () => {
  for (const { what, received, messages, expected } of table.gateways) {
    const fleet = new FleetState();
    for (const message of messages) take(fleet, message, Date.parse(received));
    const { level, why } = gatewayTrouble(fleet, nowMs);
    assert.deepEqual({ level, why }, expected, what);
  }
});
