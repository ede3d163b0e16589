/** `${workspaceFolder}` and its kin in settings, tasks and paths: one substitution for all of them. */
import { homedir } from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';

export class UnknownVariable extends Error {}

export interface VariableScope {
  /** The file that a run is about; undefined where there is none. */
  readonly file?: vscode.Uri;
  readonly folder?: vscode.WorkspaceFolder;
}

/** All occurrences; a variable that is not known is an error that names it. An unset `${env:X}` is empty. */
export function substitute(text: string, { file, folder }: VariableScope): string {
  const expanded = text.replace(/\$\{([^}]*)\}/g, (whole, name: string) => {
    if (name.startsWith('env:')) return process.env[name.slice(4)] ?? '';
    if (name.startsWith('workspaceFolder:')) {
      const other = vscode.workspace.workspaceFolders?.find((f) => f.name === name.slice('workspaceFolder:'.length));
      if (other) return other.uri.fsPath;
    }
    const value: Record<string, string | undefined> = {
      userHome: homedir(),
      // Without a folder the file's own folder is the only place that is about it.
      workspaceFolder: folder?.uri.fsPath ?? (file && path.dirname(file.fsPath)),
      cwd: folder?.uri.fsPath ?? process.cwd(),
      file: file?.fsPath,
      fileDirname: file && path.dirname(file.fsPath),
    };
    const found = value[name];
    if (found === undefined)
      throw new UnknownVariable(`${whole} in '${text}' is not a variable that Raceline knows here`);
    return found;
  });
  return /^~(?=$|[\\/])/.test(expanded) ? homedir() + expanded.slice(1) : expanded;
}
