// `raceline run` where it cannot run, with a stand-in for the interpreter: what is said, and the exit codes.
import { chmodSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { folder, raceline } from './raceline.ts';

const HEADER =
  '{"raceline":1,"producer":"test","mode":"meta","unix":"0","level":"full"}\n{"k":"end","t":0,"status":"stopped"}\n';

/** A folder, and in it an interpreter that does what the text says. */
function withPython(text: string): string {
  const at = folder({ 'p.py': '' });
  writeFileSync(path.join(at, 'python'), `#!${process.execPath}\n${text}`);
  chmodSync(path.join(at, 'python'), 0o755);
  return at;
}

it('says where recordings cannot be kept', () => {
  const at = folder({ 'p.py': '', '.raceline': 'a file' });
  const { code, stderr } = raceline(at, 'run', '--python', process.execPath, '--', 'p.py');
  expect(code).toBe(2);
  expect(stderr).toContain('no recording can be kept in');
  expect(stderr).toContain('-o FILE');
});

it.skipIf(process.platform === 'win32')('ends with the code that a shell has for a signal', () => {
  const at = withPython(`require('node:fs').writeFileSync('t.raceline', ${JSON.stringify(HEADER)});
process.kill(process.pid, 'SIGINT'); setInterval(() => {}, 1000);`);
  expect(raceline(at, 'run', '-o', 't.raceline', '--python', './python', '--', 'p.py').code).toBe(130);
});
