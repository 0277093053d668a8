// SPDX-License-Identifier: BSD-3-Clause
// The way of a tube: a bow from one thing to another. The two directions of a pair bend to
// different sides, so that both are seen, also from straight above.
import { Vec } from './camera';

export interface Bow {
  from: Vec;
  control: Vec; // of the quadratic curve
  to: Vec;
}

export function bowOf(from: Vec, to: Vec, lift: number): Bow {
  const along: Vec = [to[0] - from[0], to[1] - from[1], to[2] - from[2]];
  const length = Math.hypot(...along) || 1;
  // To the side: the direction turned by a right angle in the floor; for a vertical way, to x.
  const flat = Math.hypot(along[0], along[2]);
  const side: Vec = flat > 1e-6 * length ? [along[2] / flat, 0, -along[0] / flat] : [1, 0, 0];
  const middle = [0, 1, 2].map((axis) => (from[axis] + to[axis]) / 2);
  return {
    from,
    control: [
      middle[0] + side[0] * 0.18 * length,
      middle[1] + lift * length,
      middle[2] + side[2] * 0.18 * length + lift * 0.4 * length,
    ],
    to,
  };
}

export function pointOn(bow: Bow, part: number, out: Vec = [0, 0, 0]): Vec {
  const rest = 1 - part;
  for (let axis = 0; axis < 3; ++axis)
    out[axis] =
      rest * rest * bow.from[axis] + 2 * rest * part * bow.control[axis] + part * part * bow.to[axis];
  return out;
}

export function centre(boxes: Float32Array, at: number): Vec {
  return [boxes[at * 6], boxes[at * 6 + 1], boxes[at * 6 + 2]];
}
