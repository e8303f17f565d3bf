// The filmstrip extension: a debugger of type "filmstrip" for recordings (.film). All
// the work is done by `filmstrip dap`; this starts it and adds what VS Code has no
// button for.
'use strict';
const fs = require('fs');
const path = require('path');
const vscode = require('vscode');

const TYPE = 'filmstrip';

// --- finding filmstrip ---

function isProgram(file) {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}

function onPath(name) {
  if (name.includes('/')) {
    return isProgram(name) ? name : undefined;
  }
  return (process.env.PATH || '').split(path.delimiter)
    .map((folder) => path.join(folder, name)).find(isProgram);
}

// Beside the interpreter that the Python extension has selected, and in the usual
// folders of environments.
async function inEnvironments(folder) {
  const candidates = [];
  const python = vscode.extensions.getExtension('ms-python.python');
  if (python) {
    try {
      const api = await python.activate();
      const chosen = api?.environments?.getActiveEnvironmentPath(folder?.uri);
      if (chosen?.path) {
        candidates.push(path.join(path.dirname(chosen.path), 'filmstrip'));
      }
    } catch {
      // The Python extension is not ours to repair.
    }
  }
  for (const one of vscode.workspace.workspaceFolders || []) {
    for (const name of ['.venv', 'venv']) {
      candidates.push(path.join(one.uri.fsPath, name, 'bin', 'filmstrip'));
    }
  }
  return candidates.find(isProgram);
}

async function findCommand(folder) {
  const set = vscode.workspace.getConfiguration('filmstrip', folder?.uri).get('command');
  const [name, ...words] = Array.isArray(set) && set.length > 0 ? set : ['filmstrip'];
  const program = onPath(name) ||
    (name === 'filmstrip' ? await inEnvironments(folder) : undefined);
  if (program === undefined) {
    throw new Error(`'${name}' was not found. Install filmstrip (pip install filmstrip) ` +
      'or set "filmstrip.command".');
  }
  return [program, ...words];
}

// --- sessions ---

const adapters = {
  async createDebugAdapterDescriptor(session) {
    if (typeof session.configuration.port === 'number') {
      return new vscode.DebugAdapterServer(session.configuration.port, '127.0.0.1');
    }
    const [program, ...words] = await findCommand(session.workspaceFolder);
    return new vscode.DebugAdapterExecutable(program, [...words, 'dap']);
  },
};

const configurations = {
  // F5 without a launch.json.
  async resolveDebugConfiguration(folder, configuration) {
    if (!configuration.type && !configuration.request && !configuration.name) {
      const film = await pickFilm();
      return film === undefined ? undefined : configurationOf(film);
    }
    return configuration;
  },

  resolveDebugConfigurationWithSubstitutedVariables(folder, configuration) {
    if (typeof configuration.film !== 'string' || configuration.film === '') {
      vscode.window.showErrorMessage('filmstrip: the launch configuration names no "film".');
      return undefined;
    }
    if (!path.isAbsolute(configuration.film) && folder) {
      configuration.film = path.join(folder.uri.fsPath, configuration.film);
    }
    configuration.sourceRoots ??=
      (vscode.workspace.workspaceFolders || []).map((one) => one.uri.fsPath);
    return configuration;
  },
};

function configurationOf(film, more) {
  return {
    type: TYPE,
    request: 'launch',
    name: path.basename(film),
    film,
    ...more,
  };
}

// One for every recording of the workspace, in the list of "Run and Debug".
const offered = {
  async provideDebugConfigurations() {
    const found = await vscode.workspace.findFiles('**/*.film', null, 20);
    return found.map((uri) => configurationOf(uri.fsPath));
  },
};

async function pickFilm() {
  const found = await vscode.workspace.findFiles('**/*.film', null, 200);
  const other = { label: '$(folder-opened) Another file ...' };
  const items = found.map((uri) => ({
    label: vscode.workspace.asRelativePath(uri), film: uri.fsPath }));
  const picked = items.length === 0 ? other : await vscode.window.showQuickPick(
    [...items, other], { placeHolder: 'Which recording?' });
  if (picked !== other) {
    return picked?.film;
  }
  const chosen = await vscode.window.showOpenDialog({
    title: 'Open recording', filters: { Recordings: ['film'] } });
  return chosen?.[0].fsPath;
}

async function openRecording(uri, more) {
  const film = uri instanceof vscode.Uri ? uri.fsPath : await pickFilm();
  if (film !== undefined) {
    const folder = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(film));
    await vscode.debug.startDebugging(folder, configurationOf(film, more));
  }
}

// --- what VS Code has no button for ---

// Asks something of the session that is looked at, for the thread that is.
async function ask(command, more) {
  const session = vscode.debug.activeDebugSession;
  if (session?.type !== TYPE) {
    vscode.window.showInformationMessage('filmstrip: no recording is being stepped through.');
    return;
  }
  const item = vscode.debug.activeStackItem;
  try {
    await session.customRequest(command, {
      threadId: item?.threadId ?? 0, ...(item?.frameId ? { frameId: item.frameId } : {}), ...more });
  } catch (error) {
    vscode.window.showWarningMessage(`filmstrip: ${error.message}`);
  }
}

// The variable of a context menu, the selected word, or what is typed.
async function variableOf(context) {
  const named = context?.variable?.evaluateName;
  if (named) {
    return named;
  }
  const editor = vscode.window.activeTextEditor;
  const range = editor && (editor.selection.isEmpty
    ? editor.document.getWordRangeAtPosition(editor.selection.active, /[\w.]+/)
    : editor.selection);
  return vscode.window.showInputBox({
    prompt: "A variable: x, self.x, d['k'], module:NAME or function:x",
    value: range ? editor.document.getText(range) : '',
  });
}

async function goToWrite(context, how) {
  const variable = await variableOf(context);
  if (variable) {
    await ask('filmstrip/jump', { how, variable });
  }
}

async function goToMoment() {
  const where = await vscode.window.showInputBox({
    prompt: 'Where to: 50% of the time, 1.5s, or the number of an event' });
  const match = /^\s*([\d.]+)\s*(%|s)?\s*$/.exec(where || '');
  if (!match) {
    return;
  }
  const number = Number(match[1]);
  if (match[2] === '%') {
    await ask('filmstrip/jump', { how: 'fraction', fraction: number / 100 });
  } else if (match[2] === 's') {
    await ask('filmstrip/jump', { how: 'time', time_ns: Math.round(number * 1e9) });
  } else {
    await ask('filmstrip/jump', { how: 'event', event: Math.round(number) });
  }
}

// --- a .film that is opened from the explorer ---

// It is no text: a page with two buttons, which start a session.
const recordingEditor = {
  openCustomDocument(uri) {
    return { uri, dispose() {} };
  },

  resolveCustomEditor(document, panel) {
    const nonce = Math.random().toString(36).slice(2);
    panel.webview.options = { enableScripts: true };
    panel.webview.html = `<!DOCTYPE html><html><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; script-src 'nonce-${nonce}'; style-src 'unsafe-inline'">
<style>button { font: inherit; padding: 6px 14px; margin-right: 8px; border: none;
 color: var(--vscode-button-foreground); background: var(--vscode-button-background); }</style>
</head><body><h3>A recording of a Python program</h3>
<p><button id="start">Step through it</button><button id="end">Begin at its end</button></p>
<script nonce="${nonce}">const vscode = acquireVsCodeApi();
for (const at of ['start', 'end']) {
  document.getElementById(at).onclick = () => vscode.postMessage(at);
}</script></body></html>`;
    panel.webview.onDidReceiveMessage((at) =>
      openRecording(document.uri, at === 'end' ? { at } : {}));
  },
};

function activate(context) {
  const command = (name, run) =>
    context.subscriptions.push(vscode.commands.registerCommand(`filmstrip.${name}`, run));
  context.subscriptions.push(
    vscode.debug.registerDebugAdapterDescriptorFactory(TYPE, adapters),
    vscode.debug.registerDebugConfigurationProvider(TYPE, configurations),
    vscode.debug.registerDebugConfigurationProvider(TYPE, offered,
      vscode.DebugConfigurationProviderTriggerKind.Dynamic),
    vscode.window.registerCustomEditorProvider('filmstrip.recording', recordingEditor),
  );
  command('pickFilm', pickFilm);
  command('openRecording', (uri) => openRecording(uri, {}));
  command('openRecordingAtEnd', (uri) => openRecording(uri, { at: 'end' }));
  command('reverseStepIn', () => ask('filmstrip/reverseStepIn'));
  command('reverseStepOut', () => ask('filmstrip/reverseStepOut'));
  command('lastWrite', (item) => goToWrite(item, 'back-write'));
  command('nextWrite', (item) => goToWrite(item, 'write'));
  command('lastRaise', () => ask('filmstrip/jump', { how: 'back-raise' }));
  command('nextRaise', () => ask('filmstrip/jump', { how: 'raise' }));
  command('goToMoment', goToMoment);
}

module.exports = { activate };
