// SPDX-License-Identifier: BSD-3-Clause
// A camera that goes round a point, for both renderers: Canvas 2-D projects with it, three.js is
// set to the same place. One camera means that a saved view, a preset or a flight looks the same
// with and without WebGL.
export type Vec = [number, number, number];
export interface Bounds {
  min: Vec;
  max: Vec;
}
export interface CameraState {
  target: Vec;
  distance: number;
  yaw: number; // radians round the vertical axis; 0 looks from +z
  pitch: number; // radians above the horizon
}
export interface Preset {
  name: string;
  label: string;
  yaw: number;
  pitch: number;
}
// Not quite straight down: there the up direction would be undefined.
const STEEPEST = Math.PI / 2 - 1e-3;
export const PRESETS: Preset[] = [
  { name: 'iso', label: 'Iso', yaw: Math.PI / 5, pitch: Math.PI / 6 },
  { name: 'top', label: 'Top', yaw: 0, pitch: STEEPEST },
  { name: 'front', label: 'Front', yaw: 0, pitch: 0 },
  { name: 'side', label: 'Side', yaw: Math.PI / 2, pitch: 0 },
];
export const FIELD_OF_VIEW = (45 * Math.PI) / 180; // vertical

const subtract = (a: Vec, b: Vec): Vec => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const dot = (a: Vec, b: Vec) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

export function centreOf(bounds: Bounds): Vec {
  return [0, 1, 2].map((axis) => (bounds.min[axis] + bounds.max[axis]) / 2) as Vec;
}

// Directions of a camera: to the right, up, and from the target to the eye.
export function axesOf(state: CameraState): { right: Vec; up: Vec; back: Vec } {
  const { yaw, pitch } = state;
  const [sy, cy, sp, cp] = [Math.sin(yaw), Math.cos(yaw), Math.sin(pitch), Math.cos(pitch)];
  return { right: [cy, 0, -sy], up: [-sy * sp, cp, -cy * sp], back: [sy * cp, sp, cy * cp] };
}

export function eyeOf(state: CameraState): Vec {
  const { back } = axesOf(state);
  return state.target.map((value, axis) => value + back[axis] * state.distance) as Vec;
}

// The nearest camera in this direction that has all of the bounds in a picture of this shape.
export function fitted(bounds: Bounds, yaw: number, pitch: number, aspect: number, margin = 1.06): CameraState {
  const target = centreOf(bounds);
  const { right, up, back } = axesOf({ target, distance: 1, yaw, pitch });
  const tall = Math.tan(FIELD_OF_VIEW / 2);
  const wide = tall * Math.max(aspect, 0.1);
  let distance = 1;
  for (let corner = 0; corner < 8; ++corner) {
    const at = [0, 1, 2].map((axis) => (corner & (1 << axis) ? bounds.max[axis] : bounds.min[axis])) as Vec;
    const offset = subtract(at, target);
    const depth = dot(offset, back);
    distance = Math.max(
      distance,
      depth + (Math.abs(dot(offset, right)) / wide) * margin,
      depth + (Math.abs(dot(offset, up)) / tall) * margin,
    );
  }
  return { target, distance, yaw, pitch };
}

export interface Projected {
  x: number; // pixels from the left
  y: number; // from the top
  depth: number; // from the eye; not positive: behind it
  scale: number; // pixels for a length of 1 at this depth
}

export class Projection {
  private readonly eye: Vec;
  private readonly right: Vec;
  private readonly up: Vec;
  private readonly back: Vec;
  private readonly focal: number;

  constructor(
    readonly state: CameraState,
    readonly width: number,
    readonly height: number,
  ) {
    const axes = axesOf(state);
    this.eye = eyeOf(state);
    this.right = axes.right;
    this.up = axes.up;
    this.back = axes.back;
    this.focal = height / 2 / Math.tan(FIELD_OF_VIEW / 2);
  }

  // Into `out`, which is returned: the renderers call this a hundred thousand times for a frame.
  point(x: number, y: number, z: number, out: Projected): Projected {
    const dx = x - this.eye[0];
    const dy = y - this.eye[1];
    const dz = z - this.eye[2];
    const depth = -(dx * this.back[0] + dy * this.back[1] + dz * this.back[2]);
    const scale = depth > 0 ? this.focal / depth : 0;
    out.depth = depth;
    out.scale = scale;
    out.x = this.width / 2 + (dx * this.right[0] + dy * this.right[1] + dz * this.right[2]) * scale;
    out.y = this.height / 2 - (dx * this.up[0] + dy * this.up[1] + dz * this.up[2]) * scale;
    return out;
  }

  // Whether a ball may be seen.
  sees(x: number, y: number, z: number, radius: number): boolean {
    const at = this.point(x, y, z, scratch);
    if (at.depth <= -radius) return false;
    if (at.depth <= radius) return true;
    const reach = radius * at.scale * 1.2;
    return at.x > -reach && at.y > -reach && at.x < this.width + reach && at.y < this.height + reach;
  }
}
const scratch: Projected = { x: 0, y: 0, depth: 0, scale: 0 };

export function turned(state: CameraState, dx: number, dy: number): CameraState {
  const pitch = Math.max(-STEEPEST, Math.min(STEEPEST, state.pitch + dy * 0.005));
  return { ...state, yaw: state.yaw - dx * 0.005, pitch };
}

// The target follows the pointer by this many pixels.
export function moved(state: CameraState, dx: number, dy: number, height: number): CameraState {
  const { right, up } = axesOf(state);
  const length = (2 * state.distance * Math.tan(FIELD_OF_VIEW / 2)) / height;
  const target = state.target.map((value, axis) => value - right[axis] * dx * length + up[axis] * dy * length) as Vec;
  return { ...state, target };
}

export function zoomed(state: CameraState, factor: number): CameraState {
  return { ...state, distance: Math.max(2, Math.min(1e7, state.distance * factor)) };
}

// A flight from one state to another, `part` from 0 to 1. Angles take the shorter way round.
export function between(from: CameraState, to: CameraState, part: number): CameraState {
  if (part <= 0) return from;
  const eased = part >= 1 ? 1 : part * part * (3 - 2 * part);
  const mix = (a: number, b: number) => a + (b - a) * eased;
  const turn = Math.atan2(Math.sin(to.yaw - from.yaw), Math.cos(to.yaw - from.yaw));
  return {
    target: from.target.map((value, axis) => mix(value, to.target[axis])) as Vec,
    distance: eased === 1 ? to.distance : Math.exp(mix(Math.log(from.distance), Math.log(to.distance))),
    yaw: from.yaw + turn * eased,
    pitch: mix(from.pitch, to.pitch),
  };
}

// In a link: "x,y,z,distance,yaw,pitch"; undefined if it is none.
export function cameraText(state: CameraState): string {
  const short = (value: number) => Number(value.toPrecision(6)).toString();
  return [...state.target, state.distance, state.yaw, state.pitch].map(short).join(',');
}
export function parseCamera(text: string): CameraState | undefined {
  const numbers = text.split(',').map(Number);
  if (numbers.length !== 6 || !numbers.every(Number.isFinite) || numbers[3] <= 0) return undefined;
  const [x, y, z, distance, yaw, pitch] = numbers;
  return { target: [x, y, z], distance, yaw, pitch: Math.max(-STEEPEST, Math.min(STEEPEST, pitch)) };
}
