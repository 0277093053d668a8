// SPDX-License-Identifier: BSD-3-Clause
// Builds the pages: node build.mjs OUT writes index.html, app.js and app.css to the folder OUT (default:
// dist beside this file). node build.mjs --units OUT builds the modules that need no browser, for node:test.
//
// Nothing is downloaded here: esbuild and Preact are in node_modules, which `npm ci` fills.
import { build } from 'esbuild';
import { copyFile, mkdir, readdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const units = process.argv[2] === '--units';
const out = resolve(process.argv[units ? 3 : 2] ?? join(here, units ? 'units' : 'dist'));
await mkdir(out, { recursive: true });

const common = {
  bundle: true,
  absWorkingDir: here,
  logLevel: 'warning',
  target: ['es2020'],
  legalComments: 'none',
  jsx: 'automatic',
  jsxImportSource: 'preact',
};

if (units) {
  const pure = (await readdir(join(here, 'src/pure'))).map((name) => join('src/pure', name));
  await build({ ...common, entryPoints: pure, outdir: out, format: 'esm', outExtension: { '.js': '.mjs' } });
} else {
  await build({
    ...common,
    entryPoints: { app: 'src/main.tsx' },
    outdir: out,
    format: 'iife',
    minify: true,
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  await copyFile(join(here, 'index.html'), join(out, 'index.html'));
}
