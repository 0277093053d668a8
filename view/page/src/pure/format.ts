// SPDX-License-Identifier: BSD-3-Clause
// Numbers for people, to the letter as the command line prints them (cli/terminal/units.cpp), so that a
// reader who compares both sees the same text. test/page/units.test.mjs holds both against each other.

/** Rounds ties to even, as printf does; toFixed rounds them away from zero. */
function fixed(value: number, decimals: number): string {
  // Only a multiple of 1/2^(decimals + 1) can be a tie, and such a value scales without an error.
  if (Number.isInteger(value * 2 ** (decimals + 1))) {
    const scaled = value * 10 ** decimals;
    const floor = Math.floor(scaled);
    if (scaled - floor === 0.5 && floor % 2 === 0) return (floor / 10 ** decimals).toFixed(decimals);
  }
  return value.toFixed(decimals);
}

function decimalsOf(value: number): number {
  return value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
}

/** "3.45 GB": powers of 1000. */
export function humanBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB'];
  let unit = 0;
  while (bytes >= 999.5 && unit + 1 < units.length) {
    bytes /= 1000;
    ++unit;
  }
  const decimals = unit === 0 && bytes === Math.floor(bytes) ? 0 : decimalsOf(bytes);
  return `${fixed(bytes, decimals)} ${units[unit]}`;
}

/** "64 KiB": for powers of two, exact. */
export function binEdge(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
  let unit = 0;
  while (bytes >= 1024 && bytes % 1024 === 0 && unit + 1 < units.length) {
    bytes /= 1024;
    ++unit;
  }
  return `${bytes} ${units[unit]}`;
}

/** "47,761". */
export function grouped(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

/** "61 %", "0.4 %", "<0.1 %". */
export function percent(part: number, of: number): string {
  if (!(of > 0)) return '0 %';
  const value = (100 * part) / of;
  if (part > 0 && value < 0.1) return '<0.1 %';
  if (value > 99 && part < of) return `${fixed(Math.min(value, 99.9), 1)} %`;
  return `${fixed(value, value > 0 && value < 10 && value < 9.95 ? 1 : 0)} %`;
}

/** "1.50 s", "3 min 20 s", "2 h 05 min". */
export function humanSeconds(seconds: number): string {
  if (seconds < 0.0995) return `${fixed(seconds * 1000, 1)} ms`;
  if (seconds < 9.95) return `${fixed(seconds, 2)} s`;
  if (seconds < 119.5) return `${fixed(seconds, 1)} s`;
  const whole = Math.round(seconds);
  const two = (n: number) => String(n).padStart(2, '0');
  if (whole < 7200) return `${Math.floor(whole / 60)} min ${two(whole % 60)} s`;
  return `${Math.floor(whole / 3600)} h ${two(Math.floor(whole / 60) % 60)} min`;
}

/** "12.3 µs", "1.50 ms", "215 s": three digits. */
export function humanTime(seconds: number): string {
  if (seconds === 0) return '0 s';
  if (seconds >= 999.5) return humanSeconds(seconds);
  const units = ['s', 'ms', 'µs', 'ns'];
  let unit = 0;
  while (seconds < 0.9995 && unit + 1 < units.length) {
    seconds *= 1000;
    ++unit;
  }
  return `${fixed(seconds, decimalsOf(seconds))} ${units[unit]}`;
}

/** The same of nanoseconds. */
export function humanNs(ns: number): string {
  return ns < 0 ? `−${humanTime(-ns / 1e9)}` : humanTime(ns / 1e9);
}

/** "12.5 GB/s". */
export function humanRate(bytesPerSecond: number): string {
  return `${humanBytes(bytesPerSecond)}/s`;
}

/** A moment on an axis whose marks are `step` ns apart: only the digits that tell marks apart. */
export function moment(ns: number, stepNs: number): string {
  const [unit, scale] = stepNs >= 1e8 ? ['s', 1e9] : stepNs >= 1e5 ? ['ms', 1e6] : stepNs >= 100 ? ['µs', 1e3] : ['ns', 1];
  const decimals = Math.max(0, Math.min(9, Math.ceil(-Math.log10(stepNs / (scale as number)) - 1e-9)));
  return `${(ns / (scale as number)).toFixed(decimals)} ${unit}`;
}

/** Marks at round numbers, at most `most` of them, in [from, to]. */
export function marks(from: number, to: number, most: number): { step: number; at: number[] } {
  const rough = Math.max((to - from) / Math.max(1, most), 1e-9);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((s) => s >= rough * 0.9999) ?? 10 * power;
  const at: number[] = [];
  for (let n = Math.ceil(from / step); n * step <= to && at.length < 1000; ++n) at.push(n * step);
  return { step, at };
}

/** Replaces control characters, which a file from elsewhere may contain, by '?'. */
export function printable(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, '?');
}
