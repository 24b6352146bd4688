// Everything the page knows, from messages alone. No clock, no page, no network: tests drive it.
import { readMessage, readTopic } from './contract.js';
import { LiveSeries } from './series.js';

export const kMaxDevices = 5000;
export const kMaxEvents = 200;
/** Of the device that is looked at, so many distances are kept; of all others, the latest 16. */
export const kMaxDistances = 600;

export class FleetState {
  constructor(limits = {}) {
    this.maxDevices = limits.devices ?? kMaxDevices;
    this.maxEvents = limits.events ?? kMaxEvents;
    this.clear();
  }

  clear() {
    this.devices = new Map();
    this.events = [];
    this.gateway = null;
    this.metrics = null;
    this.live = new LiveSeries();
    this.watched = null;
    this.distances = [];
    this.messages = 0;
    this.ignored = 0;
    this.unplaced = 0;
  }

  /** What changed: 'device', 'gateway', 'metrics', 'event', 'history' (with the answer), or null: ignored. */
  apply(tail, payload, nowMs) {
    this.messages += 1;
    const topic = readTopic(tail);
    if (topic === null) return this.ignore();
    if (payload.length === 0) return this.forget(topic);
    const message = readMessage(topic.kind, payload);
    if (message === null) return this.ignore();
    switch (topic.kind) {
      case 'gateway':
        this.gateway = message;
        return { changed: 'gateway' };
      case 'metrics':
        this.metrics = { ...message, receivedMs: nowMs };
        this.live.add(message);
        return { changed: 'metrics' };
      case 'event':
        this.events.unshift({ ...message, time: message.time ?? nowMs });
        if (this.events.length > this.maxEvents) this.events.length = this.maxEvents;
        return { changed: 'event' };
      case 'history':
        return { changed: 'history', answer: message };
      default:
        return this.placeDevice(topic, message);
    }
  }

  placeDevice(topic, message) {
    let device = this.devices.get(topic.device);
    if (device === undefined) {
      if (this.devices.size >= this.maxDevices) {
        this.unplaced += 1;
        return this.ignore();
      }
      device = { name: topic.device, status: null, summary: null, revision: 0 };
      this.devices.set(topic.device, device);
    }
    // A last will knows the state only; what the device said before is still the latest that it said.
    const keeps = topic.kind === 'status' && message.state === 'lost' && device.status !== null;
    device[topic.kind] = keeps ? { ...device.status, state: 'lost', message: message.message } : message;
    device.revision += 1;
    if (topic.kind === 'summary' && topic.device === this.watched) this.addDistances(message.recent);
    return { changed: 'device', device };
  }

  /** An empty retained message: the thing is gone. */
  forget(topic) {
    if (topic.kind === 'gateway') this.gateway = null;
    if (topic.kind === 'metrics') this.metrics = null;
    const device = this.devices.get(topic.device);
    if (device !== undefined) {
      device[topic.kind] = null;
      device.revision += 1;
      if (device.status === null && device.summary === null) this.devices.delete(topic.device);
    }
    return { changed: topic.device === undefined ? topic.kind : 'device' };
  }

  ignore() {
    this.ignored += 1;
    return { changed: null };
  }

  /** Keeps the distances of one device, from now on; null: of none. */
  watch(name) {
    this.watched = name;
    this.distances = [];
    const device = name === null ? undefined : this.devices.get(name);
    if (device?.summary) this.addDistances(device.summary.recent);
  }

  addDistances(points) {
    const last = this.distances.length > 0 ? this.distances[this.distances.length - 1].time : -Infinity;
    for (const point of points) if (point.time > last) this.distances.push(point);
    if (this.distances.length > kMaxDistances) this.distances.splice(0, this.distances.length - kMaxDistances);
  }
}
