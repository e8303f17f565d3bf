// A click-through in real VS Code: the extension from its package, a recording, every
// button. What VS Code and `filmstrip dap` say to each other is kept and looked at.
//
//   node click.js PROGRAM VSIX FOLDER
//
// PROGRAM: the filmstrip program; FOLDER: holds market.py and market.film.
'use strict';
const assert = require('node:assert');
const { spawn, execFileSync } = require('node:child_process');
const fs = require('node:fs');
const net = require('node:net');
const path = require('node:path');
const puppeteer = require('puppeteer-core');

const [PROGRAM, VSIX, FOLDER] = process.argv.slice(2).map((one) => path.resolve(one));
const WORK = path.join(FOLDER, '..', 'vscode-state');
const SENT = path.join(WORK, 'sent.log');
const SERVER = require.resolve('code-server/out/node/entry.js');
const KEPT = ['--user-data-dir', path.join(WORK, 'user'),
  '--extensions-dir', path.join(WORK, 'extensions')];

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function until(what, test, ms = 30000) {
  const deadline = Date.now() + ms;
  let last;
  while (Date.now() < deadline) {
    try {
      last = await test();
      if (last) {
        return last;
      }
    } catch (error) {
      last = error;
    }
    await sleep(100);
  }
  throw new Error(`waited in vain for ${what}: ${last}`);
}

function line(comment) {
  const text = fs.readFileSync(path.join(FOLDER, 'market.py'), 'utf8');
  return text.split('\n').findIndex((one) => one.endsWith(`  # ${comment}`)) + 1;
}

function prepare() {
  fs.rmSync(WORK, { recursive: true, force: true });
  fs.mkdirSync(path.join(WORK, 'user', 'User'), { recursive: true });
  const wrapper = path.join(WORK, 'filmstrip');
  fs.writeFileSync(wrapper, `#!/bin/sh\ntee -a '${SENT}' | '${PROGRAM}' "$@"\n`);
  fs.chmodSync(wrapper, 0o755);
  fs.writeFileSync(SENT, '');
  fs.writeFileSync(path.join(WORK, 'user', 'User', 'settings.json'), JSON.stringify({
    'filmstrip.command': [wrapper],
    'security.workspace.trust.enabled': false,
    'workbench.startupEditor': 'none',
    'workbench.tips.enabled': false,
    'telemetry.telemetryLevel': 'off',
    'debug.toolBarLocation': 'floating',
    'debug.openDebug': 'openOnDebugBreak',
    'window.commandCenter': false,
    'git.enabled': false,
    'editor.minimap.enabled': false,
  }));
  execFileSync('node', [SERVER, ...KEPT, '--install-extension', VSIX], { stdio: 'inherit' });
}

async function freePort() {
  return new Promise((resolve) => {
    const server = net.createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

// The commands that VS Code has sent so far.
function sent() {
  return [...fs.readFileSync(SENT, 'utf8').matchAll(/"command":"([^"]+)"/g)]
    .map((match) => match[1]);
}

class Window {
  constructor(page) {
    this.page = page;
    this.pictures = 0;
  }

  // A file of the explorer, by a double click.
  async open(name) {
    const file = await until(`${name} in the explorer`, () => this.page.evaluateHandle((wanted) =>
      [...document.querySelectorAll('.explorer-viewlet .monaco-list-row')]
        .find((row) => row.textContent.trim() === wanted), name).then((one) => one.asElement()));
    await file.click({ count: 2 });
  }

  async picture(name) {
    await this.page.screenshot({
      path: path.join(WORK, `${String(++this.pictures).padStart(2, '0')}-${name}.png`) });
  }

  async press(...keys) {
    for (const key of keys.slice(0, -1)) {
      await this.page.keyboard.down(key);
    }
    await this.page.keyboard.press(keys[keys.length - 1]);
    for (const key of keys.slice(0, -1).reverse()) {
      await this.page.keyboard.up(key);
    }
  }

  async palette(text, pick) {
    await this.press('F1');
    await this.page.waitForSelector('.quick-input-widget input');
    await this.page.keyboard.type(text);
    await until(`'${text}' in the palette`, () => this.page.$eval(
      '.quick-input-list .monaco-list-row', (row, wanted) => row.textContent.includes(wanted), pick || text));
    await sleep(200);
    await this.press('Enter');
  }

  // The line of the selected frame, as the call stack shows it.
  async line() {
    const text = await this.page.$eval(
      '.debug-call-stack .stack-frame .line-number', (one) => one.textContent);
    return Number(text.split(':')[0]);
  }

  async stack() {
    return this.page.$$eval('.debug-call-stack .stack-frame .label', (all) =>
      all.map((one) => one.textContent.trim()));
  }

  async stands(number) {
    return until(`line ${number}`, async () => (await this.line()) === number);
  }

  async click(icon, command) {
    const before = sent().filter((one) => one === command).length;
    await this.page.click(`.debug-toolbar .codicon-${icon}`);
    await until(command, () => sent().filter((one) => one === command).length > before);
  }

  async variables() {
    return this.page.$$eval('.debug-variables .monaco-list-row', (rows) =>
      rows.map((row) => row.textContent));
  }
}

async function walk(window) {
  const { page } = window;
  await page.waitForSelector('.monaco-workbench .part.sidebar', { timeout: 60000 });
  await sleep(2000);
  await window.picture('workbench');

  // A breakpoint in the Python file, by the keyboard.
  await window.open('market.py');
  await page.waitForSelector('.monaco-editor .view-line');
  await sleep(500);
  await page.click('.monaco-editor .view-lines');
  await window.press('Control', 'g');
  await page.waitForSelector('.quick-input-widget input');
  await page.keyboard.type(String(line('total')));
  await window.press('Enter');
  await sleep(300);
  await window.press('F9');
  await page.waitForSelector('.codicon-debug-breakpoint, .codicon-debug-breakpoint-unverified');

  // The command, which offers the recordings of the workspace.
  await window.palette('filmstrip: Open recording', 'Open recording');
  await until('the recording in the list', () => page.$eval('.quick-input-list .monaco-list-row',
    (row) => row.textContent.includes('market.film')));
  await window.press('Enter');
  await page.waitForSelector('.debug-toolbar .codicon-debug-step-back', { timeout: 60000 });
  await window.stands(1);
  const icons = await page.$$eval('.debug-toolbar .action-label', (all) =>
    all.map((one) => [...one.classList].filter((name) => name.startsWith('codicon-')).join(' ')));
  for (const icon of ['debug-continue', 'debug-step-over', 'debug-step-into', 'debug-step-out',
    'debug-restart', 'debug-stop', 'debug-step-back', 'debug-reverse-continue']) {
    assert.ok(icons.some((one) => one.includes(icon)), `no button ${icon}: ${icons}`);
  }
  await window.picture('start');

  await window.click('debug-continue', 'continue');
  await window.stands(line('total'));
  await until('the variable', async () => (await window.variables()).some((row) => /order\s*=\s*1/.test(row)));
  await window.picture('breakpoint');
  await window.click('debug-step-over', 'next');
  await window.stands(line('loop'));
  await window.click('debug-step-back', 'stepBack');
  await window.stands(line('total'));
  await window.click('debug-continue', 'continue');
  await until('the second turn', async () => (await window.variables()).some((row) => /order\s*=\s*2/.test(row)));
  await window.click('debug-reverse-continue', 'reverseContinue');
  await until('the first turn', async () => (await window.variables()).some((row) => /order\s*=\s*1/.test(row)));
  await window.stands(line('total'));

  // Ours: back into the call that the line before made, and out of it.
  await window.palette('filmstrip: Step back into', 'Step back into');
  await window.stands(line('sold'));
  await window.palette('filmstrip: Step back out', 'Step back out');
  await window.stands(line('order'));
  await until('the stack of day', async () => (await window.stack()).join(' ') === 'day <module>');
  await until('its variables', async () => (await window.variables()).some((row) => /order\s*=\s*1/.test(row)));
  assert.ok(sent().includes('filmstrip/reverseStepIn'));
  assert.ok(sent().includes('filmstrip/reverseStepOut'));
  await window.picture('back-out');

  // The start is a stop, not the end of the session.
  await window.click('debug-reverse-continue', 'reverseContinue');
  await window.stands(1);
  await page.waitForSelector('.debug-toolbar .codicon-debug-step-back');
  await window.click('debug-step-back', 'stepBack');
  await window.stands(1);

  // The console.
  await window.click('debug-continue', 'continue');
  await window.stands(line('total'));
  await window.palette('Debug Console: Focus on Debug Console View', 'Focus on Debug Console View');
  await page.waitForSelector('.repl .repl-input-wrapper .monaco-editor');
  await page.click('.repl .repl-input-wrapper .monaco-editor');
  await page.keyboard.type('history total');
  await sleep(500);
  await window.press('Escape');
  await window.press('Enter');
  await until('an answer in the console', () => page.$$eval('.repl .monaco-list-row',
    (rows) => rows.some((row) => row.textContent.includes('total = 12'))));
  await window.picture('console');
  await window.click('debug-stop', 'disconnect').catch(() => {});
  await until('the end of the session', async () => (await page.$('.debug-toolbar .codicon-debug-step-back')) === null
    || await page.$eval('.debug-toolbar', (bar) => bar.offsetParent === null));

  // A recording that is opened like a file: a page with a button.
  await window.palette('View: Show Explorer', 'Show Explorer');
  await window.open('market.film');
  const button = await until('the page of the recording', async () => {
    for (const frame of page.frames()) {
      const found = await frame.$('#end').catch(() => null);
      if (found) {
        return found;
      }
    }
    return null;
  });
  await window.picture('page');
  await button.click();
  await page.waitForSelector('.debug-toolbar .codicon-debug-step-back', { timeout: 60000 });
  await until('the line where the program died', () => page.evaluate((wanted) =>
    document.querySelector('.debug-top-stack-frame-line') !== null &&
    document.getElementById('status.editor.selection').textContent.includes(wanted),
  `Ln ${line('crash')},`));
  await window.picture('end');
}

async function main() {
  prepare();
  const port = await freePort();
  const server = spawn('node', [SERVER, ...KEPT, '--auth', 'none', '--disable-telemetry',
    '--disable-update-check', '--disable-workspace-trust', '--bind-addr', `127.0.0.1:${port}`,
    FOLDER], { stdio: ['ignore', fs.openSync(path.join(WORK, 'server.log'), 'w'), 'inherit'] });
  let browser;
  let window;
  try {
    await until('code-server', async () => (await fetch(`http://127.0.0.1:${port}/healthz`)).ok, 60000);
    browser = await puppeteer.launch({
      executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
      headless: true,
      args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
      defaultViewport: { width: 1400, height: 900 },
    });
    window = new Window(await browser.newPage());
    await window.page.goto(`http://127.0.0.1:${port}/?folder=${encodeURIComponent(FOLDER)}`);
    await walk(window);
    console.log(`VS Code: passed; pictures in ${WORK}; sent: ${[...new Set(sent())].join(' ')}`);
  } catch (error) {
    await window?.picture('failed').catch(() => {});
    throw error;
  } finally {
    await browser?.close();
    server.kill();
  }
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
