/** Squiggles, related places, quick fixes and fix-all through VS Code's own interfaces. */
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { closeAll, code, eventually, extension, findings, show } from './harness.ts';

describe('activation', () => {
  it('waits for a Python file, a trace or a command', async function () {
    assert.equal(extension().isActive, false);
    const started = performance.now();
    await extension().activate();
    // Told, not judged: the machine may be busy.
    this.test!.title += `, and took ${Math.round(performance.now() - started)} ms`;
  });
});

describe('findings', () => {
  afterEach(closeAll);

  it('come with the first Python file, with the earlier access and a link to the rule', async () => {
    const editor = await show('racy.py');
    const [finding] = await eventually(() => {
      const found = findings(editor.document.uri);
      return found.length > 0 && found;
    }, 'a finding in racy.py');
    assert.equal(code(finding!), 'missing-wait');
    assert.equal(finding!.severity, vscode.DiagnosticSeverity.Error);
    assert.match(editor.document.lineAt(finding!.range.start.line).text, /batch @ weights/);
    assert.ok(finding!.relatedInformation?.length, 'the earlier access is named');
    assert.match(String((finding!.code as { target: vscode.Uri }).target), /docs\/rules\/missing-wait\.md$/);
    assert.ok(extension().isActive);
  });

  it('have a quick fix that inserts a wait, and go when it is applied', async () => {
    const editor = await show('racy.py');
    const { document } = editor;
    const finding = await eventually(() => findings(document.uri)[0], 'a finding in racy.py');
    const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
      'vscode.executeCodeActionProvider',
      document.uri,
      finding.range,
      vscode.CodeActionKind.QuickFix.value,
    );
    const preferred = actions.find((action) => action.isPreferred);
    assert.ok(preferred?.edit, `a preferred fix among ${actions.map(({ title }) => title).join(', ')}`);
    assert.match(actions.at(-1)!.title, /^Ignore missing-wait/);
    const explain = actions.find(({ title }) => title === 'Explain missing-wait');
    assert.equal(explain?.command?.command, 'raceline.explain');
    assert.deepEqual(explain.command.arguments, ['missing-wait']);
    assert.ok(await vscode.workspace.applyEdit(preferred.edit));
    assert.match(document.getText(), /wait_event\(/);
    await eventually(() => findings(document.uri).length === 0, 'the end of the finding');
  });

  it('go with one command for the file', async () => {
    const { document } = await show('racy.py');
    await eventually(() => findings(document.uri).length > 0, 'a finding in racy.py');
    await vscode.commands.executeCommand('raceline.fixAll');
    await eventually(() => findings(document.uri).length === 0, 'the end of all findings');
    assert.ok(document.isDirty);
  });

  it('follow a helper in a file that is not open', async () => {
    const { document } = await show('caller.py');
    const finding = await eventually(() => findings(document.uri)[0], 'a finding in caller.py');
    assert.equal(code(finding), 'missing-wait');
    const places = finding.relatedInformation!.map(({ location }) => location.uri.path);
    assert.ok(
      places.some((place) => place.endsWith('/helpers.py')),
      `a place in helpers.py among ${places.join(', ')}`,
    );
  });

  it('come in an untitled document', async () => {
    const text = (await show('racy.py')).document.getText();
    const document = await vscode.workspace.openTextDocument({ language: 'python', content: text });
    await vscode.window.showTextDocument(document);
    await eventually(() => findings(document.uri).length > 0, 'a finding in the untitled document');
  });

  it('stay while a line is half typed', async () => {
    const editor = await show('racy.py');
    const { document } = editor;
    await eventually(() => findings(document.uri).length > 0, 'a finding in racy.py');
    await editor.edit((edit) => edit.insert(new vscode.Position(12, 0), '    for row in scores[\n'));
    // Long enough for several checks of the broken text.
    await new Promise((resolve) => setTimeout(resolve, 1000));
    assert.equal(findings(document.uri).length, 1);
  });

  it('come back after the server was restarted', async () => {
    const { document } = await show('racy.py');
    await eventually(() => findings(document.uri).length > 0, 'a finding in racy.py');
    await vscode.commands.executeCommand('raceline.restart');
    await eventually(() => findings(document.uri).length > 0, 'a finding after the restart');
  });

  it('obey the settings of the editor', async () => {
    const { document } = await show('racy.py');
    await eventually(() => findings(document.uri).length > 0, 'a finding in racy.py');
    const settings = vscode.workspace.getConfiguration('raceline');
    const { Workspace } = vscode.ConfigurationTarget;
    await settings.update('severity', { 'missing-wait': 'hint' }, Workspace);
    await eventually(() => findings(document.uri)[0]?.severity === vscode.DiagnosticSeverity.Hint, 'a hint');
    await settings.update('ignore', ['missing-*'], Workspace);
    await eventually(() => findings(document.uri).length === 0, 'no finding');
    await settings.update('severity', undefined, Workspace);
    await settings.update('ignore', undefined, Workspace);
    await eventually(() => findings(document.uri)[0]?.severity === vscode.DiagnosticSeverity.Error, 'the error again');
  });

  it('go when they are turned off, and come when they are turned on', async () => {
    const { document } = await show('racy.py');
    await eventually(() => findings(document.uri).length > 0, 'a finding in racy.py');
    const settings = vscode.workspace.getConfiguration('raceline');
    await settings.update('enable', false, vscode.ConfigurationTarget.Workspace);
    await eventually(() => findings(document.uri).length === 0, 'no finding');
    await settings.update('enable', undefined, vscode.ConfigurationTarget.Workspace);
    await eventually(() => findings(document.uri).length > 0, 'the finding again');
  });
});

describe('the manifest', () => {
  it('names commands that are registered, and no others', async () => {
    const { contributes } = extension().packageJSON as { contributes: { commands: { command: string }[] } };
    const named = contributes.commands.map(({ command }) => command).sort();
    const registered = (await vscode.commands.getCommands(true))
      .filter((name) => name.startsWith('raceline.') && !name.startsWith('raceline.server.'))
      // VS Code's own, one a custom editor or a view.
      .filter((name) => !/\.(focus|open|resetViewLocation|removeView)$/.test(name))
      .sort();
    assert.deepEqual(registered, named);
  });
});
