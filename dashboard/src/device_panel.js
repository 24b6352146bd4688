// One device: what it says of itself, what the gateway thinks of it, and how far its updates were from the server's own.
import { distanceChart, distanceData } from './charts.js';
import { element, setText } from './dom.js';
import { ago, count, day, figure, percent } from './format.js';
import { historyPoints, mergeDistances } from './series.js';
import { deviceState, lastSeen, levelWord, troubleOf } from './trouble.js';

/** What to do about it; the reason stands before. */
const kAdvice = {
  suspect: 'Its data differ, or it lies. Look at its samples; “aflguard device revoke” shuts it out.',
  watch: 'Worth a look.',
  lost: 'It vanished without saying goodbye: power, network, or a program that hangs.',
  alert: 'It does not work until this is mended.',
  off: 'It takes no part for now.',
  fine: '',
};

function adviceText({ why }, level) {
  return why === '' ? kAdvice[level] : `${why[0].toUpperCase()}${why.slice(1)}. ${kAdvice[level]}`;
}

function facts(device, nowMs) {
  const { status, summary } = device;
  const verdict = summary?.last ?? status?.verdict;
  return [
    ['State', deviceState(device) ?? 'unknown'],
    ['Last seen', lastSeen(device) === null ? '–' : `${ago(lastSeen(device), nowMs)} ago`],
    ['Accepted', count(summary?.accepted ?? status?.accepted)],
    ['Rejected', count(summary?.rejected ?? status?.rejected)],
    ['Refused', count(summary?.refused ?? status?.refused)],
    ['Recently rejected', percent(summary?.rejectedShare)],
    ['Last verdict', verdict ? verdict.reason || (verdict.accepted ? 'accepted' : 'rejected') : '–'],
    ['Distance / bound', verdict && verdict.distance !== null && verdict.distance !== undefined ? `${figure(verdict.distance)} / ${figure(verdict.bound)}` : '–'],
    ['Delay', verdict && verdict.delay !== null ? `${count(verdict.delay)} versions` : '–'],
    ['Trains on version', count(status?.version)],
    ['Loss', figure(status?.loss)],
    ['Error on own samples', status?.localError == null ? null :
      `${figure(status.localError.error)} (version ${count(status.localError.version)}, ${count(status.localError.samples)} held back)`],
    ['Samples', count(status?.samples)],
    ['Memory used', status?.rssMb == null ? null : `${figure(status.rssMb)} MB`],
    ['Memory free', status?.memoryFreeMb == null ? null : `${figure(status.memoryFreeMb)} MB`],
    ['Temperature', status?.temperature == null ? null : `${figure(status.temperature)} °C`],
    ['Certificate until', status?.certificateUntil == null ? null : day(status.certificateUntil)],
    ['Software', status?.software ?? null],
    ['It says', status?.message ? status.message : null],
  ].filter(([, value]) => value !== null);
}

export class DevicePanel {
  /** `parts`: {panel, title, badge, advice, facts, chart, chartNote, close, range}. */
  constructor(parts, state, questions, onClose) {
    Object.assign(this, parts, { state, questions, onClose });
    this.plot = distanceChart(this.chart);
    this.name = null;
    this.past = [];
    this.close.addEventListener('click', () => this.hide());
    this.range.addEventListener('input', () => this.askPast());
    this.panel.addEventListener('keydown', (event) => { if (event.key === 'Escape') this.hide(); });
  }

  show(name) {
    this.returnTo = document.activeElement;
    this.name = name;
    this.past = [];
    this.state.watch(name);
    this.panel.hidden = false;
    document.body.dataset.panel = 'open';
    this.askPast();
    this.draw(Date.now());
    this.close.focus();
  }

  hide() {
    if (this.name === null) return;
    this.name = null;
    this.state.watch(null);
    this.panel.hidden = true;
    delete document.body.dataset.panel;
    this.onClose();
    this.returnTo?.focus?.();
  }

  async askPast() {
    const { name } = this;
    if (name === null) return;
    const nowMs = Date.now();
    this.spanMs = Number(this.range.value);
    setText(this.chartNote, 'Asking the gateway for the past …');
    try {
      const answer = await this.questions.ask({ series: 'device', device: name, fromMs: nowMs - this.spanMs, toMs: nowMs });
      if (this.name !== name) return;
      this.past = historyPoints(answer);
      setText(this.chartNote, '');
    } catch (problem) {
      if (this.name !== name) return;
      setText(this.chartNote, `No past shown: ${problem.message}.`);
    }
    this.panel.dataset.past = String(this.past.length);
    this.draw(Date.now());
  }

  draw(nowMs) {
    const device = this.name === null ? undefined : this.state.devices.get(this.name);
    if (device === undefined) { if (this.name !== null) setText(this.title, this.name); return; }
    const trouble = troubleOf(device, nowMs);
    const level = levelWord(device, trouble);
    setText(this.title, device.name);
    this.panel.dataset.level = level;
    setText(this.badge, level === 'fine' ? deviceState(device) ?? '' : level);
    setText(this.advice, adviceText(trouble, level));
    this.advice.hidden = level === 'fine';
    this.drawFacts(facts(device, nowMs));
    const points = mergeDistances(this.past, this.state.distances);
    const from = points.length > 0 ? Math.max(points[0].time, nowMs - this.spanMs) : nowMs - this.spanMs;
    this.plot.show(distanceData(points), ['accepted', 'rejected', 'bound'], [Math.min(from, nowMs - 30000) / 1000, nowMs / 1000]);
    if (points.length === 0 && this.chartNote.textContent === '') setText(this.chartNote, 'No update of this device was judged yet.');
  }

  drawFacts(entries) {
    while (this.facts.children.length > entries.length) this.facts.lastChild.remove();
    entries.forEach(([name, value], i) => {
      const pair = this.facts.children[i] ?? this.facts.appendChild(element('div', element('dt'), element('dd')));
      setText(pair.firstChild, name);
      setText(pair.lastChild, value);
    });
  }
}
