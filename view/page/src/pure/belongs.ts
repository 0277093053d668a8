// SPDX-License-Identifier: BSD-3-Clause
// What belongs to what is chosen, where the two are of different kinds: functions and the classes of messages
// that their calls send, findings and ranks. A page dims what does not belong.
import { placeText } from './place';
import type { Choice } from './view_state';

// Groups of functions (trace/attributes.cpp) whose calls start, take or complete the program's own messages.
const kOwnMessages = new Set(['send', 'receive', 'sendreceive', 'completion', 'probe', 'point-to-point']);
const kOwn = 'point-to-point';

/** The class of the messages that calls of a function send or complete; null: it sends none that are counted. */
export function classOfFunction(name: string, group: string): string | null {
  if (kOwnMessages.has(group)) return kOwn;
  if (group === 'collective') return name.replace(/_c$/, ''); // both forms have one class
  if (group === 'onesided') return 'one-sided';
  if (group === 'io') return 'io';
  return null;
}

interface Functions {
  name: string[];
  group: string[];
}

/**
 * Whether each function belongs to the choice; null: all do. A chosen function of the program, in which
 * MPI is called, takes nothing away: a trace does not know which calls were made in it.
 */
export function litFunctions(functions: Functions | undefined, choice: Choice): boolean[] | null {
  if (!functions) return null;
  if (choice.function !== null) return functions.name.includes(choice.function) ? functions.name.map((name) => name === choice.function) : null;
  if (choice.class === null) return null;
  return functions.name.map((name, at) => classOfFunction(name, functions.group[at] ?? '') === choice.class);
}

/** Groups of functions of which at least one belongs to the choice; null: all do. */
export function litGroups(functions: Functions | undefined, choice: Choice): Set<string> | null {
  const lit = litFunctions(functions, choice);
  return lit && new Set(functions!.group.filter((_, at) => lit[at]));
}

/** The class that a chosen class or function means for messages; null: all. */
export function chosenClass(functions: Functions | undefined, choice: Choice): string | null {
  if (choice.class !== null || choice.function === null) return choice.class;
  const at = functions?.name.indexOf(choice.function) ?? -1;
  return at < 0 ? null : classOfFunction(choice.function, functions!.group[at] ?? '');
}

interface Placed {
  id: number;
  culprits?: number[];
  victims?: number[];
  pairs?: { source: number; destination: number }[];
  where?: { class?: string; function?: string; file?: string; line?: number };
  windows?: { from_s: number; to_s: number }[];
}

/** Whether a finding is about something that is chosen. What it does not say counts as everywhere. */
export function concerns(finding: Placed, choice: Choice): boolean {
  if (choice.finding !== null) return finding.id === choice.finding;
  const ranks = new Set([...(finding.culprits ?? []), ...(finding.victims ?? [])]);
  if (ranks.size > 0) {
    if (choice.ranks && !choice.ranks.some((rank) => ranks.has(rank))) return false;
    if (choice.pair && !choice.pair.some((rank) => ranks.has(rank))) return false;
  }
  const windows = finding.windows ?? [];
  if (choice.window && windows.length > 0) {
    const [from, to] = choice.window;
    if (!windows.some((window) => window.from_s * 1e9 < to && window.to_s * 1e9 > from)) return false;
  }
  if (choice.class !== null && finding.where?.class && finding.where.class !== choice.class) return false;
  if (choice.site !== null && finding.where?.file && placeText(finding.where.file, finding.where.line ?? 0) !== choice.site) return false;
  return !(choice.function !== null && finding.where?.function && finding.where.function !== choice.function);
}
