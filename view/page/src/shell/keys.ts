// SPDX-License-Identifier: BSD-3-Clause
// The keys of the shell and of the page that is shown, in one list, which the help page prints.

export interface Key {
  /** as KeyboardEvent.key says it ("f", "ArrowLeft"), several with blanks between them; "Shift+" and "Ctrl+" before */
  keys: string;
  /** for people, completes "… does this" */
  does: string;
  run: (event: KeyboardEvent) => void;
}

interface Group {
  title: string;
  keys: Key[];
}

const groups: Group[] = [];

/** Listens to `keys` until the function that it returns is called. */
export function addKeys(title: string, keys: Key[]): () => void {
  const group = { title, keys };
  groups.push(group);
  return () => {
    const at = groups.indexOf(group);
    if (at >= 0) groups.splice(at, 1);
  };
}

/** What the help page prints for pages that are not shown now. */
export const described: Group[] = [];
export function describeKeys(title: string, keys: [string, string][]): void {
  described.push({ title, keys: keys.map(([k, does]) => ({ keys: k, does, run: () => undefined })) });
}

const matches = (spelled: string, event: KeyboardEvent): boolean => {
  const ctrl = spelled.startsWith('Ctrl+');
  const rest = ctrl ? spelled.slice(5) : spelled;
  const shift = rest.startsWith('Shift+');
  const key = shift ? rest.slice(6) : rest;
  if (ctrl !== (event.ctrlKey || event.metaKey)) return false;
  if (key.length > 1 && shift !== event.shiftKey) return false;
  return event.key === key || (key.length === 1 && event.key.toLowerCase() === key && !shift && !event.shiftKey);
};

function takesText(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement && target.type === 'range') return false;
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.altKey || (takesText(event.target) && event.key !== 'Escape')) return;
  // The page's keys come last into the list, and first here: they may take a key over.
  for (const group of [...groups].reverse())
    for (const key of group.keys)
      if (key.keys.split(' ').some((spelled) => matches(spelled, event))) {
        event.preventDefault();
        key.run(event);
        return;
      }
});

/**
 * Arrow keys, Home and End move among the elements of `container` that match `selector`: only one of them is
 * in the order of the Tab key (roving tabindex).
 */
export function rove(container: HTMLElement, selector: string, event: KeyboardEvent, horizontal = false): void {
  const items = [...container.querySelectorAll<HTMLElement>(selector)];
  const at = items.indexOf(document.activeElement as HTMLElement);
  if (at < 0) return;
  const [back, on] = horizontal ? ['ArrowLeft', 'ArrowRight'] : ['ArrowUp', 'ArrowDown'];
  const to =
    event.key === back ? Math.max(0, at - 1)
    : event.key === on ? Math.min(items.length - 1, at + 1)
    : event.key === 'Home' ? 0
    : event.key === 'End' ? items.length - 1
    : event.key === 'PageUp' ? Math.max(0, at - 10)
    : event.key === 'PageDown' ? Math.min(items.length - 1, at + 10)
    : -1;
  if (to < 0) return;
  event.preventDefault();
  event.stopPropagation();
  for (const item of items) item.tabIndex = -1;
  items[to]!.tabIndex = 0;
  items[to]!.focus();
}
