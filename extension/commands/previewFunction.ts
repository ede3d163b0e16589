/**
 * Preview Timeline of Function, and Show Witness Schedule: the language server runs it on the built-in executor; the traces
 * lie in the extension's storage, not in the workspace. Starts no process, so it needs no trust.
 */
import { createHash } from 'node:crypto';
import path from 'node:path';
import * as vscode from 'vscode';
import { previewFolder, viewType, witnessBeside } from '../timeline/editor.ts';
import { type CommandContext, pythonUri } from './context.ts';

interface PreviewAnswer {
  readonly entry: string;
  readonly raceline: string;
}

interface WitnessAnswer {
  readonly entry: string;
  readonly witnesses: readonly {
    readonly code: string;
    readonly wrong: string;
    readonly message: string;
    readonly lines: readonly number[];
    readonly intended: string;
    readonly witness: string;
  }[];
}

export async function previewFunction(c: CommandContext, given: unknown, givenLine: unknown): Promise<void> {
  const { uri, answer } = await ask<PreviewAnswer>(c, 'raceline.server.preview', given, givenLine);
  const trace = traceOf(c, uri, answer.entry, '');
  await write(trace, answer.raceline);
  await open(trace);
}

/** The intended run and the one that goes wrong, one below the other. */
export async function showWitness(c: CommandContext, given: unknown, givenLine: unknown): Promise<void> {
  const { uri, line, answer } = await ask<WitnessAnswer>(c, 'raceline.server.witness', given, givenLine);
  const here = answer.witnesses.filter(({ lines }) => line !== undefined && lines.includes(line + 1));
  const choices = here.length ? here : answer.witnesses;
  const chosen = choices.length === 1 ? choices[0] : await choose(choices);
  if (!chosen) return;
  const trace = traceOf(c, uri, answer.entry, `-${chosen.code}`);
  await write(witnessBeside(trace), chosen.witness);
  await write(trace, chosen.intended);
  await open(trace);
}

async function choose(witnesses: WitnessAnswer['witnesses']): Promise<WitnessAnswer['witnesses'][number] | undefined> {
  const items = witnesses.map((witness) => ({
    label: witness.wrong,
    description: `${witness.code}${witness.lines.length ? `, line ${witness.lines.at(-1)}` : ''}`,
    detail: witness.message,
    witness,
  }));
  const picked = await vscode.window.showQuickPick(items, { title: 'What shall go wrong?', matchOnDetail: true });
  return picked?.witness;
}

async function ask<Answer>(c: CommandContext, command: string, given: unknown, givenLine: unknown) {
  const uri = pythonUri(given);
  if (!uri) throw new Error('open the Python file whose function to preview');
  const editor = vscode.window.visibleTextEditors.find((e) => e.document.uri.toString() === uri.toString());
  const line = typeof givenLine === 'number' ? givenLine : editor?.selection.active.line;
  await vscode.workspace.openTextDocument(uri);
  const client = await c.language.get();
  const answer = await client.sendRequest<Answer>('workspace/executeCommand', {
    command,
    arguments: [client.code2ProtocolConverter.asUri(uri), line],
  });
  return { uri, line, answer };
}

/** The same function of the same file is the same document: a second preview refreshes the open timeline. */
function traceOf(c: CommandContext, uri: vscode.Uri, entry: string, suffix: string): vscode.Uri {
  const place = createHash('sha256').update(uri.toString()).digest('hex').slice(0, 8);
  const file = path.posix.basename(uri.path, '.py');
  const name = entry === '<module>' ? file : `${file}-${entry.replace(/[^\w.]+/g, '_')}`;
  return vscode.Uri.joinPath(previewFolder(c.context), place, `${name}${suffix}.raceline`);
}

const write = (uri: vscode.Uri, text: string) => vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(text));

const open = (trace: vscode.Uri) =>
  vscode.commands.executeCommand('vscode.openWith', trace, viewType, vscode.ViewColumn.Beside);
