// SPDX-License-Identifier: BSD-3-Clause
// The colours of the machine, from those of all pages; "#rrggbb", which both renderers understand.
import { groupColour, mix, Palette as PageColours, Rgb } from '../pure/colour';
import type { Palette } from './scene';

export const hex = (colour: Rgb): string => '#' + colour.map((value) => value.toString(16).padStart(2, '0')).join('');

export function machineColours(page: PageColours): Palette {
  return {
    background: hex(page.paper),
    text: hex(page.ink),
    line: hex(mix(page.line, page.faint, 0.45)),
    node: hex(mix(page.panel, page.line, 0.35)),
    idle: hex(mix(page.panel, page.line, 0.8)),
    core: hex(page.dark ? [120, 130, 145] : [150, 160, 172]),
    glow: page.dark ? '#ffd75e' : '#c23b00',
    selected: hex(page.chosen),
    family: {
      blocking: hex(groupColour('point-to-point')),
      collective: hex(groupColour('collective')),
      'one-sided': hex(groupColour('one-sided')),
      io: hex(groupColour('io')),
      library: hex(page.faint),
    },
    severity: {
      critical: page.dark ? '#ff8a5c' : '#b02a00',
      warning: page.dark ? '#f0b040' : '#8a5300',
      info: page.dark ? '#6eb4ff' : '#005ab5',
      other: hex(page.faint),
    },
  };
}
