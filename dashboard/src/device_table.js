// Thousands of devices in a table of which only the visible rows exist.
import { element, setAttribute, setText, shape } from './dom.js';
import { ago, count, figure, percent } from './format.js';
import { orderDevices } from './device_order.js';
import { deviceState, lastSeen, troubleLevel } from './trouble.js';

const kRowHeight = 40;
const kSpareRows = 6;
const kOrderPauseMs = 1500;
/** A change of distance/bound per update that is no more than noise; and from where on moving away matters. */
const kStill = 0.005;
const kNear = 0.8;

const kBadges = { suspect: 'suspect', watch: 'watch', lost: 'lost', alert: 'alert' };

/** Distances over bounds as a line, with the bound itself as a rule across. */
class Sparkline {
  static kWidth = 96;
  static kHeight = 26;
  static kTop = 1.5;  // ratios above this stay at the upper edge

  constructor() {
    const { kWidth: width, kHeight: height } = Sparkline;
    this.line = shape('polyline', { class: 'line', fill: 'none' });
    this.dots = shape('path', { class: 'dots' });
    this.node = shape('svg', { viewBox: `0 0 ${width} ${height}`, width, height, class: 'spark', 'aria-hidden': 'true' });
    const rule = Sparkline.height(1);
    this.node.append(shape('line', { class: 'rule', x1: 0, x2: width, y1: rule, y2: rule }), this.line, this.dots);
  }
  static height(ratio) {
    return Sparkline.kHeight - 3 - (Math.min(ratio, Sparkline.kTop) / Sparkline.kTop) * (Sparkline.kHeight - 6);
  }
  show(recent) {
    const step = (Sparkline.kWidth - 6) / 15;
    const points = [];
    let dots = '';
    recent.forEach((point, i) => {
      if (point.distance === null || !(point.bound > 0)) return;
      const x = (3 + (16 - recent.length + i) * step - step).toFixed(1);
      const y = Sparkline.height(point.distance / point.bound).toFixed(1);
      points.push(`${x},${y}`);
      if (!point.accepted) dots += `M${x} ${y}m-2 0a2 2 0 1 0 4 0a2 2 0 1 0 -4 0`;
    });
    this.line.setAttribute('points', points.join(' '));
    this.dots.setAttribute('d', dots);
  }
}

class Row {
  constructor(table, index) {
    this.name = element('span.name');
    this.badge = element('span.badge');
    this.state = element('span.state');
    this.shareText = element('span.figure');
    this.shareBar = element('span.fill');
    this.ratio = element('span.figure');
    this.spark = new Sparkline();
    this.trend = element('span.trend');
    this.delay = element('span.figure');
    this.seen = element('span.figure');
    const cell = (name, ...content) => {
      const made = element(`div.cell.${name}`, ...content);
      made.setAttribute('role', 'gridcell');
      return made;
    };
    this.node = element('div.row',
      cell('device', this.name, this.badge), cell('status', this.state),
      cell('share', this.shareText, element('span.meter', this.shareBar)), cell('ratio', this.ratio), cell('spark', this.spark.node),
      cell('trend', this.trend), cell('delay', this.delay), cell('seen', this.seen));
    this.node.setAttribute('role', 'row');
    this.node.id = `row-${index}`;
    this.node.addEventListener('click', () => this.device && table.open(this.device.name));
    this.device = null;
    this.revision = -1;
  }

  /** `nowMs` moves ages on; everything else is written only when the device has news. */
  show(device, position, nowMs, { selected, active }) {
    setText(this.seen, ago(lastSeen(device), nowMs));
    setAttribute(this.node, 'aria-selected', String(selected));
    setAttribute(this.node, 'data-active', active ? 'true' : null);
    if (this.position !== position) {
      this.position = position;
      this.node.style.transform = `translateY(${position * kRowHeight}px)`;
      this.node.setAttribute('aria-rowindex', String(position + 2));
    }
    if (this.device === device && this.revision === device.revision) return;
    this.device = device;
    this.revision = device.revision;
    const { summary } = device;
    const level = troubleLevel(device, nowMs);
    const state = deviceState(device) ?? 'unknown';
    this.node.dataset.device = device.name;
    this.node.dataset.level = level;
    this.node.dataset.state = state;
    setText(this.name, device.name);
    setText(this.badge, level === state ? '' : kBadges[level] ?? '');
    setText(this.state, state);
    setText(this.shareText, percent(summary?.rejectedShare));
    this.shareBar.style.width = `${Math.min(100, 100 * (summary?.rejectedShare ?? 0))}%`;
    setText(this.ratio, figure(summary?.ratio, 2));
    this.spark.show(summary?.recent ?? []);
    const trend = summary?.trend ?? null;
    const still = trend === null || Math.abs(trend) < kStill;
    const worrying = trend > kStill && (summary.ratio ?? 0) > kNear;
    setText(this.trend, trend === null ? '–' : still ? '→' : trend > 0 ? '↗' : '↘');
    setAttribute(this.trend, 'title', trend === null ? null : `distance/bound changes by ${figure(trend, 2)} per update`);
    setAttribute(this.trend, 'data-way', worrying ? 'away' : null);
    setText(this.delay, count(summary?.last?.delay));
  }
}

export class DeviceTable {
  /** `parts`: {heads, viewport, body, filter, levels, empty, caption}. `onOpen(name)`. */
  constructor(parts, state, onOpen) {
    Object.assign(this, parts, { state, onOpen });
    this.rows = [];
    this.order = [];
    this.orderedAt = -Infinity;
    this.sort = { key: 'trouble', descending: true };
    this.active = 0;
    this.selected = null;
    this.heads.querySelectorAll('button[data-key]').forEach((head) => head.addEventListener('click', () => this.sortBy(head.dataset.key)));
    for (const input of [this.filter, this.levels]) input.addEventListener('input', () => this.reorder());
    this.viewport.addEventListener('scroll', () => this.onScroll());
    this.viewport.addEventListener('keydown', (event) => this.onKey(event));
    new ResizeObserver(() => this.onScroll()).observe(this.viewport);
  }

  onScroll() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => { this.waiting = 0; this.draw(Date.now()); });
  }

  sortBy(key) {
    const descending = this.sort.key === key ? !this.sort.descending : !['name', 'state'].includes(key);
    this.sort = { key, descending };
    this.heads.querySelectorAll('[role=columnheader]').forEach((head) => {
      const own = head.querySelector('button')?.dataset.key === key;
      setAttribute(head, 'aria-sort', own ? (descending ? 'descending' : 'ascending') : null);
    });
    this.reorder();
  }

  reorder() {
    this.orderedAt = -Infinity;
    this.draw(Date.now());
  }

  open(name) {
    this.active = Math.max(0, this.order.findIndex((device) => device.name === name));
    this.onOpen(name);
  }

  select(name) {
    this.selected = name;
    this.draw(Date.now());
  }

  onKey(event) {
    const page = Math.max(1, Math.floor(this.viewport.clientHeight / kRowHeight) - 1);
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key in moves) {
      this.active = Math.min(this.order.length - 1, Math.max(0, this.active + moves[event.key]));
      const top = this.active * kRowHeight;
      if (top < this.viewport.scrollTop) this.viewport.scrollTop = top;
      const below = top + kRowHeight - this.viewport.clientHeight;
      if (below > this.viewport.scrollTop) this.viewport.scrollTop = below;
      this.draw(Date.now());
    } else if (event.key === 'Enter' && this.order[this.active]) {
      this.open(this.order[this.active].name);
    } else {
      return;
    }
    event.preventDefault();
  }

  /** Rows change places only now and then, so that they can be read and clicked. */
  sortNow(nowMs) {
    if (nowMs - this.orderedAt < kOrderPauseMs) return;
    this.orderedAt = nowMs;
    this.order = orderDevices(this.state.devices.values(), nowMs, { ...this.sort, filter: this.filter.value, levels: this.levels.value });
    this.active = Math.max(0, Math.min(this.active, this.order.length - 1));
    this.body.style.height = `${this.order.length * kRowHeight}px`;
    this.viewport.setAttribute('aria-rowcount', String(this.order.length + 1));
    const all = this.state.devices.size;
    setText(this.caption, this.order.length === all ? count(all) : `${count(this.order.length)} of ${count(all)}`);
    this.empty.hidden = this.order.length > 0;
    setText(this.empty, all === 0 ? 'No device has said anything yet.' : 'No device fits.');
  }

  draw(nowMs) {
    this.sortNow(nowMs);
    const visible = Math.ceil(this.viewport.clientHeight / kRowHeight) + 2 * kSpareRows;
    while (this.rows.length < Math.min(visible, this.order.length)) {
      const row = new Row(this, this.rows.length);
      this.rows.push(row);
      this.body.append(row.node);
    }
    const first = Math.max(0, Math.min(Math.floor(this.viewport.scrollTop / kRowHeight) - kSpareRows, this.order.length - this.rows.length));
    const focused = document.activeElement === this.viewport;
    this.rows.forEach((row, i) => {
      // A row keeps its device while that is in sight: position modulo the number of rows.
      const position = first + ((i - (first % this.rows.length) + this.rows.length) % this.rows.length);
      const device = this.order[position];
      row.node.hidden = device === undefined;
      if (device === undefined) return;
      const active = focused && position === this.active;
      if (active) this.viewport.setAttribute('aria-activedescendant', row.node.id);
      row.show(device, position, nowMs, { selected: device.name === this.selected, active });
    });
  }
}
