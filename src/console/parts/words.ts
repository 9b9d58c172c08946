import type { Value } from '../../engines/contract/tables.js';
import { html, type Html, type Part } from './html.js';

const STEPS: readonly (readonly [seconds: number, unit: string])[] = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
];
const MICRO = 1_000_000n;

/** A stretch of time as a person says it: `42 s`, `5 min`, `3 h`, `2 d`. */
export function stretch(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const [step, unit] = STEPS.find(([least]) => whole >= least) ?? [1, 's'];
  return `${Math.floor(whole / step)} ${unit}`;
}

/** Shows how long ago it was, and holds the instant itself in UTC. */
export function ago(instant: string | null, now: number): Html {
  if (instant === null) return html`<span class="none">never</span>`;
  const seconds = (now - Date.parse(instant)) / 1000;
  const said = seconds < 0 ? `in ${stretch(-seconds)}` : `${stretch(seconds)} ago`;
  return html`<time datetime="${instant}" title="${instant}">${said}</time>`;
}

/** Exact to the millionth: `6,300.2`. */
export function tonnes(micro: bigint): string {
  const sign = micro < 0n ? '−' : '';
  const size = micro < 0n ? -micro : micro;
  const beyond = String(size % MICRO)
    .padStart(6, '0')
    .replace(/0+$/, '');
  return `${sign}${thousands(size / MICRO)}${beyond === '' ? '' : `.${beyond}`}`;
}

export function thousands(count: number | bigint): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `1 job`, `2 jobs`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${thousands(count)} ${count === 1 ? one : many}`;
}

/** A cell as it stands in the mirror. */
export function shown(value: Value | undefined): Part {
  return value instanceof Uint8Array ? counted(value.length, 'byte') : value;
}

export function badge(state: string): Html {
  return html`<span class="state ${state}">${state.replaceAll('_', ' ')}</span>`;
}
