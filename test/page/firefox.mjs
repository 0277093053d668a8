// SPDX-License-Identifier: BSD-3-Clause
// Debian's Firefox, driven through Marionette, which it has built in: each message is its length, a colon and a
// JSON list [0, number, command, parameters]; each answer is [1, number, error, value].
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const quiet = ['browser.shell.checkDefaultBrowser', 'datareporting.policy.dataSubmissionEnabled', 'toolkit.telemetry.enabled', 'app.update.enabled', 'app.normandy.enabled', 'network.captive-portal-service.enabled',
  'network.connectivity-service.enabled', 'browser.safebrowsing.malware.enabled', 'browser.safebrowsing.phishing.enabled', 'extensions.systemAddon.update.enabled', 'browser.region.update.enabled', 'extensions.getAddons.cache.enabled', 'browser.newtabpage.enabled'];

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

async function portOf(profile, child) {
  for (let tries = 0; tries < 600; ++tries) {
    if (child.exitCode !== null) throw new Error(`firefox-esr ended with ${child.exitCode}`);
    try {
      return Number(readFileSync(join(profile, 'MarionetteActivePort'), 'utf8'));
    } catch {
      await sleep(100);
    }
  }
  throw new Error('firefox-esr does not say its port');
}

/** A Firefox with a profile of its own: goto, evaluate (a function's body, with what it returns), press, mouse, close. */
export async function openFirefox(binary = '/usr/bin/firefox-esr') {
  const profile = mkdtempSync(join(tmpdir(), 'fathom-firefox-'));
  writeFileSync(join(profile, 'user.js'), `${quiet.map((name) => `user_pref("${name}", false);`).join('\n')}\nuser_pref("marionette.port", 0);\nuser_pref("services.settings.server", "http://127.0.0.1:9/");\nuser_pref("browser.startup.page", 0);\n`);
  const child = spawn(binary, ['--headless', '--no-remote', '--marionette', '--profile', profile, '--width', '1280', '--height', '860', 'about:blank'], { stdio: 'ignore', env: { ...process.env, HOME: profile, DISPLAY: '' } });
  const socket = connect(await portOf(profile, child), '127.0.0.1');
  const waiting = new Map();
  let bytes = Buffer.alloc(0);
  let greeted;
  const greeting = new Promise((done) => (greeted = done));
  socket.on('data', (part) => {
    bytes = Buffer.concat([bytes, part]);
    for (;;) {
      const colon = bytes.indexOf(58);
      if (colon < 0) return;
      const length = Number(bytes.subarray(0, colon));
      if (bytes.length < colon + 1 + length) return;
      const message = JSON.parse(bytes.subarray(colon + 1, colon + 1 + length));
      bytes = bytes.subarray(colon + 1 + length);
      if (!Array.isArray(message)) greeted();
      else if (message[2]) waiting.get(message[1])?.fail(new Error(`${message[2].error}: ${message[2].message}`));
      else waiting.get(message[1])?.done(message[3]?.value ?? message[3]);
    }
  });
  await greeting;
  let number = 0;
  const send = (command, parameters = {}) =>
    new Promise((done, fail) => {
      const text = JSON.stringify([0, ++number, command, parameters]);
      waiting.set(number, { done, fail });
      socket.write(`${Buffer.byteLength(text)}:${text}`);
    });
  await send('WebDriver:NewSession', { capabilities: { alwaysMatch: { acceptInsecureCerts: false } } });
  return {
    goto: (url) => send('WebDriver:Navigate', { url }),
    /** PNG of what is seen. */
    screenshot: async () => Buffer.from(await send('WebDriver:TakeScreenshot', { full: false }), 'base64'),
    size: (width, height) => send('WebDriver:SetWindowRect', { width, height }),
    evaluate: (script) => send('WebDriver:ExecuteScript', { script, args: [] }),
    /** Real keys and clicks: of the mouse, at points of the window; `to`: a drag ends there. */
    press: (...keys) => send('WebDriver:PerformActions', { actions: [{ type: 'key', id: 'keys', actions: keys.flatMap((value) => [{ type: 'keyDown', value }, { type: 'keyUp', value }]) }] }),
    mouse: ([x, y], to) =>
      send('WebDriver:PerformActions', {
        actions: [{
          type: 'pointer', id: 'mouse', parameters: { pointerType: 'mouse' },
          actions: [{ type: 'pointerMove', x: Math.round(x), y: Math.round(y) }, { type: 'pointerDown', button: 0 },
            ...(to ? [0.5, 1].map((part) => ({ type: 'pointerMove', duration: 30, x: Math.round(x + (to[0] - x) * part), y: Math.round(y + (to[1] - y) * part) })) : []),
            { type: 'pointerUp', button: 0 }],
        }],
      }),
    close: async () => {
      socket.destroy();
      if (child.exitCode === null) {
        const ended = new Promise((done) => child.on('exit', done));
        child.kill('SIGTERM');
        await ended;
      }
      rmSync(profile, { recursive: true, force: true });
    },
  };
}
