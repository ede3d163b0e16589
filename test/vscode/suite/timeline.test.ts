/** The custom editor, run findings, previews. What the page draws is looked at in ui.mjs. */
import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import * as vscode from 'vscode';
import { closeAll, code, customTabs, eventually, findings, inWorkspace, show } from './harness.ts';

describe('the timeline', () => {
  afterEach(closeAll);

  it('opens a trace by default, and shows the hazards of the run as findings of their own', async () => {
    const trace = inWorkspace('recorded.raceline');
    await vscode.commands.executeCommand('vscode.open', trace);
    await eventually(
      () => customTabs().find((tab) => tab.viewType === 'raceline.timeline' && tab.uri.path === trace.path),
      'a timeline tab',
    );
    const source = inWorkspace('racy.py');
    const finding = await eventually(() => findings(source, 'raceline run')[0], 'a finding of the run');
    assert.match(finding.message, /\((confirmed in this run|latent: possible, not seen in this run)\)$/);
    assert.equal(finding.range.start.line, 11);
    await vscode.commands.executeCommand('raceline.clearRunFindings');
    await eventually(() => findings(source, 'raceline run').length === 0, 'no finding of the run');
  });

  it('tells the findings of the source what the run saw of them, until the findings of runs are cleared', async () => {
    const { document } = await show('racy.py');
    const before = await eventually(() => findings(document.uri)[0], 'a finding of the source');
    await vscode.commands.executeCommand('vscode.open', inWorkspace('recorded.raceline'));
    const told = await eventually(
      () => findings(document.uri).find(({ message }) => message.includes('recorded.raceline')),
      'what the run says of the finding',
    );
    assert.equal(code(told), code(before));
    assert.ok(told.message.startsWith(before.message), told.message);
    await vscode.commands.executeCommand('raceline.clearRunFindings');
    await eventually(() => findings(document.uri)[0]?.message === before.message, 'the finding as it was');
  });

  it('follows a run that is still writing', async () => {
    const whole = new TextDecoder().decode(await vscode.workspace.fs.readFile(inWorkspace('recorded.raceline')));
    const lines = whole.split('\n');
    // All that the host has written before the first work on the GPU.
    const cut = lines
      .slice(
        0,
        lines.findIndex((line) => line.includes('"k":"op"')),
      )
      .join('\n');
    const live = inWorkspace('live.raceline');
    const source = inWorkspace('racy.py');
    await vscode.workspace.fs.writeFile(live, new TextEncoder().encode(`${cut}\n`));
    await vscode.commands.executeCommand('vscode.open', live);
    await eventually(() => customTabs().find(({ uri }) => uri.path === live.path), 'a timeline tab');
    // Appended as a run appends, not written anew.
    appendFileSync(live.fsPath, whole.slice(cut.length + 1));
    await eventually(() => findings(source, 'raceline run')[0], 'a finding of what was appended');
    await vscode.commands.executeCommand('raceline.clearRunFindings');
  });

  it('shows the preview of the function under the cursor', async () => {
    const editor = await show('racy.py');
    editor.selection = new vscode.Selection(9, 0, 9, 0);
    await vscode.commands.executeCommand('raceline.previewFunction');
    const tab = await eventually(() => customTabs()[0], 'a timeline tab');
    assert.equal(tab.viewType, 'raceline.timeline');
    const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(tab.uri));
    assert.equal(JSON.parse(text.split('\n')[0]!).mode, 'builtin');
    assert.match(tab.uri.path, /racy-score\.raceline$/);
    assert.deepEqual(findings(editor.document.uri, 'raceline run'), []);
  });

  it('shows a schedule in which a hazard of the line happens, beside the intended one', async () => {
    const editor = await show('racy.py');
    editor.selection = new vscode.Selection(11, 0, 11, 0);
    await vscode.commands.executeCommand('raceline.showWitness');
    const tab = await eventually(() => customTabs()[0], 'a timeline tab');
    assert.match(tab.uri.path, /racy-score-missing-wait\.raceline$/);
    const witness = tab.uri.with({ path: tab.uri.path.replace(/\.raceline$/, '.witness.raceline') });
    const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(witness));
    assert.match(JSON.parse(text.split('\n')[0]!).note, / has not written$/);
  });
});
