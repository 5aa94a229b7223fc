// Drives `isaforge lsp` with the client that Visual Studio Code is built on.
//
//     npm install --prefix TOOLS vscode-languageserver-protocol@3
//     node .ci/lsp.mjs path/to/isaforge TOOLS

import assert from 'node:assert';
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';

const [command, tools] = process.argv.slice(2);
const require = createRequire(resolve(tools, 'node_modules') + '/');
const lsp = require('vscode-languageserver-protocol/node');

const server = spawn(command, ['lsp', '--stdio'], { stdio: ['pipe', 'pipe', 'inherit'] });
const connection = lsp.createProtocolConnection(
    new lsp.StreamMessageReader(server.stdout), new lsp.StreamMessageWriter(server.stdin));
const published = new Map();
let heard = () => {};
connection.onNotification(lsp.PublishDiagnosticsNotification.type, (found) => {
    published.set(found.uri, found.diagnostics);
    heard();
});
const diagnostics = async (uri) => {
    while (!published.has(uri)) await new Promise((done) => (heard = done));
    const found = published.get(uri);
    published.delete(uri);
    return found;
};
connection.listen();

const uri = 'file:///shader.s';
const textDocument = { uri };
const text = '# isa: valhall\nloop:\nFADD.f32 r1, ^r1, u0\nBRANCHZ.eq r1, loop\nMOVE r1\n';
const { capabilities } = await connection.sendRequest(lsp.InitializeRequest.type, {
    processId: process.pid, rootUri: null, capabilities: { textDocument: { hover: { contentFormat: ['markdown'] }, completion: { completionItem: { snippetSupport: true } } } },
});
assert(capabilities.hoverProvider && capabilities.inlayHintProvider && capabilities.renameProvider);
await connection.sendNotification(lsp.InitializedNotification.type, {});
await connection.sendNotification(lsp.DidOpenTextDocumentNotification.type, {
    textDocument: { uri, languageId: 'asm', version: 1, text },
});
const [mistake] = await diagnostics(uri);
assert.deepEqual([mistake.range.start.line, mistake.severity], [4, lsp.DiagnosticSeverity.Error]);
const place = (line, character) => ({ textDocument, position: { line, character } });
const hover = await connection.sendRequest(lsp.HoverRequest.type, place(2, 2));
assert(hover.contents.value.includes('**FADD.f32**') && hover.contents.value.includes('| bits |'));
const definition = await connection.sendRequest(lsp.DefinitionRequest.type, place(3, 16));
assert.deepEqual(definition.range.start, { line: 1, character: 0 });
const references = await connection.sendRequest(lsp.ReferencesRequest.type, { ...place(2, 10), context: { includeDeclaration: true } });
assert.deepEqual(references.map((found) => found.range.start.line), [2, 2, 3]);
const completion = await connection.sendRequest(lsp.CompletionRequest.type, place(4, 3));
assert(completion.some((item) => item.label === 'MOV.i32'));
const hints = await connection.sendRequest(lsp.InlayHintRequest.type, {
    textDocument, range: { start: { line: 0, character: 0 }, end: { line: 9, character: 0 } },
});
assert(hints.length === 2 && hints.every((hint) => /^[0-9a-f]{16}$/.test(hint.label)));
const edit = await connection.sendRequest(lsp.RenameRequest.type, { ...place(1, 1), newName: 'again' });
assert.equal(edit.changes[uri].length, 2);
await connection.sendNotification(lsp.DidChangeTextDocumentNotification.type, {
    textDocument: { uri, version: 2 }, contentChanges: [{ text: text.replace('MOVE r1\n', '') }],
});
assert((await diagnostics(uri)).every((found) => found.severity !== lsp.DiagnosticSeverity.Error));
await connection.sendRequest(lsp.ShutdownRequest.type);
await connection.sendNotification(lsp.ExitNotification.type);
const status = await new Promise((done) => server.on('exit', done));
assert.equal(status, 0);
console.log('the client of Visual Studio Code and the server agree');
