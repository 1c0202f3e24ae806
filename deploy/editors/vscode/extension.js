// SPDX-License-Identifier: MIT
// The extension of Visual Studio Code, as it is: no build step and no package to install. It speaks
// the language server protocol with `kiln lsp` itself, so far as VS Code asks for what kiln has.
"use strict";

const vscode = require("vscode");
const { spawn } = require("child_process");

const SELECTOR = [{ language: "rpl" }, { language: "hlsl" }, { language: "wgsl" }, { pattern: "**/kiln.toml" }];

class Connection {
  constructor(command, onNotification, onRequest, onEnd) {
    this.pending = new Map();
    this.lastId = 0;
    this.bytes = Buffer.alloc(0);
    this.onNotification = onNotification;
    this.onRequest = onRequest;
    this.process = spawn(command, ["lsp"], { stdio: ["pipe", "pipe", "ignore"] });
    this.process.on("error", (error) => onEnd(`cannot start '${command}': ${error.message}`));
    this.process.on("exit", (code) => onEnd(code === 0 ? "" : `kiln lsp ended with ${code}`));
    this.process.stdin.on("error", () => {});
    this.process.stdout.on("data", (chunk) => this.take(chunk));
  }

  send(message) {
    const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
    this.process.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
    this.process.stdin.write(body);
  }

  notify(method, params) {
    this.send({ method, params });
  }

  // Null instead of an error: what an editor asks in passing has no place for one.
  request(method, params, token) {
    const id = ++this.lastId;
    return new Promise((resolve) => {
      this.pending.set(id, (message) => resolve(message.error ? null : message.result));
      if (token) {
        token.onCancellationRequested(() => this.notify("$/cancelRequest", { id }));
      }
      this.send({ id, method, params });
    });
  }

  // The same, for what a person asked for: fails with the server's words.
  ask(method, params) {
    const id = ++this.lastId;
    return new Promise((resolve, reject) => {
      this.pending.set(id, (message) =>
        message.error ? reject(new Error(message.error.message)) : resolve(message.result));
      this.send({ id, method, params });
    });
  }

  take(chunk) {
    this.bytes = Buffer.concat([this.bytes, chunk]);
    for (;;) {
      const end = this.bytes.indexOf("\r\n\r\n");
      if (end < 0) return;
      const length = Number(/Content-Length: (\d+)/i.exec(this.bytes.subarray(0, end).toString())[1]);
      if (this.bytes.length < end + 4 + length) return;
      const message = JSON.parse(this.bytes.subarray(end + 4, end + 4 + length).toString());
      this.bytes = this.bytes.subarray(end + 4 + length);
      if (message.method && message.id !== undefined) {
        this.onRequest(message);
      } else if (message.method) {
        this.onNotification(message);
      } else {
        const waiting = this.pending.get(message.id);
        this.pending.delete(message.id);
        if (waiting) waiting(message);
      }
    }
  }
}

const toPosition = (p) => new vscode.Position(p.line, p.character);
const toRange = (r) => new vscode.Range(toPosition(r.start), toPosition(r.end));
const toUri = (text) => vscode.Uri.parse(text);
const toLocation = (l) => new vscode.Location(toUri(l.uri), toRange(l.range));
const fromRange = (r) => ({
  start: { line: r.start.line, character: r.start.character },
  end: { line: r.end.line, character: r.end.character },
});
const toEdits = (edits) => (edits || []).map((e) => new vscode.TextEdit(toRange(e.range), e.newText));
function toWorkspaceEdit(edit) {
  const result = new vscode.WorkspaceEdit();
  for (const [uri, edits] of Object.entries((edit && edit.changes) || {})) {
    result.set(toUri(uri), toEdits(edits));
  }
  return result;
}
const at = (document, position) => ({
  textDocument: { uri: document.uri.toString() },
  position: { line: position.line, character: position.character },
});
const isOurs = (document) => vscode.languages.match(SELECTOR, document) > 0;

let connection = null;
let capabilities = null;

function registerFeatures(context, legend, changed) {
  const l = vscode.languages;
  const ask = (method, params, token) => connection.request(method, params, token);
  context.subscriptions.push(
    l.registerHoverProvider(SELECTOR, {
      provideHover: async (d, p, t) => {
        const hover = await ask("textDocument/hover", at(d, p), t);
        return hover && new vscode.Hover(new vscode.MarkdownString(hover.contents.value), toRange(hover.range));
      },
    }),
    l.registerCompletionItemProvider(SELECTOR, {
      provideCompletionItems: async (d, p, t) => {
        const list = await ask("textDocument/completion", at(d, p), t);
        return ((list && list.items) || []).map((i) => {
          const item = new vscode.CompletionItem(i.label, i.kind - 1);
          const text = i.textEdit.newText;
          item.detail = i.detail;
          item.sortText = i.sortText;
          item.documentation = i.documentation && new vscode.MarkdownString(i.documentation.value);
          item.insertText = i.insertTextFormat === 2 ? new vscode.SnippetString(text) : text;
          item.range = toRange(i.textEdit.range);
          return item;
        });
      },
    }, ".", '"', "(", "=", " "),
    l.registerSignatureHelpProvider(SELECTOR, {
      provideSignatureHelp: async (d, p, t) => {
        const found = await ask("textDocument/signatureHelp", at(d, p), t);
        if (!found) return null;
        const help = new vscode.SignatureHelp();
        help.activeSignature = found.activeSignature;
        help.activeParameter = found.activeParameter;
        help.signatures = found.signatures.map((s) => {
          const signature = new vscode.SignatureInformation(s.label, s.documentation);
          signature.parameters = s.parameters.map((x) => new vscode.ParameterInformation(x.label));
          return signature;
        });
        return help;
      },
    }, "(", ","),
    l.registerDefinitionProvider(SELECTOR, {
      provideDefinition: async (d, p, t) => {
        const found = await ask("textDocument/definition", at(d, p), t);
        return found && [].concat(found).map(toLocation);
      },
    }),
    l.registerReferenceProvider(SELECTOR, {
      provideReferences: async (d, p, c, t) =>
        ((await ask("textDocument/references", { ...at(d, p), context: c }, t)) || []).map(toLocation),
    }),
    l.registerDocumentHighlightProvider(SELECTOR, {
      provideDocumentHighlights: async (d, p, t) =>
        ((await ask("textDocument/documentHighlight", at(d, p), t)) || [])
          .map((h) => new vscode.DocumentHighlight(toRange(h.range), h.kind - 1)),
    }),
    l.registerRenameProvider(SELECTOR, {
      prepareRename: async (d, p) => {
        const found = await connection.ask("textDocument/prepareRename", at(d, p));
        if (!found) throw new Error("There is no name here that could be another.");
        return { range: toRange(found.range), placeholder: found.placeholder };
      },
      provideRenameEdits: async (d, p, newName) =>
        toWorkspaceEdit(await connection.ask("textDocument/rename", { ...at(d, p), newName })),
    }),
    l.registerDocumentSymbolProvider(SELECTOR, {
      provideDocumentSymbols: async (d, t) => {
        const convert = (s) => {
          const symbol = new vscode.DocumentSymbol(s.name, s.detail || "", s.kind - 1, toRange(s.range),
            toRange(s.selectionRange));
          symbol.children = (s.children || []).map(convert);
          return symbol;
        };
        const uri = { textDocument: { uri: d.uri.toString() } };
        return ((await ask("textDocument/documentSymbol", uri, t)) || []).map(convert);
      },
    }),
    l.registerWorkspaceSymbolProvider({
      provideWorkspaceSymbols: async (query, t) =>
        ((await ask("workspace/symbol", { query }, t)) || [])
          .map((s) => new vscode.SymbolInformation(s.name, s.kind - 1, "", toLocation(s.location))),
    }),
    l.registerFoldingRangeProvider(SELECTOR, {
      provideFoldingRanges: async (d, c, t) =>
        ((await ask("textDocument/foldingRange", { textDocument: { uri: d.uri.toString() } }, t)) || [])
          .map((r) => new vscode.FoldingRange(r.startLine, r.endLine)),
    }),
    l.registerDocumentFormattingEditProvider(SELECTOR, {
      provideDocumentFormattingEdits: async (d, options, t) => toEdits(await ask("textDocument/formatting",
        { textDocument: { uri: d.uri.toString() }, options }, t)),
    }),
    l.registerDocumentRangeFormattingEditProvider(SELECTOR, {
      provideDocumentRangeFormattingEdits: async (d, range, options, t) =>
        toEdits(await ask("textDocument/rangeFormatting",
          { textDocument: { uri: d.uri.toString() }, range: fromRange(range), options }, t)),
    }),
    l.registerCodeActionsProvider(SELECTOR, {
      provideCodeActions: async (d, range, c, t) =>
        ((await ask("textDocument/codeAction", { textDocument: { uri: d.uri.toString() },
          range: fromRange(range), context: { diagnostics: [] } }, t)) || []).map((a) => {
          const action = new vscode.CodeAction(a.title, vscode.CodeActionKind.QuickFix);
          action.edit = toWorkspaceEdit(a.edit);
          action.isPreferred = a.isPreferred;
          return action;
        }),
    }),
    l.registerCodeLensProvider(SELECTOR, {
      onDidChangeCodeLenses: changed.event,
      provideCodeLenses: async (d, t) =>
        ((await ask("textDocument/codeLens", { textDocument: { uri: d.uri.toString() } }, t)) || [])
          .map((lens) => new vscode.CodeLens(toRange(lens.range), lens.command)),
    }),
    l.registerInlayHintsProvider(SELECTOR, {
      onDidChangeInlayHints: changed.event,
      provideInlayHints: async (d, range, t) =>
        ((await ask("textDocument/inlayHint",
          { textDocument: { uri: d.uri.toString() }, range: fromRange(range) }, t)) || []).map((h) => {
          const hint = new vscode.InlayHint(toPosition(h.position), h.label);
          hint.paddingLeft = h.paddingLeft;
          return hint;
        }),
    }),
    l.registerDocumentSemanticTokensProvider(SELECTOR, {
      onDidChangeSemanticTokens: changed.event,
      provideDocumentSemanticTokens: async (d, t) => {
        const tokens = await ask("textDocument/semanticTokens/full",
          { textDocument: { uri: d.uri.toString() } }, t);
        return tokens && new vscode.SemanticTokens(new Uint32Array(tokens.data));
      },
    }, new vscode.SemanticTokensLegend(legend.tokenTypes, legend.tokenModifiers)));
}

function follow(context) {
  const document = (d) => ({ uri: d.uri.toString(), languageId: d.languageId, version: d.version, text: d.getText() });
  const open = (d) => isOurs(d) && connection.notify("textDocument/didOpen", { textDocument: document(d) });
  vscode.workspace.textDocuments.forEach(open);
  context.subscriptions.push(
    vscode.workspace.onDidOpenTextDocument(open),
    vscode.workspace.onDidCloseTextDocument((d) => isOurs(d) &&
      connection.notify("textDocument/didClose", { textDocument: { uri: d.uri.toString() } })),
    vscode.workspace.onDidSaveTextDocument((d) => isOurs(d) &&
      connection.notify("textDocument/didSave", { textDocument: { uri: d.uri.toString() } })),
    vscode.workspace.onDidChangeTextDocument((e) => isOurs(e.document) && e.contentChanges.length > 0 &&
      connection.notify("textDocument/didChange", {
        textDocument: { uri: e.document.uri.toString(), version: e.document.version },
        contentChanges: e.contentChanges.map((c) => ({ range: fromRange(c.range), text: c.text })),
      })));
}

async function start(context) {
  const diagnostics = vscode.languages.createDiagnosticCollection("kiln");
  const changed = new vscode.EventEmitter();
  context.subscriptions.push(diagnostics, changed);
  const onNotification = (message) => {
    if (message.method === "textDocument/publishDiagnostics") {
      diagnostics.set(toUri(message.params.uri), message.params.diagnostics.map((d) => {
        const found = new vscode.Diagnostic(toRange(d.range), d.message, d.severity - 1);
        found.code = d.code;
        found.source = d.source;
        found.tags = d.tags;
        found.relatedInformation = (d.relatedInformation || [])
          .map((r) => new vscode.DiagnosticRelatedInformation(toLocation(r.location), r.message));
        return found;
      }));
    } else if (message.method === "window/showMessage") {
      vscode.window.showErrorMessage(message.params.message);
    }
  };
  const onRequest = async (message) => {
    let result = null;
    if (message.method === "window/showMessageRequest") {
      const titles = message.params.actions.map((a) => a.title);
      const title = await vscode.window.showQuickPick(titles, { title: message.params.message });
      result = title ? { title } : null;
    } else {
      changed.fire();
    }
    connection.send({ id: message.id, result });
  };
  const command = vscode.workspace.getConfiguration("kiln").get("path");
  connection = new Connection(command, onNotification, onRequest,
    (text) => text && vscode.window.showErrorMessage(text));
  const folders = (vscode.workspace.workspaceFolders || [])
    .map((f) => ({ uri: f.uri.toString(), name: f.name }));
  const refresh = { refreshSupport: true };
  const result = await connection.ask("initialize", {
    processId: process.pid,
    workspaceFolders: folders,
    capabilities: {
      textDocument: {
        completion: { completionItem: { snippetSupport: true } },
        publishDiagnostics: { relatedInformation: true },
      },
      workspace: { codeLens: refresh, inlayHint: refresh, semanticTokens: refresh },
      window: { showMessage: { messageActionItem: {} } },
    },
  });
  capabilities = result.capabilities;
  connection.notify("initialized", {});
  follow(context);
  registerFeatures(context, capabilities.semanticTokensProvider.legend, changed);
}

async function stop(context) {
  context.subscriptions.splice(0).forEach((s) => s.dispose());
  if (connection) {
    await connection.request("shutdown", null);
    connection.notify("exit", {});
    connection = null;
  }
}

let running = { subscriptions: [] };

exports.activate = async (context) => {
  context.subscriptions.push(
    vscode.commands.registerCommand("kiln.chooseVariant", (argument) => connection.ask(
      "workspace/executeCommand", { command: "kiln.chooseVariant", arguments: [argument] })),
    vscode.commands.registerCommand("kiln.chooseVariantHere", () => vscode.commands.executeCommand(
      "kiln.chooseVariant", { uri: vscode.window.activeTextEditor.document.uri.toString() })),
    vscode.commands.registerCommand("kiln.restart", async () => {
      await stop(running);
      await start(running);
    }));
  await start(running);
};

exports.deactivate = () => stop(running);
