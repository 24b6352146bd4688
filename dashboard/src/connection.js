// The one place that knows MQTT: connects, subscribes, and comes back by itself.
import mqtt from 'mqtt';
import { kViewer } from './contract.js';

const kFilters = ['gateway/status', 'gateway/metrics', 'gateway/devices/+', 'up/+/status', 'events', `tell/${kViewer}/history`];
const kKeepAliveSeconds = 20;
const kConnectPatienceMs = 10000;
const kFirstPauseMs = 1000;
const kLongestPauseMs = 15000;
const kRefusedPauseMs = 30000;
const kSessionTakenOver = 0x8e;
const kBadUserOrPassword = [4, 5, 0x86, 0x87];

export class Connection {
  /**
   * `onState({state, why, retryMs})`: state is 'connecting', 'connected', 'away' (with the time of the next attempt)
   * or 'refused' (the broker does not take the key). `onMessage(tail, payload)`.
   */
  constructor({ address, fleet, key, seats, onState, onMessage }) {
    Object.assign(this, { address, key, seats, onState, onMessage });
    this.prefix = `aflguard/v1/${fleet}/`;
    this.pause = kFirstPauseMs;
    this.stopped = false;
    this.client = null;
    this.timer = null;
    this.connect();
  }

  async connect() {
    this.onState({ state: 'connecting' });
    const attempt = { why: null, refused: false };
    const user = await this.seats.take();
    if (this.stopped) return;
    const client = mqtt.connect(this.address, {
      protocolVersion: 5, clientId: user, username: user, password: this.key, clean: true, keepalive: kKeepAliveSeconds,
      connectTimeout: kConnectPatienceMs, reconnectPeriod: 0, resubscribe: false, queueQoSZero: false,
    });
    this.client = client;
    client.on('connect', () => this.subscribe(client, attempt));
    client.on('message', (topic, payload) => {
      if (topic.startsWith(this.prefix)) this.onMessage(topic.slice(this.prefix.length), payload);
    });
    client.on('disconnect', (packet) => {
      if (packet.reasonCode !== kSessionTakenOver) return;
      const full = this.seats.lost(Date.now());
      attempt.why = full ? 'more pages are open than the broker has seats for; close some' : 'another page took this seat';
      if (full) this.pause = kLongestPauseMs;
    });
    client.on('error', (error) => {
      if (kBadUserOrPassword.includes(error.code)) attempt.refused = true;
    });
    client.on('close', () => {
      if (this.client === client && !this.stopped) this.retry(attempt);
    });
  }

  subscribe(client, attempt) {
    client.subscribe(kFilters.map((filter) => this.prefix + filter), { qos: 0 }, (error, granted) => {
      if (this.client !== client || this.stopped) return;
      if (error || granted.some(({ qos }) => qos >= 0x80)) {
        attempt.why = 'the broker does not let this page read the fleet’s topics; is the fleet’s name right?';
        client.end(true);
        return;
      }
      this.pause = kFirstPauseMs;
      this.onState({ state: 'connected' });
    });
  }

  retry(attempt) {
    this.client.removeAllListeners();
    this.client.on('error', () => {});  // a socket that is going down may still complain
    this.client.end(true);
    this.client = null;
    const pause = attempt.refused ? kRefusedPauseMs : this.pause * (0.8 + 0.4 * Math.random());
    this.pause = Math.min(kLongestPauseMs, this.pause * 2);
    this.onState({ state: attempt.refused ? 'refused' : 'away', why: attempt.why, retryMs: Date.now() + pause });
    this.timer = setTimeout(() => { this.timer = null; this.connect(); }, pause);
  }

  /** Tries at once instead of waiting. */
  hurry() {
    if (this.timer === null || this.stopped) return;
    clearTimeout(this.timer);
    this.timer = null;
    this.pause = kFirstPauseMs;
    this.connect();
  }

  publish(tail, text) {
    this.client?.publish(this.prefix + tail, text, { qos: 0 });
  }

  stop() {
    this.stopped = true;
    clearTimeout(this.timer);
    this.client?.end(true);
    this.client = null;
    this.seats.leave();
  }
}
