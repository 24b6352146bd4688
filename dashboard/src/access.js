// Where the fleet is and with which key: from the address behind '#', which no server sees, from an earlier visit, or
// from the form. The key stays in this tab's memory of the session.

const kName = 'aflguard-fleet';
const kBroker = 'aflguard-broker';
const kKey = 'aflguard-key';
const kFirstSeat = 'aflguard-first-seat';

function remembered(storage, key) {
  try { return storage.getItem(key) ?? ''; } catch { return ''; }
}
function remember(storage, key, value) {
  try { storage.setItem(key, value); } catch { /* private windows may refuse; the page works without */ }
}

/** The page's own server passes /mqtt on to the broker; a page from a file has none. */
function defaultBroker(location) {
  if (location.protocol === 'https:') return `wss://${location.host}/mqtt`;
  return location.protocol === 'http:' ? `ws://${location.host}/mqtt` : '';
}

const kLoopback = ['localhost', '127.0.0.1', '[::1]'];

/** An explanation when the address cannot be a broker's, null when it can. */
export function brokerProblem(address) {
  let url;
  try { url = new URL(address); } catch { return `“${address}” is not an address; try wss://broker.example.org:8884`; }
  if (url.protocol === 'wss:') return null;
  if (url.protocol === 'ws:' && kLoopback.includes(url.hostname)) return null;
  return 'the address must begin with wss:// (ws:// only for this very machine): the key would travel in the open';
}

/** {fleet, broker, key}; what is unknown is empty. A key in the address leaves it, so that it is not shared by chance. */
export function findAccess(window) {
  const hash = new URLSearchParams(window.location.hash.slice(1));
  const pick = (name, storage, key) => {
    const given = hash.get(name);
    if (given !== null) remember(storage, key, given);
    return given ?? remembered(storage, key);
  };
  const access = {
    fleet: pick('fleet', window.localStorage, kName),
    broker: pick('broker', window.localStorage, kBroker) || defaultBroker(window.location),
    key: pick('key', window.sessionStorage, kKey),
  };
  if (hash.has('key')) {
    hash.delete('key');
    const rest = hash.toString();
    window.history.replaceState(null, '', window.location.pathname + window.location.search + (rest ? `#${rest}` : ''));
  }
  return access;
}

export function rememberAccess(window, { fleet, broker, key }) {
  remember(window.localStorage, kName, fleet);
  remember(window.localStorage, kBroker, broker === defaultBroker(window.location) ? '' : broker);
  remember(window.sessionStorage, kKey, key);
}

/** Where this browser's pages look for a seat first; chosen by chance, once. */
export function firstSeat(window, seats) {
  const known = Number.parseInt(remembered(window.localStorage, kFirstSeat), 10);
  if (known >= 0 && known < seats) return known;
  const chosen = Math.floor(Math.random() * seats);
  remember(window.localStorage, kFirstSeat, String(chosen));
  return chosen;
}
