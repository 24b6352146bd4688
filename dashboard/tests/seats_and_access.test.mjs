import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brokerProblem, findAccess } from '../src/access.js';
import { kSeats, Seats } from '../src/seats.js';

function lockTable() {
  const held = new Set();
  return { held, hold: async (name) => (held.has(name) ? null : (held.add(name), () => held.delete(name))) };
}

test('Pages of one browser take seats side by side, and leave them again', async () => {
  const locks = lockTable();
  const pages = Array.from({ length: kSeats }, () => new Seats(locks, kSeats - 1));
  const users = [];
  for (const page of pages) users.push(await page.take());
  assert.equal(users[0], `dashboard~${kSeats}`);
  assert.equal(users[1], 'dashboard~1');
  assert.equal(new Set(users).size, kSeats);
  assert.equal(await pages[3].take(), users[3]);
  pages[3].leave();
  assert.equal(await new Seats(locks, 0).take(), users[3]);
  assert.match(await new Seats(locks, 0).take(), /^dashboard~/);  // none is free: someone has to give way
});

test('A seat that was lost is not taken again at once; more pages than seats are noticed', async () => {
  const seats = new Seats(lockTable(), 4, () => 0);
  assert.equal(await seats.take(), 'dashboard~5');
  assert.equal(seats.lost(0), false);
  assert.equal(await seats.take(), 'dashboard~6');
  for (let i = 0; i < 5; i += 1) assert.equal(seats.lost(1000 * i), false);
  assert.equal(seats.lost(6000), true);
  assert.equal(seats.lost(600000), false);
});

test('A key goes to brokers over TLS or on this machine only', () => {
  for (const fine of ['wss://broker.example.org:8884', 'ws://127.0.0.1:8090/mqtt', 'ws://localhost:1/mqtt', 'ws://[::1]:1/']) assert.equal(brokerProblem(fine), null);
  for (const bad of ['ws://broker.example.org', 'http://127.0.0.1', 'javascript:alert(1)', 'broker', '']) assert.notEqual(brokerProblem(bad), null);
});

function browser(href) {
  const storage = () => { const map = new Map(); return { getItem: (key) => map.get(key) ?? null, setItem: (key, value) => map.set(key, value) }; };
  const { protocol, host, hash, pathname, search } = new URL(href);
  const window = { location: { protocol, host, hash, pathname, search }, localStorage: storage(), sessionStorage: storage(), history: { replaceState: (_, __, url) => { window.shown = url; } } };
  return window;
}

test('The key leaves the address and is found again after a reload', () => {
  const window = browser('http://127.0.0.1:8090/#fleet=greenhouse&key=secret');
  assert.deepEqual(findAccess(window), { fleet: 'greenhouse', broker: 'ws://127.0.0.1:8090/mqtt', key: 'secret' });
  assert.equal(window.shown, '/#fleet=greenhouse');
  window.location.hash = '';
  assert.equal(findAccess(window).key, 'secret');
});
