/** Entry of the suite in the extension host: runs mocha, writes one result a test where the launcher looks for them. */
import { writeFileSync } from 'node:fs';
import type { Test } from 'mocha';
import * as vscode from 'vscode';

export async function run(): Promise<void> {
  const { default: Mocha } = await import('mocha');
  const mocha = new Mocha({ ui: 'bdd', timeout: 150_000, reporter: 'min', grep: process.env.RACELINE_TEST_GREP });
  mocha.suite.emit('pre-require', globalThis, 'suite', mocha);
  if (vscode.workspace.isTrusted) {
    await import('./findings.test.ts');
    await import('./timeline.test.ts');
    await import('./runs.test.ts');
  } else await import('./restricted.test.ts');
  const results: { title: string; milliseconds: number; error?: string }[] = [];
  const note = (test: Test, error?: Error) =>
    results.push({
      title: test.fullTitle(),
      milliseconds: test.duration ?? 0,
      error: error && (error.stack ?? error.message),
    });
  const failures = await new Promise<number>((resolve) => {
    mocha
      .run(resolve)
      .on('pass', (test) => note(test))
      .on('fail', (test, error) => note(test as Test, error as Error));
  });
  const file = process.env.RACELINE_TEST_RESULTS;
  if (file) writeFileSync(file, JSON.stringify(results));
  if (failures) throw new Error(`${failures} tests failed`);
}
