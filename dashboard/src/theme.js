// Light or dark: as the system says, until the reader chooses.
const kChoice = 'aflguard-theme';

export class Theme {
  constructor(button, onChange) {
    this.button = button;
    this.onChange = onChange;
    this.system = window.matchMedia('(prefers-color-scheme: dark)');
    this.system.addEventListener('change', () => this.show());
    button.addEventListener('click', () => this.choose(this.dark() ? 'light' : 'dark'));
    this.show();
  }
  chosen() {
    try { return localStorage.getItem(kChoice); } catch { return null; }
  }
  dark() {
    const chosen = this.chosen();
    return chosen === null ? this.system.matches : chosen === 'dark';
  }
  choose(theme) {
    try { localStorage.setItem(kChoice, theme); } catch { /* not remembered */ }
    this.forced = theme;
    this.show();
  }
  show() {
    const dark = this.forced === undefined ? this.dark() : this.forced === 'dark';
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
    this.button.setAttribute('aria-label', dark ? 'Switch to light colours' : 'Switch to dark colours');
    this.button.textContent = dark ? '☀' : '☾';
    this.onChange();
  }
}

/** The colours that the style sheet gives the charts right now. */
export function chartColours() {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue(name).trim();
  return {
    text: get('--muted'), grid: get('--grid'), line: get('--accent'), good: get('--good-fill'), bad: get('--bad'),
    bound: get('--bound'), card: get('--card'), font: '11px system-ui, sans-serif',
    reasons: ['--reason-1', '--reason-2', '--reason-3', '--reason-4', '--reason-5'].map(get), earlier: get('--reason-earlier'),
  };
}
