/** The custom editor, run findings, previews. What the page draws is looked at in ui.mjs. */
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { closeAll, customTabs, eventually, findings, inWorkspace, show } from './harness.ts';

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
