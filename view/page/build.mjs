// SPDX-License-Identifier: BSD-3-Clause
// Builds the pages: node build.mjs OUT writes index.html, app.js and app.css to the folder OUT (default:
// dist beside this file). node build.mjs --units OUT builds the modules that need no browser, for node:test.
//
// Nothing is downloaded here: esbuild and Preact are in node_modules, which `npm ci` fills.
import { build } from 'esbuild';
import { copyFile, mkdir, readdir, readFile } from 'node:fs/promises';
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

// What a bundle contains of others, with its licence, which must go where the code goes.
const licence = async (name) => `/* ${name}\n\n${(await readFile(join(here, 'node_modules', name, 'LICENSE'), 'utf8')).trim()}\n*/`;

if (units) {
  const folders = ['pure', 'machine', 'network', 'live'];
  const names = await Promise.all(folders.map((folder) => readdir(join(here, 'src', folder))));
  const pure = folders.flatMap((folder, at) => names[at].filter((name) => name.endsWith('.ts')).map((name) => join('src', folder, name)));
  // Those of pages are units/FOLDER/NAME.mjs, those of src/pure are units/NAME.mjs.
  const entryPoints = pure.map((path) => ({ in: path, out: path.replace(/^src\/(pure\/)?/, '').replace(/\.ts$/, '') }));
  await build({ ...common, entryPoints, outdir: out, format: 'esm', outExtension: { '.js': '.mjs' } });
} else {
  await build({
    ...common,
    entryPoints: { app: 'src/main.tsx' },
    outdir: out,
    format: 'iife',
    minify: true,
    banner: { js: await licence('preact') },
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  // three.js, which only those who open 3-D load.
  await build({
    ...common,
    entryPoints: { machine3d: 'src/machine/draw3d.ts' },
    outdir: out,
    format: 'esm',
    minify: true,
    banner: { js: await licence('three') },
  });
  await copyFile(join(here, 'index.html'), join(out, 'index.html'));
}
