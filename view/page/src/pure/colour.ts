// SPDX-License-Identifier: BSD-3-Clause
// Colours that people with any kind of colour vision can tell apart. Groups of functions and ranks: Okabe and
// Ito, "Color Universal Design" (2008). Amounts: cividis (Nuñez, Anderton and Renslow, PLoS ONE 13(7), 2018),
// which runs from dark blue to yellow and looks the same to all eyes; in the light theme it is read from its bright end, so
// that "much" always stands out from the page.

export type Rgb = readonly [number, number, number];

export const css = ([r, g, b]: Rgb, alpha = 1): string =>
  alpha >= 1 ? `rgb(${r},${g},${b})` : `rgba(${r},${g},${b},${alpha})`;

export function mix(a: Rgb, b: Rgb, share: number): Rgb {
  const s = Math.max(0, Math.min(1, share));
  return [Math.round(a[0] + (b[0] - a[0]) * s), Math.round(a[1] + (b[1] - a[1]) * s), Math.round(a[2] + (b[2] - a[2]) * s)];
}

const okabeIto: Rgb[] = [
  [0, 114, 178], // blue
  [230, 159, 0], // orange
  [0, 158, 115], // bluish green
  [204, 121, 167], // reddish purple
  [86, 180, 233], // sky blue
  [213, 94, 0], // vermilion
  [240, 228, 66], // yellow
];

// Waits keep a colour of their own (vermilion), so no group has it.
const groupColours: Record<string, Rgb> = {
  'point-to-point': okabeIto[0]!,
  send: okabeIto[0]!,
  receive: okabeIto[6]!,
  sendreceive: [0, 60, 120],
  completion: okabeIto[4]!,
  collective: okabeIto[1]!,
  onesided: okabeIto[3]!,
  io: okabeIto[2]!,
  probe: [150, 120, 90],
  environment: [135, 135, 145],
  communicator: [105, 105, 115],
  other: [165, 160, 150],
  'in MPI': [86, 130, 200],
};
const otherGroups: Rgb[] = [[110, 130, 60], [90, 140, 150], [150, 120, 90]];

/** The colour of a group of functions; groups that are not known by name share four muted ones. */
export function groupColour(group: string): Rgb {
  const known = groupColours[group];
  if (known) return known;
  let hash = 7;
  for (let at = 0; at < group.length; ++at) hash = (hash * 31 + group.charCodeAt(at)) >>> 0;
  return otherGroups[hash % otherGroups.length]!;
}

/** The colour of a rank as the one that others wait for: neighbours differ, and a rank always has the same colour. */
export function rankColour(rank: number): Rgb {
  const base = okabeIto[rank % okabeIto.length]!;
  const turn = Math.floor(rank / okabeIto.length) % 4;
  return turn === 0 ? base : turn === 1 ? mix(base, [255, 255, 255], 0.35) : turn === 2 ? mix(base, [0, 0, 0], 0.35) : mix(base, [128, 128, 128], 0.5);
}

const cividis: Rgb[] = [
  [0, 34, 78], [0, 51, 111], [57, 72, 108], [87, 93, 109], [112, 113, 115],
  [138, 134, 120], [166, 157, 117], [196, 181, 108], [228, 207, 91], [254, 232, 56],
];

/** The colour of an amount, 0 (least) to 1 (most). */
export function amountColour(share: number, dark: boolean): Rgb {
  const s = Math.max(0, Math.min(1, Number.isFinite(share) ? share : 0));
  const at = (dark ? 0.12 + 0.88 * s : 0.92 - 0.92 * s) * (cividis.length - 1);
  const low = Math.min(cividis.length - 2, Math.floor(at));
  return mix(cividis[low]!, cividis[low + 1]!, at - low);
}

/** Where `value` stands between `least` and `most` on a logarithmic scale, 0 to 1. */
export function logShare(value: number, least: number, most: number): number {
  if (!(value > 0)) return 0;
  if (!(most > least)) return 1;
  return Math.max(0, Math.min(1, Math.log(value / least) / Math.log(most / least)));
}

export interface Palette {
  dark: boolean;
  paper: Rgb;
  panel: Rgb;
  ink: Rgb;
  faint: Rgb;
  line: Rgb;
  computing: Rgb;
  wait: Rgb;
  path: Rgb;
  chosen: Rgb;
}

export const light: Palette = {
  dark: false,
  paper: [255, 255, 255],
  panel: [245, 246, 248],
  ink: [24, 28, 34],
  faint: [96, 103, 112],
  line: [214, 218, 224],
  computing: [222, 227, 232],
  wait: [213, 94, 0],
  path: [20, 20, 20],
  chosen: [0, 90, 181],
};

export const dark: Palette = {
  dark: true,
  paper: [18, 20, 24],
  panel: [28, 31, 37],
  ink: [232, 234, 238],
  faint: [160, 167, 177],
  line: [58, 63, 72],
  computing: [52, 58, 67],
  wait: [240, 120, 40],
  path: [250, 250, 250],
  chosen: [110, 180, 255],
};
