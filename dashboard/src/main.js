// Puts the page together: messages change the state at once, the page follows once per frame, charts once per second.
import { brokerProblem, findAccess, firstSeat, rememberAccess } from './access.js';
import { errorChart, stack, verdictChart } from './charts.js';
import { Connection } from './connection.js';
import { isIdentifier } from './contract.js';
import { DevicePanel } from './device_panel.js';
import { DeviceTable } from './device_table.js';
import { setText } from './dom.js';
import { EventList } from './event_list.js';
import { FleetState } from './fleet_state.js';
import { count } from './format.js';
import { DelayHistogram } from './histogram.js';
import { HistoryQuestions } from './history.js';
import { browserLocks, kSeats, Seats } from './seats.js';
import { fleetColumns, historyPoints } from './series.js';
import { brokerHealth, gatewayHealth, Summary } from './summary.js';
import { Theme } from './theme.js';

const kSlowPartsMs = 1000;
const kEventsMs = 250;
const kAskAgainMs = 60000;
const kShortestMs = 60000;

const $ = (id) => document.getElementById(id);

class Page {
  constructor() {
    this.state = new FleetState();
    this.link = { state: 'connecting' };
    this.lastMessage = null;
    this.connection = null;
    this.questions = new HistoryQuestions((tail, text) => this.connection?.publish(tail, text));
    this.past = { points: [], stepMs: null };
    this.summary = new Summary($('tiles'));
    this.error = errorChart($('error-chart'));
    this.verdicts = verdictChart($('verdict-chart'));
    this.delays = new DelayHistogram($('delays'));
    this.events = new EventList($('events'), $('no-events'), (name) => this.openDevice(name));
    this.table = new DeviceTable({ heads: $('heads'), viewport: $('viewport'), body: $('rows'), filter: $('filter'), levels: $('levels'), empty: $('no-devices'), caption: $('device-count') },
      this.state, (name) => this.openDevice(name));
    this.panel = new DevicePanel({ panel: $('panel'), title: $('panel-title'), badge: $('panel-badge'), advice: $('panel-advice'), facts: $('panel-facts'), chart: $('panel-chart'), chartNote: $('panel-note'), close: $('panel-close'), range: $('panel-range') },
      this.state, this.questions, () => this.table.select(null));
    this.theme = new Theme($('theme'), () => [this.error, this.verdicts, this.panel.plot].forEach((chart) => chart.recolour()));
    $('range').addEventListener('input', () => this.askPast());
    $('retry').addEventListener('click', () => this.connection?.hurry());
    $('access').addEventListener('submit', (event) => this.signIn(event));
    $('sign-out').addEventListener('click', () => this.showAccess(''));
    window.addEventListener('online', () => this.connection?.hurry());
    this.dirty = true;
    this.slowAt = -Infinity;
    this.eventsAt = -Infinity;
    this.rate = { at: Date.now(), messages: 0, perSecond: 0 };
    this.begin();
    const frame = () => { this.draw(); requestAnimationFrame(frame); };
    requestAnimationFrame(frame);
  }

  begin() {
    this.access = findAccess(window);
    if (!isIdentifier(this.access.fleet) || this.access.key === '' || brokerProblem(this.access.broker) !== null) this.showAccess('');
    else this.connect();
  }

  showAccess(problem) {
    $('access-fleet').value = this.access.fleet;
    $('access-broker').value = this.access.broker;
    setText($('access-problem'), problem);
    if (!$('access-box').open) $('access-box').showModal();
    (this.access.fleet === '' ? $('access-fleet') : $('access-key')).focus();
  }

  signIn(event) {
    event.preventDefault();
    const access = { fleet: $('access-fleet').value.trim(), broker: $('access-broker').value.trim(), key: $('access-key').value.trim() || this.access.key };
    const problem = !isIdentifier(access.fleet) ? 'Fleets are named by letters, digits, “.”, “_” and “-”.'
      : access.key === '' ? 'The key is missing; “aflguard dashboard --fleet DIR” prints it.' : brokerProblem(access.broker);
    if (problem !== null) { setText($('access-problem'), problem); return; }
    this.access = access;
    rememberAccess(window, access);
    $('access-box').close();
    this.connect();
  }

  connect() {
    this.connection?.stop();
    this.state.clear();
    this.table.reorder();
    setText($('fleet'), this.access.fleet);
    document.title = `${this.access.fleet} · AFLGuard Edge`;
    this.connection = new Connection({
      address: this.access.broker, fleet: this.access.fleet, key: this.access.key, seats: new Seats(browserLocks(navigator), firstSeat(window, kSeats)),
      onState: (link) => this.onLink(link), onMessage: (tail, payload) => this.onMessage(tail, payload),
    });
  }

  onLink(link) {
    this.link = link;
    this.dirty = true;
    if (link.state === 'connected') {
      this.askPast();
      this.panel.askPast();
    } else if (link.state !== 'connecting') {
      this.questions.abandon();
    }
    if (link.state === 'refused' && this.lastMessage === null) this.showAccess('The broker does not take this key.');
  }

  onMessage(tail, payload) {
    this.lastMessage = Date.now();
    const { changed, answer } = this.state.apply(tail, payload, this.lastMessage);
    if (changed === 'history') this.questions.take(answer);
    if (changed !== null) this.dirty = true;
  }

  async askPast() {
    const spanMs = Number($('range').value);
    this.askedAt = Date.now();
    try {
      const answer = await this.questions.ask({ series: 'fleet', fromMs: this.askedAt - spanMs, toMs: this.askedAt });
      if (spanMs !== Number($('range').value)) return;
      this.past = { points: historyPoints(answer), stepMs: answer.stepMs };
      setText($('past-note'), '');
    } catch (problem) {
      setText($('past-note'), this.link.state === 'connected' ? `The past is not shown: ${problem.message}.` : '');
    }
    document.body.dataset.past = String(this.past.points.length);
    this.slowAt = -Infinity;
  }

  openDevice(name) {
    this.panel.show(name);
    this.table.select(name);
  }

  draw() {
    const nowMs = Date.now();
    const slow = nowMs - this.slowAt >= kSlowPartsMs;
    if (!this.dirty && !slow) return;
    this.dirty = false;
    this.table.draw(nowMs);
    if (nowMs - this.eventsAt >= kEventsMs) {
      this.eventsAt = nowMs;
      this.events.draw(this.state.events);
    } else {
      this.dirty = true;
    }
    if (!slow) return;
    this.slowAt = nowMs;
    this.drawSlowParts(nowMs);
  }

  drawSlowParts(nowMs) {
    this.drawHealth(nowMs);
    this.summary.draw(this.state, nowMs);
    this.delays.show(this.state.metrics?.delays ?? null);
    this.panel.draw(nowMs);
    this.drawCharts(nowMs);
    if (this.link.state === 'connected' && nowMs - this.askedAt > kAskAgainMs) this.askPast();
    const seconds = (nowMs - this.rate.at) / 1000;
    const perSecond = Math.max(0, this.state.messages - this.rate.messages) / seconds;
    this.rate = { at: nowMs, messages: this.state.messages };
    document.body.dataset.messages = String(this.state.messages);
    setText($('traffic'), `${count(perSecond)} messages/s`);
    setText($('ignored'), this.state.ignored > 0 ? `${count(this.state.ignored)} messages ignored: not what docs/topics.md promises` : '');
  }

  drawHealth(nowMs) {
    const broker = brokerHealth(this.link, this.lastMessage, nowMs);
    const connected = this.link.state === 'connected';
    const gateway = connected ? gatewayHealth(this.state, nowMs) : { tone: 'warn', word: 'gateway: unknown', text: '' };
    for (const [id, health] of [['broker', broker], ['gateway', gateway]]) {
      setText($(id), health.word);
      $(id).dataset.tone = health.tone;
    }
    const text = broker.text || gateway.text;
    $('banner').hidden = text === '';
    $('banner').dataset.tone = broker.text ? broker.tone : gateway.tone;
    setText($('banner-text'), text);
    $('retry').hidden = this.link.state !== 'away' && this.link.state !== 'refused';
    document.body.dataset.link = this.link.state;
    document.body.dataset.stale = String(!connected);
    setText($('guard'), this.state.gateway?.guard ? `guard ${this.state.gateway.guard}` : '');
    setText($('software'), this.state.gateway?.software ? `gateway ${this.state.gateway.software}` : '');
  }

  drawCharts(nowMs) {
    const spanMs = Number($('range').value);
    const fromMs = nowMs - spanMs;
    const columns = fleetColumns(this.past.points, this.past.stepMs, this.state.live.points, fromMs, nowMs);
    // A fleet that is younger than the chosen time fills the chart with what there is.
    const first = columns.times.findIndex((_, i) => columns.accepted[i] !== null || columns.error[i] !== null);
    const begin = first < 0 ? fromMs : Math.max(fromMs, Math.min(columns.times[first] * 1000, nowMs - kShortestMs));
    const range = [begin / 1000, nowMs / 1000];
    const evaluated = columns.error.some((value) => value !== null);
    $('no-error').hidden = evaluated;
    $('error-chart').hidden = !evaluated;
    if (evaluated) this.error.show([columns.times, columns.error], ['test error'], range);
    const { data, names, own } = stack(columns);
    this.verdicts.show(data, names, range);
    if (this.verdicts.plot) this.verdicts.plot.own = own;
  }
}

new Page();
