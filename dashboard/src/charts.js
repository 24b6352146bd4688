// Lines and areas over time, drawn by uPlot.
import uPlot from 'uplot';
import { figure } from './format.js';
import { kEarlier } from './series.js';
import { chartColours } from './theme.js';

const kHeight = 200;

const kMinute = 60;
const kHour = 3600;
const kDay = 86400;
// uPlot's table of what to write at which distance between ticks, with 24 hours in a day.
const kClock = [
  [kDay * 28, '{MMM} {YYYY}', null, null, null, null, null, null, 1], [kDay, '{D} {MMM}', null, null, null, null, null, null, 1],
  [kHour, '{HH}:{mm}', '\n{D} {MMM}', null, '\n{D} {MMM}', null, null, null, 1], [kMinute, '{HH}:{mm}', '\n{D} {MMM}', null, '\n{D} {MMM}', null, null, null, 1],
  [1, '{HH}:{mm}:{ss}', '\n{D} {MMM}', null, '\n{D} {MMM}', null, null, null, 1],
];

function axes(colours, left) {
  const common = { stroke: colours.text, font: colours.font, grid: { stroke: colours.grid, width: 1 }, ticks: { stroke: colours.grid, width: 1, size: 4 } };
  return [{ ...common, space: 70, values: kClock }, { ...common, size: 52, values: (_, values) => values.map((value) => (value === null ? '' : figure(value, 2))), ...left }];
}

/** A chart that fills its box, follows its size, and is made again when its series or the colours change. */
export class TimeChart {
  constructor(box, { height = kHeight, series, logarithmic = () => false, label, legend = true }) {
    Object.assign(this, { box, height, series, logarithmic, legend });
    this.label = label;
    this.shape = '';
    box.setAttribute('role', 'img');
    new ResizeObserver(() => this.resize()).observe(box);
  }

  width() {
    return Math.max(200, Math.floor(this.box.clientWidth));
  }

  resize() {
    if (this.plot && this.box.clientWidth > 0 && this.plot.width !== this.width()) {
      this.plot.setSize({ width: this.width(), height: this.height });
    }
  }

  recolour() {
    this.shape = '';
    if (this.last) this.show(...this.last);
  }

  /** `data`: uPlot's columns, times first. `names`: of the series, in their order. */
  show(data, names, range) {
    this.last = [data, names, range];
    if (this.box.clientWidth === 0) return;
    const log = this.logarithmic(data);
    const shape = JSON.stringify([names, log]);
    if (shape !== this.shape) {
      this.plot?.destroy();
      const colours = chartColours();
      this.plot = new uPlot({
        width: this.width(), height: this.height, axes: axes(colours, log ? { filter: (u, splits) => splits.map((v) => (Number.isInteger(Math.log10(v)) ? v : null)) } : {}),
        series: [{ value: '{YYYY}-{MM}-{DD} {HH}:{mm}:{ss}' }, ...this.series(colours, names)], legend: { show: this.legend, live: true },
        scales: { x: { time: true }, y: log ? { distr: 3 } : { range: (_, low, high) => [0, high > 0 ? high * 1.08 : 1] } },
        cursor: { drag: { x: false, y: false }, points: { size: 6 } }, padding: [8, 8, 0, 0],
      }, data, this.box);
      this.shape = shape;
    } else {
      this.plot.setData(data, false);
    }
    if (range) this.plot.setScale('x', { min: range[0], max: range[1] });
    this.box.setAttribute('aria-label', this.label(data, names));
  }
}

function latest(column) {
  for (let i = column.length - 1; i >= 0; i -= 1) if (column[i] !== null && column[i] !== undefined) return column[i];
  return null;
}

export function errorChart(box) {
  return new TimeChart(box, {
    legend: false,
    series: (colours) => [{ label: 'test error', stroke: colours.line, width: 2, spanGaps: true, points: { show: false }, fill: `${colours.line}22` }],
    label: (data) => `Model error over time; the latest is ${figure(latest(data[1]))}`,
  });
}

/** A reason keeps its colour, whatever else is in the chart. */
function reasonColour(name, colours) {
  if (name === 'accepted') return colours.good;
  if (name === 'too-far') return colours.reasons[0];
  if (name === kEarlier) return colours.earlier;
  let sum = 0;
  for (const letter of name) sum += letter.charCodeAt(0);
  return colours.reasons[1 + (sum % (colours.reasons.length - 1))];
}

/** Areas on top of each other: data holds running sums from the top down, so that lower areas cover higher ones. */
export function verdictChart(box) {
  return new TimeChart(box, {
    series: (colours, names) => names.map((name) => {
      const colour = reasonColour(name, colours);
      return {
        label: name, stroke: colour, fill: colour, width: 1, points: { show: false }, paths: uPlot.paths.stepped({ align: 1 }),
        value: (plot, raw, series, at) => (at === null || at === undefined ? '–' : figure(plot.own?.[series - 1]?.[at] ?? null, 2)),
      };
    }),
    label: (data, names) => `Updates per second by verdict: ${names.join(', ')}`,
  });
}

/** columns of fleetColumns -> what verdictChart shows: [data, names, own values]. */
export function stack(columns, mostReasons = 5) {
  const entries = [...columns.by];
  const shown = entries.slice(0, mostReasons);
  const rest = entries.slice(mostReasons);
  if (rest.length > 0) {
    shown.push(['other reasons', columns.times.map((_, i) => rest.reduce((sum, [, values]) => (values[i] === null ? sum : (sum ?? 0) + values[i]), null))]);
  }
  const layers = [['accepted', columns.accepted], ...shown];
  const sums = [];
  let below = columns.times.map(() => 0);
  for (const [, values] of layers) {
    below = below.map((sum, i) => (values[i] === null ? null : sum + values[i]));
    sums.push(below);
  }
  return { data: [columns.times, ...sums.reverse()], names: layers.map(([name]) => name).reverse(), own: layers.map(([, values]) => values).reverse() };
}

const kLogarithmicFrom = 30;

export function distanceChart(box) {
  return new TimeChart(box, {
    height: 240,
    logarithmic: (data) => {
      const all = data.slice(1).flat().filter((value) => value !== null && value > 0);
      return all.length > 0 && Math.max(...all) / Math.min(...all) > kLogarithmicFrom;
    },
    series: (colours) => [
      { label: 'accepted', stroke: colours.line, width: 0, points: { show: true, size: 6, fill: colours.line }, paths: () => null },
      { label: 'rejected', stroke: colours.bad, width: 0, points: { show: true, size: 6, fill: colours.bad }, paths: () => null },
      { label: 'bound λ‖g‖', stroke: colours.bound, width: 2, dash: [6, 4], spanGaps: true, points: { show: false } },
    ],
    label: (data) => `Distance to the reference update against its bound; latest distance ${figure(latest(data[1]) ?? latest(data[2]))}, bound ${figure(latest(data[3]))}`,
  });
}

export function distanceData(points) {
  const positive = (value) => (value !== null && value > 0 ? value : null);
  return [
    points.map((point) => point.time / 1000),
    points.map((point) => (point.accepted ? positive(point.distance) : null)),
    points.map((point) => (point.accepted ? null : positive(point.distance))),
    points.map((point) => positive(point.bound)),
  ];
}
