// SPDX-License-Identifier: BSD-3-Clause
// The list of pages. A page is one module that calls addPage, and one line in src/main.tsx that imports it.
import type { ComponentChild } from 'preact';
import type { View } from '../pure/view_state';
import type { Meta, Run } from './protocol';

export interface PageProperties {
  view: View;
  meta: Meta;
  runs: Run[];
}

export interface Page {
  /** in the URL: small letters */
  id: string;
  title: string;
  /** where it stands among the tabs */
  order: number;
  /** whether it can show something of this run; else the sentence why not */
  cannot?: (meta: Meta, runs: Run[]) => string | null;
  render: (properties: PageProperties) => ComponentChild;
}

const pages: Page[] = [];

export function addPage(page: Page): void {
  pages.push(page);
  pages.sort((a, b) => a.order - b.order);
}

export const allPages = (): readonly Page[] => pages;
