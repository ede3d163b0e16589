/**
 * Runs: the task, its terminal, its output folder, its end. The interpreter is a stand-in program that takes the
 * recorder's command line, so that neither Python nor PyTorch is needed; the recorder has tests of its own.
 */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { closeAll, customTabs, eventually, inWorkspace } from './harness.ts';

const recorded = () => inWorkspace('recorded.raceline').fsPath;

/** Writes its arguments and environment beside the trace, and a trace; waits first if the program is told to. */
const standIn = () => `#!${process.execPath}
const { copyFileSync, writeFileSync } = require('node:fs');
const args = process.argv.slice(2);
if (args.includes('--confirm')) {
  const { readFileSync } = require('node:fs');
  const { hazards } = JSON.parse(readFileSync(args[args.indexOf('--confirm') + 1], 'utf8'));
  const results = hazards.map(({ id }) => ({ id, status: 'reproduced', happened: true, message: 'as told' }));
  writeFileSync(args[args.indexOf('--report') + 1], JSON.stringify({ version: 1, results }));
  process.exit(0);
}
const output = args[args.indexOf('-o') + 1];
process.on('SIGINT', () => {
  writeFileSync(output + '.interrupted', '');
  process.exit(130);
});
writeFileSync(output + '.seen', JSON.stringify({ args, cwd: process.cwd(), unbuffered: process.env.PYTHONUNBUFFERED, own: process.env.OWN }));
console.log('first line\\nsecond line');
if (args.includes('wait')) setInterval(() => {}, 1000);
else copyFileSync(${JSON.stringify(recorded())}, output);
`;

function interpreter(): string {
  const file = inWorkspace('stand in (1).cjs').fsPath;
  writeFileSync(file, standIn());
  chmodSync(file, 0o755);
  return file;
}

/** Runs a task as it would stand in tasks.json, under a label of its own. */
async function runTask(definition: vscode.TaskDefinition): Promise<vscode.TaskExecution> {
  const label = `under test ${++labels}`;
  const tasks = vscode.workspace.getConfiguration('tasks');
  await tasks.update('version', '2.0.0', vscode.ConfigurationTarget.Workspace);
  await tasks.update('tasks', [{ label, ...definition }], vscode.ConfigurationTarget.Workspace);
  const task = await eventually(
    async () => (await vscode.tasks.fetchTasks({ type: 'raceline' })).find(({ name }) => name === label),
    `the task ${label}`,
  );
  return vscode.tasks.executeTask(task);
}
let labels = 0;

const processEnd = (execution: vscode.TaskExecution) =>
  new Promise<number | undefined>((resolve) => {
    const subscription = vscode.tasks.onDidEndTaskProcess((event) => {
      if (event.execution.task.name !== execution.task.name) return;
      subscription.dispose();
      resolve(event.exitCode);
    });
  });

describe('runs', () => {
  afterEach(closeAll);

  it('give the recorder the program as an argument list, and open the trace', async () => {
    const output = inWorkspace('out one.raceline').fsPath;
    await runTask({
      type: 'raceline',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of VS Code's.
      program: '${workspaceFolder}/racy.py',
      args: ['--name', 'two words', '$HOME', '"quoted"'],
      env: { OWN: 'given' },
      python: [interpreter()],
      output,
    });
    await eventually(() => customTabs().find((tab) => tab.uri.fsPath === output), 'the timeline of the run');
    const seen = JSON.parse(readFileSync(`${output}.seen`, 'utf8'));
    const executor = seen.args[0];
    assert.ok(existsSync(path.join(executor, '__main__.py')), executor);
    assert.deepEqual(seen.args.slice(1), [
      '-o',
      output,
      '--level',
      'full',
      inWorkspace('racy.py').fsPath,
      '--name',
      'two words',
      '$HOME',
      '"quoted"',
    ]);
    assert.deepEqual([seen.cwd, seen.unbuffered, seen.own], [inWorkspace().fsPath.replace(/\/$/, ''), '1', 'given']);
  });

  it('write into a folder that keeps itself out of version control', async () => {
    await runTask({ type: 'raceline', program: 'racy.py', python: [interpreter()] });
    const tab = await eventually(() => customTabs()[0], 'the timeline of the run');
    assert.equal(path.basename(path.dirname(tab.uri.fsPath)), '.raceline');
    assert.match(path.basename(tab.uri.fsPath), /^racy-\d{8}-\d{6}\.raceline$/);
    assert.equal(readFileSync(path.join(path.dirname(tab.uri.fsPath), '.gitignore'), 'utf8'), '*\n');
    await closeAll();
    await vscode.commands.executeCommand('raceline.openLastTrace');
    await eventually(() => customTabs().some((open) => open.uri.fsPath === tab.uri.fsPath), 'the last trace');
  });

  it('are interrupted when they are stopped', async () => {
    const output = inWorkspace('stopped.raceline').fsPath;
    const execution = await runTask({
      type: 'raceline',
      program: 'racy.py',
      args: ['wait'],
      python: [interpreter()],
      output,
    });
    const ended = processEnd(execution);
    await eventually(() => existsSync(`${output}.seen`), 'the start of the program');
    await vscode.commands.executeCommand('raceline.stopRun');
    assert.equal(await ended, 130);
    assert.ok(existsSync(`${output}.interrupted`));
  });

  it('of a launch configuration of its own start no debugger', async () => {
    const output = inWorkspace('launched.raceline').fsPath;
    const sessions: string[] = [];
    const subscription = vscode.debug.onDidStartDebugSession(({ name }) => sessions.push(name));
    try {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of VS Code's.
      const program = '${workspaceFolder}/racy.py';
      await vscode.debug.startDebugging(vscode.workspace.workspaceFolders![0], {
        type: 'raceline',
        request: 'launch',
        name: 'record it',
        program,
        args: ['launched'],
        python: [interpreter()],
        output,
      });
      await eventually(() => customTabs().find((tab) => tab.uri.fsPath === output), 'the timeline of the run');
      assert.equal(JSON.parse(readFileSync(`${output}.seen`, 'utf8')).args.at(-1), 'launched');
      assert.deepEqual(sessions, []);
    } finally {
      subscription.dispose();
    }
  });

  it('that confirm hazards are made by the command line, and open the recording', async () => {
    const output = inWorkspace('confirmed.raceline').fsPath;
    const execution = await runTask({
      type: 'raceline',
      program: 'racy.py',
      action: 'confirm',
      python: [interpreter()],
      output,
    });
    // 1: some hazard was reproduced.
    assert.equal(await processEnd(execution), 1);
    assert.ok(existsSync(output.replace(/\.raceline$/, '.plan.json')));
    await eventually(() => customTabs().find((tab) => tab.uri.fsPath === output), 'the timeline of the recording');
  });

  it('say in the terminal what is wrong with a task, and end', async () => {
    const ended = processEnd(await runTask({ type: 'raceline', python: [interpreter()] }));
    assert.equal(await ended, 2);
  });

  it('of the open file ask the interpreter of the setting, and say what works without PyTorch', async () => {
    // The stand-in answers no question as Python would: the command ends with a message instead of a run.
    const settings = vscode.workspace.getConfiguration('raceline');
    await settings.update('interpreter', [interpreter()], vscode.ConfigurationTarget.Workspace);
    const started: string[] = [];
    const subscription = vscode.tasks.onDidStartTask(({ execution }) => started.push(execution.task.name));
    try {
      await vscode.window.showTextDocument(inWorkspace('racy.py'));
      await vscode.commands.executeCommand('raceline.runFile');
      assert.deepEqual(started, []);
    } finally {
      subscription.dispose();
      await settings.update('interpreter', undefined, vscode.ConfigurationTarget.Workspace);
    }
  });
});
