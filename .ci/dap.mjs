// Drives `isaforge debug --dap` with the client that Visual Studio Code's debug adapters are tested with.
//
//     npm install --prefix TOOLS @vscode/debugadapter-testsupport@1
//     node .ci/dap.mjs path/to/isaforge TOOLS

import assert from 'node:assert';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const [command, tools] = process.argv.slice(2);
const require = createRequire(resolve(tools, 'node_modules') + '/');
const { DebugClient } = require('@vscode/debugadapter-testsupport');

const program = fileURLToPath(new URL('../cli/tests/data/loop.yaml', import.meta.url));

// The client gives a program one argument; a shell takes both.
const client = new DebugClient(`'${resolve(command)}' debug`, '--dap', 'isaforge', { shell: true });
client.defaultTimeout = 10_000;
try {
    await client.start();
    const { body } = await client.initializeRequest();
    assert(body.supportsStepBack && body.supportsConditionalBreakpoints && body.supportsReadMemoryRequest);
    const launched = client.launch({ program, stopOnEntry: false });
    await client.waitForEvent('initialized');
    // The line of `again`, and a condition.
    const set = await client.setBreakpointsRequest({ source: { path: program }, breakpoints: [{ line: 5, condition: 'r0 == 1' }] });
    assert(set.body.breakpoints[0].verified, JSON.stringify(set.body));
    await Promise.all([
        launched,
        client.configurationDoneRequest(),
        client.assertStoppedLocation('breakpoint', { path: program, line: 5 }),
    ]);
    const value = async (expression) => (await client.evaluateRequest({ expression, context: 'watch' })).body.result;
    assert.equal(await value('r0'), '00000001');
    const threadId = (await client.threadsRequest()).body.threads[0].id;
    await Promise.all([client.stepBackRequest({ threadId }), client.assertStoppedLocation('step', { path: program, line: 6 })]);
    const frameId = (await client.stackTraceRequest({ threadId })).body.stackFrames[0].id;
    const { scopes } = (await client.scopesRequest({ frameId })).body;
    const registers = (await client.variablesRequest({ variablesReference: scopes[0].variablesReference })).body.variables;
    assert(registers.some((register) => register.name === 'r0'), JSON.stringify(registers.slice(0, 4)));
    await Promise.all([client.nextRequest({ threadId }), client.assertStoppedLocation('step', { path: program, line: 5 })]);
    const memory = await client.send('readMemory', { memoryReference: '0x2000', count: 4 });
    assert.equal(Buffer.from(memory.body.data, 'base64').length, 4);
    const completed = await client.send('completions', { text: 'break ag', column: 9 });
    assert.deepEqual(completed.body.targets, [{ label: 'again', start: 7, length: 2 }]);
    const refused = await client.setBreakpointsRequest({ source: { path: program }, breakpoints: [{ line: 5, condition: 'r99 ==' }] });
    assert(!refused.body.breakpoints[0].verified);
    await client.setBreakpointsRequest({ source: { path: program }, breakpoints: [] });
    const scope = scopes[0].variablesReference;
    const found = await client.send('dataBreakpointInfo', { variablesReference: scope, name: 'r0' });
    const watched = await client.send('setDataBreakpoints', { breakpoints: [{ dataId: found.body.dataId }] });
    assert(watched.body.breakpoints[0].verified, JSON.stringify(watched.body));
    const [, stopped] = await Promise.all([client.continueRequest({ threadId }), client.waitForEvent('stopped')]);
    assert.equal(stopped.body.reason, 'data breakpoint');
    await client.send('setDataBreakpoints', { breakpoints: [] });
    await Promise.all([client.continueRequest({ threadId }), client.waitForEvent('terminated')]);
    // The program goes back from its end, and starts again.
    await Promise.all([client.stepBackRequest({ threadId }), client.assertStoppedLocation('step', { path: program, line: 7 })]);
    await Promise.all([client.continueRequest({ threadId }), client.waitForEvent('terminated')]);
    await Promise.all([client.send('restart'), client.waitForEvent('terminated')]);
} finally {
    await client.stop();
}
console.log('the debug adapter answers its client');
