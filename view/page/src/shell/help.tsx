// SPDX-License-Identifier: BSD-3-Clause
// The keys of all pages.
import { described } from './keys';

const names: Record<string, string> = { ' ': 'Space', ArrowLeft: '←', ArrowRight: '→', ArrowUp: '↑', ArrowDown: '↓', Escape: 'Esc' };

export function Help({ close }: { close: () => void }) {
  return (
    <div class="over" role="dialog" aria-modal="true" aria-label="Keys" onClick={(event) => event.target === event.currentTarget && close()} onKeyDown={(event) => event.key === 'Escape' && (event.stopPropagation(), close())}>
      <div class="help">
        <button class="close" aria-label="close the list of keys" ref={(node) => node?.focus()} onClick={close}>×</button>
        <h2>Keys</h2>
        <div class="groups">
          {described.map((group) => (
            <section>
              <h3>{group.title}</h3>
              <dl>
                {group.keys.map((key) => (
                  <>
                    <dt>
                      {key.keys.split(' ').map((k) => (
                        <kbd>{k.split('+').map((part) => names[part] ?? part).join(' + ')}</kbd>
                      ))}
                    </dt>
                    <dd>{key.does}</dd>
                  </>
                ))}
              </dl>
            </section>
          ))}
        </div>
        <p class="faint">Everything is reached by Tab as well; in lists and tables, the arrow keys move and Enter chooses.</p>
      </div>
    </div>
  );
}
