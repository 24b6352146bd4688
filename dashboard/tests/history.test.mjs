import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readMessage } from '../src/contract.js';
import { HistoryQuestions } from '../src/history.js';

function rig() {
  const sent = [];
  const timers = new Map();
  const questions = new HistoryQuestions((topic, text) => sent.push({ topic, ...JSON.parse(text) }), { set: (f) => { const id = {}; timers.set(id, f); return id; }, clear: (id) => timers.delete(id) });
  const tell = (json) => questions.take(readMessage('history', JSON.stringify({ schema: 'aflguard-history-1', ...json })));
  return { sent, timers, questions, tell };
}

test('Parts of an answer are put together until the last', async () => {
  const { sent, timers, questions, tell } = rig();
  const answer = questions.ask({ series: 'device', device: 'pi-1', fromMs: 1.4, toMs: 9 });
  assert.equal(sent[0].topic, 'ask/dashboard/history');
  assert.deepEqual([sent[0].schema, sent[0].series, sent[0].device, sent[0].from_ms, sent[0].to_ms], ['aflguard-history-question-1', 'device', 'pi-1', 1, 9]);
  const { id } = sent[0];
  tell({ id: 'of another page', part: 0, last: true, fields: ['time_ms'], points: [[77]] });
  tell({ id, part: 0, last: false, step_ms: 10000, fields: ['time_ms'], points: [[1], [2]] });
  tell({ id, part: 1, last: true, step_ms: 10000, fields: ['time_ms'], points: [[3], ['x']] });
  assert.deepEqual(await answer, { fields: ['time_ms'], points: [[1], [2], [3], [null]], stepMs: 10000 });
  assert.equal(timers.size, 0);
});

test('Errors, silence and lost connections are told, and nothing stays open', async () => {
  const { sent, timers, questions, tell } = rig();
  const refused = questions.ask({ series: 'fleet', fromMs: 0, toMs: 1 });
  tell({ id: sent[0].id, last: true, error: 'too many questions' });
  await assert.rejects(refused, /too many questions/);
  const silent = questions.ask({ series: 'fleet', fromMs: 0, toMs: 1 });
  [...timers.values()][0]();
  await assert.rejects(silent, /did not answer/);
  const lost = questions.ask({ series: 'fleet', fromMs: 0, toMs: 1 });
  questions.abandon();
  await assert.rejects(lost, /connection was lost/);
  assert.equal(questions.pending.size, 0);
});

test('An answer without end is cut', async () => {
  const { sent, questions, tell } = rig();
  const answer = questions.ask({ series: 'fleet', fromMs: 0, toMs: 1 });
  for (let i = 0; i < 1000; i += 1) tell({ id: sent[0].id, part: i, last: false, fields: ['time_ms'], points: Array.from({ length: 50 }, () => [i]) });
  assert.equal((await answer).points.length, 1000);
});
