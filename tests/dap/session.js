// A DebugClient of @vscode/debugadapter-testsupport on `filmstrip dap` that writes
// every message, in both directions, into a file: pytest checks them against the
// schema of the protocol.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const { DebugClient } = require('@vscode/debugadapter-testsupport');

const PROGRAM = process.env.FILMSTRIP_PROGRAM;
const FOLDER = process.env.FILMSTRIP_FILMS;
const MESSAGES = process.env.FILMSTRIP_MESSAGES;

class Session extends DebugClient {
  constructor() {
    super(PROGRAM, 'dap', 'filmstrip', { cwd: FOLDER });
    this.defaultTimeout = 20000;
    this.said = [];
    this.waiting = [];
    this.on('output', (event) => this.said.push(event.body.output));
  }

  // The client's own parser hands each message to dispatch; requests leave by write.
  dispatch(text) {
    fs.appendFileSync(MESSAGES, text + '\n');
    super.dispatch(text);
  }

  async begin(launch, configure) {
    await this.start();
    const write = this.outputStream.write.bind(this.outputStream);
    this.outputStream.write = (text, encoding) => {
      fs.appendFileSync(MESSAGES, text.slice(text.indexOf('\r\n\r\n') + 4) + '\n');
      return write(text, encoding);
    };
    const answer = await this.initializeRequest({
      adapterID: 'filmstrip',
      linesStartAt1: true,
      columnsStartAt1: true,
      pathFormat: 'path',
      supportsProgressReporting: true,
    });
    this.capabilities = answer.body;
    const initialized = this.waitForEvent('initialized');
    await this.launchRequest({ film: 'market.film', ...launch });
    await initialized;
    if (configure) {
      await configure(this);
    }
    const stopped = this.waitForEvent('stopped');
    await this.configurationDoneRequest();
    this.stopped = (await stopped).body;
    return this;
  }

  // Asks for something that ends with a stop; where it stands then.
  async move(command, args) {
    const stopped = this.waitForEvent('stopped');
    await this.send(command, { threadId: this.stopped.threadId, ...args });
    this.stopped = (await stopped).body;
    return this.top();
  }

  async frames(args) {
    const answer = await this.stackTraceRequest({
      threadId: this.stopped.threadId, ...args });
    return answer.body.stackFrames;
  }

  async top() {
    return (await this.frames())[0];
  }

  async line() {
    return (await this.top()).line;
  }

  async scope(name, frame) {
    const id = frame === undefined ? (await this.top()).id : frame;
    const scopes = (await this.scopesRequest({ frameId: id })).body.scopes;
    return scopes.find((one) => one.name === name).variablesReference;
  }

  async children(reference, args) {
    const answer = await this.variablesRequest({
      variablesReference: reference, ...args });
    return answer.body.variables;
  }

  async locals(frame) {
    const found = await this.children(await this.scope('Locals', frame));
    return Object.fromEntries(found.map((one) => [one.name, one]));
  }

  async breakpoints(lines, file) {
    const answer = await this.setBreakpointsRequest({
      source: { path: file || source('market.py') },
      breakpoints: lines.map((line) => (typeof line === 'number' ? { line } : line)),
    });
    return answer.body.breakpoints;
  }

  async evaluate(expression, context, frame) {
    const frameId = frame === undefined ? (await this.top()).id : frame;
    return (await this.evaluateRequest({ expression, context, frameId })).body;
  }

  console() {
    const said = this.said.join('');
    this.said = [];
    return said;
  }
}

function source(name) {
  return path.join(FOLDER, name);
}

// The number of the line of market.py with that comment.
function line(comment) {
  const text = fs.readFileSync(path.join(__dirname, 'market.py'), 'utf8');
  const found = text.split('\n').findIndex((one) => one.endsWith('  # ' + comment));
  if (found < 0) {
    throw new Error('market.py has no line # ' + comment);
  }
  return found + 1;
}

module.exports = { Session, source, line, FOLDER };
