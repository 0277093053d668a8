// SPDX-License-Identifier: BSD-3-Clause
// Sentences in place of what cannot be shown (yet): a page is never blank.
import type { ComponentChildren } from 'preact';
import { percent } from '../pure/format';
import type { Answer } from './ask';

export function Sentence({ children }: { children: ComponentChildren }) {
  return <p class="sentence" role="status">{children}</p>;
}

/** What stands there until `of` has an answer. */
export function Waiting({ of, what }: { of: Answer<unknown>; what: string }) {
  if (of.error) return <Sentence>{of.error}</Sentence>;
  if (of.building) return <Sentence>{`Building the ${of.building.what}: ${percent(of.building.share, 1)}.`}</Sentence>;
  return <Sentence>{`Waiting for ${what} …`}</Sentence>;
}
