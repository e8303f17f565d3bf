// Debug sessions over a recording, by the client that adapters are tested with.
'use strict';
const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const { Session, source, line, FOLDER } = require('./session');

function session(name, launch, configure, body) {
  test(name, { timeout: 60000 }, async () => {
    const client = new Session();
    try {
      await client.begin(launch, configure);
      await body(client);
    } finally {
      await client.stop();
    }
  });
}

const at = (...lines) => (client) => client.breakpoints(lines);

session('a session begins at the first line', {}, null, async (client) => {
  assert.equal(client.capabilities.supportsStepBack, true);
  assert.equal(client.capabilities.supportsDataBreakpoints, true);
  assert.equal(client.capabilities.supportsSetVariable, undefined);
  assert.equal(client.stopped.reason, 'entry');
  assert.equal(client.stopped.description, 'Start of the recording');
  assert.equal(await client.line(), 1);
  assert.match(client.console(), /market\.film: .*market\.py, Python 3\.\d+\.\d+, \d+ events/);
});

session('breakpoints stop both ways', { stopOnEntry: false }, at(line('total')),
  async (client) => {
    assert.equal(client.stopped.reason, 'breakpoint');
    assert.equal(client.stopped.allThreadsStopped, true);
    const seen = [];
    for (let i = 0; i < 3; i++) {
      seen.push((await client.locals()).order.value);
      await client.move('continue');
    }
    seen.push((await client.locals()).order.value);
    assert.deepEqual(seen, ['1', '2', '3', '4']);
    await client.move('continue');
    assert.equal(client.stopped.reason, 'end of recording');
    assert.match(client.stopped.description, /^End of the recording: RuntimeError/);
    assert.equal(await client.line(), line('crash'));
    const back = [];
    for (let i = 0; i < 4; i++) {
      await client.move('reverseContinue');
      back.push((await client.locals()).order.value);
    }
    assert.deepEqual(back, ['4', '3', '2', '1']);
    await client.move('reverseContinue');
    assert.equal(client.stopped.description, 'Start of the recording');
    assert.equal(await client.line(), 1);
    await client.move('reverseContinue'); // still a session
    assert.equal(client.stopped.description, 'Start of the recording');
  });

session('hitBreakpoint of the test client', {}, null, async (client) => {
  const set = await client.breakpoints([line('price')]);
  assert.deepEqual([set[0].verified, set[0].line], [true, line('price')]);
  const stopped = client.assertStoppedLocation('breakpoint', {
    path: source('market.py'), line: line('price') });
  await client.continueRequest({ threadId: 1 });
  await stopped;
});

session('conditions, hit counts and lines without code', {}, null, async (client) => {
  const set = await client.breakpoints([
    { line: line('total'), condition: 'order == 3' },
    { line: line('price'), hitCondition: '4' },
    { line: line('end') + 1 },
    { line: 9999 },
    { line: line('end'), condition: 'order ==' },
    { line: line('end'), hitCondition: 'often' },
  ]);
  assert.deepEqual(set.map((one) => one.verified), [true, true, true, false, false, false]);
  assert.equal(set[2].line, line('end') + 3); // the next one that has code
  assert.match(set[3].message, /no recorded code/);
  assert.ok(set[4].message.length > 5);
  assert.equal((await client.move('continue')).line, line('end') + 3);
  assert.equal((await client.move('continue')).line, line('total'));
  assert.equal((await client.locals()).order.value, '3');
  assert.deepEqual(client.stopped.hitBreakpointIds, [set[0].id]);
  assert.equal((await client.move('continue')).line, line('price'));
  assert.equal((await client.locals()).count.value, '4');
  const again = await client.breakpoints([{ line: line('total'), condition: 'order == 3' }]);
  assert.equal(again[0].id, set[0].id); // the same one keeps its id
});

session('a file that was not recorded', {}, null, async (client) => {
  const set = await client.breakpoints([3], '/nowhere/other.py');
  assert.equal(set[0].verified, false);
  assert.match(set[0].message, /no recorded code is in this file/);
  // The same file elsewhere, as on the machine where it was recorded.
  const same = await client.breakpoints([line('total')], '/home/somebody/market.py');
  assert.equal(same[0].verified, true);
});

session('function breakpoints', {}, null, async (client) => {
  const set = await client.setFunctionBreakpointsRequest({
    breakpoints: [{ name: 'Stall.sell', condition: 'count > 2' }, { name: 'nothing' }] });
  assert.deepEqual(set.body.breakpoints.map((one) => one.verified), [true, false]);
  const top = await client.move('continue');
  assert.equal(client.stopped.reason, 'function breakpoint');
  assert.equal(top.name, 'Stall.sell');
  assert.equal((await client.locals()).count.value, '3');
  await client.move('reverseContinue');
  assert.equal(client.stopped.reason, 'entry');
});

session('exceptions, raised and uncaught', {}, null, async (client) => {
  await client.setExceptionBreakpointsRequest({ filters: ['raised'] });
  assert.equal((await client.move('continue')).line, line('divide'));
  assert.equal(client.stopped.reason, 'exception');
  assert.match(client.stopped.text, /^ZeroDivisionError/);
  const info = (await client.send('exceptionInfo', { threadId: 1 })).body;
  assert.equal(info.exceptionId, 'ZeroDivisionError');
  assert.equal(info.breakMode, 'always');
  assert.match(info.description, /by zero/);
  assert.match((await client.locals())['(exception)'].value, /ZeroDivisionError/);
  await client.send('setExceptionBreakpoints', {
    filters: [], filterOptions: [{ filterId: 'uncaught' }] });
  assert.equal((await client.move('continue')).line, line('crash'));
  assert.equal(client.stopped.text, 'RuntimeError: closing time');
  await client.move('reverseContinue');
  assert.equal(client.stopped.reason, 'entry');
  await assert.rejects(client.send('exceptionInfo', { threadId: 1 }), /no exception/);
});

session('steps and their mirror images', {}, at(line('order')), async (client) => {
  const start = (await client.move('continue')).line;
  assert.equal(start, line('order'));
  assert.equal((await client.move('next')).line, line('total'));
  assert.equal((await client.move('stepBack')).line, line('order'));
  assert.equal((await client.move('stepIn')).line, line('price'));
  assert.equal((await client.frames()).length, 3);
  assert.equal((await client.move('stepIn')).line, line('money'));
  assert.equal((await client.move('stepBack')).line, line('price'));
  assert.equal((await client.move('stepBack')).line, line('order')); // its caller
  await client.move('stepIn');
  assert.equal((await client.move('stepOut')).line, line('total'));
  assert.equal(client.stopped.reason, 'step');
  assert.equal((await client.move('filmstrip/reverseStepIn')).line, line('sold'));
  assert.equal((await client.move('filmstrip/reverseStepOut')).line, line('order'));
});

session('the smallest step is an event', {}, at(line('money')), async (client) => {
  await client.move('continue');
  assert.equal((await client.locals()).self.value.slice(0, 6), '<Stall');
  const before = (await client.evaluate('self.money', 'watch')).result;
  await client.move('next', { granularity: 'instruction' });
  assert.deepEqual([before, (await client.evaluate('self.money', 'watch')).result],
    ['0', '3']);
  await client.move('stepBack', { granularity: 'instruction' });
  assert.equal((await client.evaluate('self.money', 'watch')).result, '0');
});

session('a breakpoint within a call stops a step over it', {}, null, async (client) => {
  await client.breakpoints([line('order')]);
  await client.move('continue');
  await client.breakpoints([line('money')]);
  assert.equal((await client.move('next')).line, line('money'));
  assert.equal(client.stopped.reason, 'breakpoint');
  await client.breakpoints([line('sold')]);
  assert.equal((await client.move('stepOut')).line, line('sold'));
  assert.equal((await client.move('stepOut')).line, line('total'));
  assert.equal((await client.move('stepBack')).line, line('sold'));
  assert.equal(client.stopped.reason, 'breakpoint');
});

session('log points say what they pass and what is past', {}, null, async (client) => {
  await client.breakpoints([{ line: line('total'), logMessage: 'order {order} got {got}' }]);
  client.console();
  await client.breakpoints([
    { line: line('total'), logMessage: 'order {order} got {got}' },
    { line: line('end') }]);
  await client.move('continue');
  assert.equal(await client.line(), line('end'));
  assert.deepEqual(client.console().trim().split('\n'),
    ['order 1 got 3', 'order 2 got 9', 'order 3 got 18', 'order 4 got 30']);
  // One that is set now tells of all past hits, in order.
  await client.breakpoints([
    { line: line('money'), logMessage: '{fruit} {count} of {nothing}' }]);
  await client.send('threads'); // what was said is here
  const said = client.console().trim().split('\n');
  assert.equal(said[0], '4 past hits of this log point:');
  assert.match(said[1], /^'apple' 1 of <.*not.*>$|^'apple' 1 of <.*no recorded.*>$/);
  assert.equal(said.length, 5);
  await client.move('reverseContinue');
  assert.equal(client.console().trim().split('\n').length, 4); // backwards it passes too
});

session('data breakpoints: a local, an attribute, a list', {}, at(line('total')),
  async (client) => {
    await client.move('continue');
    await client.breakpoints([]);
    const locals = await client.scope('Locals');
    const info = (await client.dataBreakpointInfoRequest({
      variablesReference: locals, name: 'total' })).body;
    assert.match(info.description, /^total in .*day$/);
    const set = await client.setDataBreakpointsRequest({
      breakpoints: [{ dataId: info.dataId, accessType: 'write' }] });
    assert.equal(set.body.breakpoints[0].verified, true);
    await client.move('continue');
    assert.equal(client.stopped.reason, 'data breakpoint');
    assert.equal(client.stopped.text, 'total = 3');
    await client.move('continue');
    assert.equal(client.stopped.text, 'total = 12');
    await client.move('reverseContinue');
    await client.move('reverseContinue');
    assert.equal(client.stopped.text, 'total = 0');
    assert.equal(await client.line(), line('begin'));

    const stall = (await client.locals()).stall;
    const money = (await client.dataBreakpointInfoRequest({
      variablesReference: stall.variablesReference, name: 'money' })).body;
    assert.match(money.description, /^money of <Stall #\d+>$/);
    await client.setDataBreakpointsRequest({
      breakpoints: [{ dataId: money.dataId, condition: 'self.money > 10' }] });
    await client.move('continue');
    assert.equal(await client.line(), line('money'));
    assert.equal((await client.evaluate('self.money', 'hover')).result, '18');

    const global = (await client.dataBreakpointInfoRequest({
      name: 'SOLD', frameId: (await client.top()).id })).body;
    assert.match(global.description, /^SOLD of module/);
    await client.setDataBreakpointsRequest({ breakpoints: [{ dataId: global.dataId }] });
    await client.move('reverseContinue');
    assert.equal(client.stopped.text, 'SOLD = 3');

    const no = (await client.dataBreakpointInfoRequest({
      name: 'SOLD + 1', frameId: (await client.top()).id })).body;
    assert.equal(no.dataId, null);
    const bad = await client.setDataBreakpointsRequest({
      breakpoints: [{ dataId: 'nonsense' }] });
    assert.equal(bad.body.breakpoints[0].verified, false);
  });

session('stacks come in pages', {}, at(line('bottom')), async (client) => {
  await client.move('continue');
  const all = (await client.stackTraceRequest({ threadId: 1 })).body;
  assert.equal(all.totalFrames, 42);
  assert.equal(all.stackFrames.length, 42);
  const page = (await client.stackTraceRequest({
    threadId: 1, startFrame: 10, levels: 5 })).body;
  assert.equal(page.totalFrames, 42);
  assert.equal(page.stackFrames.length, 5);
  assert.equal((await client.locals(page.stackFrames[0].id)).level.value, '10');
  assert.equal((await client.locals(all.stackFrames[41].id)).SOLD.value, '10');
});

session('variables come in pages, in base 16, with how to ask for them', {},
  at(line('total')), async (client) => {
    await client.move('continue');
    const locals = await client.locals();
    assert.equal(locals.got.value, '3');
    assert.equal(locals.got.type, 'int');
    assert.equal(locals.stall.namedVariables, 3);
    const inside = await client.children(locals.stall.variablesReference);
    const stock = inside.find((one) => one.name === 'stock');
    assert.equal(stock.evaluateName, 'stall.stock');
    assert.equal(stock.indexedVariables, 33); // of 250 so many are recorded, and a word
    const page = await client.children(stock.variablesReference, {
      filter: 'indexed', start: 20, count: 3 });
    assert.deepEqual(page.map((one) => [one.name, one.value]),
      [['20', '20'], ['21', '21'], ['22', '22']]);
    assert.equal(page[0].evaluateName, 'stall.stock[20]');
    assert.equal((await client.evaluate('stall.stock[20]', 'watch')).result, '20');
    const last = await client.children(stock.variablesReference, {
      filter: 'indexed', start: 31, count: 2 });
    assert.deepEqual(last.map((one) => one.value), ['31', '218 more were not recorded']);
    assert.deepEqual(await client.children(stock.variablesReference, { filter: 'named' }), []);
    const hex = await client.children(stock.variablesReference, {
      filter: 'indexed', start: 31, count: 1, format: { hex: true } });
    assert.equal(hex[0].value, '0x1f');
    const globals = await client.children(await client.scope('Globals'));
    const rates = globals.find((one) => one.name === 'RATES');
    const items = await client.children(rates.variablesReference);
    assert.deepEqual(items.map((one) => [one.name, one.evaluateName]), [
      ["'apple'", "RATES['apple']"], ["'pear'", "RATES['pear']"],
      ["('plum', 2)", "RATES[('plum', 2)]"]]);
    assert.ok(!globals.some((one) => one.name === 'order'));
  });

session('a return value is shown at the return', {}, at(line('sold')), async (client) => {
  await client.move('continue');
  await client.move('next', { granularity: 'instruction' });
  assert.equal((await client.locals())['(return)'].value, '3');
});

session('hover, watch and console', {}, at(line('total')), async (client) => {
  await client.move('continue');
  await client.move('continue');
  assert.equal((await client.evaluate('order', 'hover')).result, '2');
  assert.equal((await client.evaluate('order * 2 + len(orders)', 'watch')).result, '8');
  const stall = await client.evaluate('stall', 'watch');
  assert.equal((await client.children(stall.variablesReference))[0].evaluateName,
    'stall.owner');
  await assert.rejects(client.evaluate('nothing', 'hover'), /no recorded value/);
  await assert.rejects(client.evaluate('stall.sell(1)', 'repl'), /no code is run/);
  await assert.rejects(client.evaluate('order +', 'watch'));
  const caller = (await client.frames())[1].id;
  await assert.rejects(client.evaluate('order', 'watch', caller), /no recorded value/);
  // The words of `filmstrip step`, from its table.
  assert.match((await client.evaluate('help', 'repl')).result, /\nhistory \(hist\) VARIABLE/);
  const history = (await client.evaluate('history total', 'repl')).result.split('\n');
  assert.deepEqual(history.map((one) => one.split(' = ')[1]), ['0', '3', '12', '30', '60']);
  const origin = (await client.evaluate('origin got', 'repl')).result;
  assert.match(origin, new RegExp(`market\\.py:${line('order')} .*got = 9`));
  assert.match((await client.evaluate(`hits market.py:${line('total')} order, got`, 'repl')).result,
    / 1, 3\n.* 2, 9\n/);
  assert.match((await client.evaluate('where', 'repl')).result,
    new RegExp(`day {2}market\\.py:${line('total')}\n`));
  assert.match((await client.evaluate('where', 'repl', caller)).result, /\n> *1 /);
  await assert.rejects(client.evaluate('break 3', 'repl'), /set in the editor/);
  await assert.rejects(client.evaluate('history', 'repl'), /.{5}/);
  await assert.rejects(client.evaluate('history nothing', 'repl'), /.{5}/);
  const go = async (word) => {
    const stopped = client.waitForEvent('stopped');
    await client.evaluate(word, 'repl');
    client.stopped = (await stopped).body;
  };
  await go('rwrite total');
  assert.equal((await client.evaluate('total', 'watch')).result, '3');
  await go('first total > 20');
  assert.equal((await client.evaluate('total', 'watch')).result, '30');
  await go('undo');
  assert.equal((await client.evaluate('total', 'watch')).result, '3');
  await go('end');
  assert.equal(await client.line(), line('crash'));
  await go('rc'); // to the editor's breakpoint
  assert.equal(await client.line(), line('total'));
  assert.equal(client.stopped.reason, 'breakpoint');
});

session('every time a line ran can be gone to', {}, at(line('end')), async (client) => {
  await client.move('continue');
  const targets = (await client.send('gotoTargets', {
    source: { path: source('market.py') }, line: line('total') })).body.targets;
  assert.equal(targets.length, 4);
  assert.match(targets[2].label, /^3rd of 4, [\d.]+ s, got = 18/);
  await client.move('goto', { targetId: targets[2].id });
  assert.equal(client.stopped.reason, 'goto');
  assert.deepEqual([await client.line(), (await client.locals()).order.value],
    [line('total'), '3']);
  const frame = (await client.frames())[0].id;
  await client.move('restartFrame', { frameId: frame });
  assert.equal((await client.top()).name, 'day');
  assert.equal((await client.locals()).total, undefined);
  await client.move('restart', {});
  assert.equal(await client.line(), 1);
  await assert.rejects(client.scopesRequest({ frameId: frame }), /moment that was left/);
  await client.move('filmstrip/jump', { how: 'raise' });
  assert.equal(await client.line(), line('divide'));
  await assert.rejects(client.send('filmstrip/jump', { how: 'sideways' }), /no move/);
  const query = (await client.send('filmstrip/query', { q: 'locals' })).body.answer;
  assert.equal(query.locals[0].name, 'value');
});

session('threads by name, each with its stack', {}, at(line('helped')), async (client) => {
  await client.move('continue');
  assert.notEqual(client.stopped.threadId, 1);
  const threads = (await client.threadsRequest()).body.threads;
  assert.deepEqual(threads.map((one) => one.name), ['MainThread', 'helper-thread']);
  const main = (await client.stackTraceRequest({ threadId: 1 })).body.stackFrames;
  assert.equal(main[0].name, '<module>');
  assert.equal((await client.top()).name, 'helper');
  // A step of the other thread goes on from where that one stands.
  await client.move('next', { threadId: 1, singleThread: true });
  assert.equal(client.stopped.threadId, 1);
  await assert.rejects(client.stackTraceRequest({ threadId: 77 }), /no such thread/);
  await client.move('continue', { singleThread: true });
  assert.equal(client.stopped.threadId, 1);
});

session('next over an await stays in its coroutine', {}, null, async (client) => {
  await client.breakpoints([{ line: line('answer') - 1 }]);
  await client.move('continue');
  const name = (await client.locals()).name.value;
  const [main] = (await client.threadsRequest()).body.threads;
  assert.match(main.name, /^MainThread, task Task-\d+$/);
  await client.breakpoints([]);
  assert.equal((await client.move('next')).line, line('answer'));
  assert.equal((await client.locals()).name.value, name);
  assert.equal((await client.move('stepBack')).line, line('answer') - 1);
});

session('what an editor asks about sources', {}, null, async (client) => {
  const sources = (await client.send('loadedSources')).body.sources;
  const own = sources.find((one) => one.name === 'market.py');
  assert.equal(own.path, source('market.py'));
  assert.equal(own.sourceReference, undefined);
  const places = (await client.send('breakpointLocations', {
    source: own, line: line('begin') - 1, endLine: line('loop') })).body.breakpoints;
  assert.deepEqual(places.map((one) => one.line),
    [line('begin') - 1, line('begin'), line('loop')]);
  const names = async (text) => (await client.completionsRequest({
    text, column: text.length + 1, frameId: (await client.top()).id })).body.targets
    .map((one) => one.label);
  await client.breakpoints([line('total')]);
  await client.move('continue');
  assert.deepEqual(await names('ord'), ['orders', 'order']);
  assert.deepEqual(await names('stall.mo'), ['money']);
  assert.ok((await names('hi')).includes('history'));
});

test('a recording opens where its source is not', { timeout: 60000 }, async () => {
  const elsewhere = fs.mkdtempSync(path.join(FOLDER, 'elsewhere-'));
  const film = path.join(elsewhere, 'market.film');
  fs.copyFileSync(path.join(FOLDER, 'market.film'), film);
  const hidden = source('market.py') + '.hidden';
  const text = fs.readFileSync(source('market.py'), 'utf8');
  const look = async (launch) => {
    const client = new Session();
    try {
      await client.begin({ film, ...launch });
      const own = (await client.top()).source;
      const answer = own.sourceReference
        ? (await client.sourceRequest({ sourceReference: own.sourceReference })).body
        : null;
      const set = (await client.setBreakpointsRequest({
        source: own, breakpoints: [{ line: line('total') }] })).body.breakpoints;
      assert.equal(set[0].verified, true);
      return [own, answer];
    } finally {
      await client.stop();
    }
  };
  fs.renameSync(source('market.py'), hidden);
  try {
    let [own, answer] = await look({});
    assert.ok(own.sourceReference > 0);
    assert.equal(own.origin, 'the recording');
    assert.equal(answer.content, text);
    fs.writeFileSync(source('market.py'), text.replace('apple', 'lemon')); // another
    [own, answer] = await look({});
    assert.equal(answer.content, text);
    fs.writeFileSync(path.join(elsewhere, 'market.py'), text.replaceAll('\n', '\r\n'));
    [own, answer] = await look({ sourceRoots: [elsewhere] });
    assert.equal(own.path, path.join(elsewhere, 'market.py'));
    assert.equal(answer, null);
  } finally {
    fs.renameSync(hidden, source('market.py'));
  }
});

test('a session can begin at the end, or anywhere', { timeout: 60000 }, async () => {
  for (const [where, expected] of [['end', line('crash')], ['1:2', 1], ['9:9', 1]]) {
    const client = new Session();
    try {
      await client.begin({ at: where });
      assert.equal(await client.line(), expected, where);
    } finally {
      await client.stop();
    }
  }
});

session('a long search shows how far it is and can be stopped', { film: 'long.film' }, null,
  async (client) => {
    const progress = [];
    client.on('progressStart', (event) => progress.push(event.body));
    client.on('progressUpdate', (event) => progress.push(event.body));
    const set = await client.breakpoints(
      [{ line: 4, condition: 'turn' + ' + turn'.repeat(100) + ' < 0' }], source('long.py'));
    assert.equal(set[0].verified, true);

    let stopped = client.waitForEvent('stopped');
    const started = client.waitForEvent('progressStart');
    await client.continueRequest({ threadId: 1 });
    await started;
    const asked = client.pauseRequest({ threadId: 1 });
    const pause = await stopped;
    await asked;
    assert.equal(pause.body.reason, 'pause');
    client.stopped = pause.body;
    const reached = Number((await client.evaluate('turn', 'watch')).result);
    assert.ok(reached > 100, `at ${reached}`); // where the search was, not where it began

    stopped = client.waitForEvent('stopped');
    const begun = client.waitForEvent('progressStart');
    await client.continueRequest({ threadId: 1 });
    const { progressId } = (await begun).body;
    await client.send('cancel', { progressId });
    client.stopped = (await stopped).body;
    assert.equal(client.stopped.description, 'Cancelled');
    assert.equal(Number((await client.evaluate('turn', 'watch')).result), reached);
    assert.ok(progress.length > 0 && progress[0].cancellable);
    // A pause that comes when it stands already does no harm.
    stopped = client.waitForEvent('stopped');
    await client.pauseRequest({ threadId: 1 });
    await stopped;
  });

test('terminate and disconnect end it', { timeout: 60000 }, async () => {
  const client = await new Session().begin({});
  const over = client.waitForEvent('terminated');
  await client.terminateRequest();
  await over;
  const gone = new Promise((resolve) => client._adapterProcess.on('exit', resolve));
  await client.disconnectRequest();
  assert.equal(await gone, 0);
});
