/** In a workspace that is not trusted: findings and previews as ever, and no process. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import * as vscode from 'vscode';
import { closeAll, customTabs, eventually, findings, inWorkspace, show } from './harness.ts';

describe('without trust', () => {
  before(() => assert.equal(vscode.workspace.isTrusted, false));
  afterEach(closeAll);

  it('findings come', async () => {
    const { document } = await show('racy.py');
    await eventually(() => findings(document.uri).length > 0, 'a finding in racy.py');
  });

  it('a preview opens', async () => {
    const editor = await show('racy.py');
    editor.selection = new vscode.Selection(9, 0, 9, 0);
    await vscode.commands.executeCommand('raceline.previewFunction');
    await eventually(() => customTabs()[0], 'a timeline tab');
  });

  it('nothing is run, and no interpreter is asked', async () => {
    const interpreter = inWorkspace('interpreter').fsPath;
    writeFileSync(interpreter, `#!/bin/sh\ntouch '${interpreter}.started'\n`);
    chmodSync(interpreter, 0o755);
    const settings = vscode.workspace.getConfiguration('raceline');
    await settings.update('interpreter', [interpreter], vscode.ConfigurationTarget.Workspace);
    await show('racy.py');
    // Its message waits for an answer that nobody gives.
    void vscode.commands.executeCommand('raceline.runFile');
    await new Promise((resolve) => setTimeout(resolve, 3000));
    assert.equal(existsSync(`${interpreter}.started`), false);
    assert.equal(vscode.tasks.taskExecutions.length, 0);
  });
});
