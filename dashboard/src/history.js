// Questions to the gateway about the past. An answer comes in parts; one that never ends is given up.
import { kViewer } from './contract.js';

const kPatienceMs = 15000;
const kMaxParts = 200;
const kMaxPoints = 1000;

export class HistoryQuestions {
  /** `publish(tail, text)` sends; `timers` can be replaced by tests. */
  constructor(publish, timers = { set: (f, ms) => setTimeout(f, ms), clear: (t) => clearTimeout(t) }, random = Math.random) {
    this.publish = publish;
    this.timers = timers;
    this.prefix = random().toString(36).slice(2, 10);
    this.next = 0;
    this.pending = new Map();
  }

  /** Resolves with {fields, points, stepMs}, or rejects with an Error that can be shown. */
  ask({ series, device, fromMs, toMs, points = 300 }) {
    this.next += 1;
    const id = `${this.prefix}-${this.next}`;
    const question = { schema: 'aflguard-history-question-1', id, series, from_ms: Math.round(fromMs), to_ms: Math.round(toMs), points };
    if (device !== undefined) question.device = device;
    return new Promise((resolve, reject) => {
      const timer = this.timers.set(() => {
        this.pending.delete(id);
        reject(new Error('the gateway did not answer'));
      }, kPatienceMs);
      this.pending.set(id, { resolve, reject, timer, parts: 0, fields: [], points: [], stepMs: null });
      this.publish(`ask/${kViewer}/history`, JSON.stringify(question));
    });
  }

  /** A message on the answers' topic; those of other pages are not ours. */
  take(answer) {
    const open = this.pending.get(answer.id);
    if (open === undefined) return;
    open.parts += 1;
    open.stepMs ??= answer.stepMs;
    if (answer.fields.length > 0) open.fields = answer.fields;
    open.points.push(...answer.points.slice(0, kMaxPoints - open.points.length));
    if (!answer.last && answer.error === null && open.parts < kMaxParts) return;
    this.timers.clear(open.timer);
    this.pending.delete(answer.id);
    if (answer.error !== null) open.reject(new Error(answer.error));
    else open.resolve({ fields: open.fields, points: open.points, stepMs: open.stepMs });
  }

  /** The connection is gone: no answer will come. */
  abandon() {
    for (const { reject, timer } of this.pending.values()) {
      this.timers.clear(timer);
      reject(new Error('the connection was lost'));
    }
    this.pending.clear();
  }
}
