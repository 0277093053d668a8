// SPDX-License-Identifier: BSD-3-Clause
// A table that can be sorted by each column, with rows that are reached and chosen by keyboard.
import type { ComponentChild } from 'preact';
import { useState } from 'preact/hooks';
import { rove } from './keys';

export interface Column<Row> {
  title: string;
  /** what is shown */
  show: (row: Row) => ComponentChild;
  /** what is sorted by; without it the column cannot be sorted */
  by?: (row: Row) => number | string;
  /** numbers are aligned to the right */
  number?: boolean;
}

interface Properties<Row> {
  label: string;
  columns: Column<Row>[];
  rows: Row[];
  /** rows shown before "show more" */
  most?: number;
  chosen?: (row: Row) => boolean;
  dim?: (row: Row) => boolean;
  choose?: (row: Row) => void;
  /** column sorted by at first, and its direction; none: the order of `rows` */
  sorted?: number;
}

export function Table<Row>({ label, columns, rows, most = 12, chosen, dim, choose, sorted }: Properties<Row>) {
  const [order, setOrder] = useState<{ column: number; down: boolean } | null>(sorted === undefined ? null : { column: sorted, down: true });
  const [all, setAll] = useState(false);
  const by = order ? columns[order.column]?.by : undefined;
  const list = by
    ? [...rows].sort((a, b) => {
        const [x, y] = [by(a), by(b)];
        const sign = x < y ? -1 : x > y ? 1 : 0;
        return order!.down ? -sign : sign;
      })
    : rows;
  const shown = all ? list.slice(0, 2000) : list.slice(0, most);
  return (
    <div class="table">
      <table aria-label={label}>
        <thead>
          <tr>
            {columns.map((column, at) => (
              <th scope="col" class={column.number ? 'number' : ''} aria-sort={order?.column === at ? (order.down ? 'descending' : 'ascending') : undefined}>
                {column.by ? (
                  <button class="plain" onClick={() => setOrder({ column: at, down: order?.column === at ? !order.down : true })}>
                    {column.title}
                    {order?.column === at ? (order.down ? ' ▾' : ' ▴') : ''}
                  </button>
                ) : (
                  column.title
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody onKeyDown={(event) => rove(event.currentTarget, 'tr[tabindex]', event)}>
          {shown.map((row, at) => (
            <tr
              class={`${chosen?.(row) ? 'chosen' : ''} ${dim?.(row) ? 'dim' : ''} ${choose ? 'can' : ''}`}
              tabIndex={choose ? (at === 0 ? 0 : -1) : undefined}
              aria-selected={chosen ? chosen(row) : undefined}
              onClick={choose && (() => choose(row))}
              onKeyDown={
                choose &&
                ((event) => {
                  if (event.key === 'Enter' || event.key === ' ') {
                    event.preventDefault();
                    choose(row);
                  }
                })
              }
            >
              {columns.map((column) => (
                <td class={column.number ? 'number' : ''}>{column.show(row)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {list.length > most && (
        <button class="plain more" onClick={() => setAll(!all)}>
          {all ? 'show fewer' : `${list.length - most} more`}
        </button>
      )}
    </div>
  );
}
