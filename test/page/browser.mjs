// SPDX-License-Identifier: BSD-3-Clause
// Debian's Chromium, driven by playwright-core, for the tests of the viewer's pages. Nothing may leave the
// machine: what the browser asks of any address but 127.0.0.1 is noted, and a test fails for it.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const load = createRequire(process.env.FATHOM_PAGE_TOOLS ? join(process.env.FATHOM_PAGE_TOOLS, 'package.json') : import.meta.url);
export const { chromium } = load('playwright-core');

const flags = [
  '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--disable-features=OptimizationHints,MediaRouter,Translate',
];

/** A browser with a user-data folder of its own. `strangers` are the addresses elsewhere that it asked for. */
export async function openBrowser({ width = 1280, height = 860, scheme = 'light', more = [] } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'fathom-chromium-'));
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: process.env.FATHOM_CHROMIUM ?? '/usr/bin/chromium',
    args: [...flags, ...more],
    viewport: { width, height },
    colorScheme: scheme,
    acceptDownloads: true,
  });
  context.setDefaultTimeout(100_000); // a loaded machine draws slowly
  const strangers = [];
  const errors = [];
  const here = (url) => /^(data|blob|about|file|chrome-error):/.test(url) || /^https?:\/\/127\.0\.0\.1(:\d+)?\//.test(url);
  context.on('request', (request) => here(request.url()) || strangers.push(request.url()));
  const watch = (page) => {
    page.on('pageerror', (error) => errors.push(String(error)));
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  };
  context.on('page', watch);
  const page = context.pages()[0] ?? (await context.newPage());
  watch(page);
  return {
    page,
    context,
    strangers,
    errors,
    close: async () => {
      await context.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** `fathom view` on the runs; `url` is the line that it prints first. */
export async function serve(fathom, runs, environment = {}) {
  const child = spawn(fathom, ['view', '--no-browser', ...runs], { env: { ...process.env, DISPLAY: '', ...environment }, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  let errors = '';
  child.stderr.on('data', (part) => (errors += part));
  const url = await new Promise((done, fail) => {
    child.stdout.on('data', (part) => {
      text += part;
      if (text.includes('\n')) done(text.split('\n')[0]);
    });
    child.on('exit', (status) => fail(new Error(`fathom view ended with ${status}: ${errors}`)));
  });
  return { url, process: child, stop: () => new Promise((done) => (child.exitCode !== null ? done() : (child.on('exit', done), child.kill('SIGTERM')))) };
}
