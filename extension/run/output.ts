/** Where runs write: a folder that keeps itself out of version control and keeps only the newest traces. */
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { substitute } from './variables.ts';

export function outputFolder(uri: vscode.Uri): string {
  const setting = vscode.workspace.getConfiguration('raceline', uri).get<string>('run.outputDirectory') || '.raceline';
  const folder = vscode.workspace.getWorkspaceFolder(uri);
  // A resource is a file or the folder itself.
  const top = folder?.uri.fsPath ?? path.dirname(uri.fsPath);
  return path.resolve(top, substitute(setting, { file: uri, folder }));
}

/** A new file name for a run of `program`; the folder is made, and old traces go. */
export async function newTraceFile(uri: vscode.Uri, program: string): Promise<string> {
  const folder = outputFolder(uri);
  await mkdir(folder, { recursive: true });
  const ignore = path.join(folder, '.gitignore');
  // `wx`: somebody's own file is left as it is.
  await writeFile(ignore, '*\n', { flag: 'wx' }).catch(() => {});
  const keep = vscode.workspace.getConfiguration('raceline', uri).get<number>('run.keep') ?? 20;
  const old = await traces(folder);
  for (const { file } of old.slice(Math.max(keep - 1, 0))) await rm(file, { force: true });
  const time = new Date().toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
  return path.join(folder, `${path.basename(program, '.py')}-${time}.raceline`);
}

/** Newest first. */
export async function traces(folder: string): Promise<{ file: string; time: number }[]> {
  const names = await readdir(folder).catch(() => []);
  const found = await Promise.all(
    names
      .filter((name) => /\.raceline(?:\.gz)?$/.test(name))
      .map(async (name) => {
        const file = path.join(folder, name);
        const time = await stat(file).then(
          ({ mtimeMs }) => mtimeMs,
          () => 0,
        );
        return { file, time };
      }),
  );
  return found.sort((a, b) => b.time - a.time);
}
