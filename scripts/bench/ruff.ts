/**
 * A cold `raceline check` of the packages of test/ecosystem next to `ruff check --no-cache` of the same folders, all of them
 * as one tree and then one after the other, in one run, since only their ratio means something on a shared machine. Takes
 * minutes: it runs when it is named.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pythonFiles } from '../ecosystem/python-files.mjs';

interface Row {
  readonly name: string;
  readonly value: string | number;
  readonly unit: string;
  readonly note?: string;
}

interface Pinned {
  readonly name: string;
  readonly version: string;
}

interface Seconds {
  readonly wall: number;
  readonly user: number;
}

const version = '0.17.6';

export async function bench({ root }: { root: string }): Promise<Row[]> {
  const folder = path.join(root, '.ecosystem');
  const pinned: Pinned[] = JSON.parse(readFileSync(path.join(root, 'test', 'ecosystem', 'packages.json'), 'utf8'));
  const names = pinned
    .map((one) => `${one.name}-${one.version}`)
    .filter((name) => existsSync(path.join(folder, 'packages', name)));
  if (!names.length) throw new Error("there are no packages; bring them with 'npm run ecosystem -- --fetch'");
  const ruff = installRuff(path.join(folder, 'ruff'));
  const cli = path.join(root, 'dist', 'cli.js');
  const compared = (cwd: string) => ({
    // Nothing cached, no settings of the package, and what git ignores (here: all of it) is read.
    theirs: timed(cwd, [ruff, 'check', '--no-cache', '--exit-zero', '-q', '--isolated', '--no-respect-gitignore', '.']),
    ours: timed(cwd, [process.execPath, cli, 'check', '.']),
  });
  const whole = compared(path.join(folder, 'packages'));
  const rows = names.map((name) => {
    const cwd = path.join(folder, 'packages', name);
    return { name, files: pythonFiles(cwd).length, ...compared(cwd) };
  });
  const sum = (of: (row: (typeof rows)[number]) => number) => rows.reduce((all, row) => all + of(row), 0);
  const ours = { wall: sum((row) => row.ours.wall), user: sum((row) => row.ours.user) };
  const theirs = { wall: sum((row) => row.theirs.wall), user: sum((row) => row.theirs.user) };
  const costly = [...rows].sort((a, b) => b.ours.user - a.ours.user).slice(0, 12);
  return [
    ratio('the whole tree at once', 'wall', whole.ours, whole.theirs),
    ratio('the whole tree at once', 'user', whole.ours, whole.theirs),
    ratio(`all ${rows.length} packages`, 'wall', ours, theirs, `${sum((row) => row.files)} files`),
    ratio(`all ${rows.length} packages`, 'user', ours, theirs),
    ...costly.map((row) => ratio(row.name, 'user', row.ours, row.theirs, `${row.files} files`)),
  ];
}

function ratio(name: string, of: keyof Seconds, ours: Seconds, theirs: Seconds, note = ''): Row {
  return {
    name: `${name}, ${of === 'wall' ? 'wall time' : 'user time'}`,
    value: (ours[of] / Math.max(0.01, theirs[of])).toFixed(1),
    unit: '× ruff',
    note: `${ours[of].toFixed(1)} s, ruff ${theirs[of].toFixed(1)} s${note && `; ${note}`}`,
  };
}

/** `times` of the shell counts what the command and its children used, on any POSIX system. */
function timed(cwd: string, command: readonly string[]): Seconds {
  const started = performance.now();
  const { stdout, status } = spawnSync(
    'sh',
    ['-c', '"$@" >/dev/null 2>&1; code=$?; times; exit $code', 'sh', ...command],
    {
      cwd,
      encoding: 'utf8',
    },
  );
  if (status !== 0 && status !== 1)
    throw new Error(`'${command.slice(0, 3).join(' ')}' failed in ${cwd} with ${status}`);
  const wall = (performance.now() - started) / 1000;
  const [, minutes, seconds] = /\n(\d+)m([\d.]+)s/.exec(stdout) ?? [];
  return { wall, user: Number(minutes) * 60 + Number(seconds) };
}

function installRuff(folder: string): string {
  const ruff = path.join(folder, 'bin', 'ruff');
  if (existsSync(ruff)) return ruff;
  mkdirSync(folder, { recursive: true });
  must('python3', ['-m', 'venv', folder]);
  must(path.join(folder, 'bin', 'python'), [
    '-m',
    'pip',
    'install',
    '-q',
    '--disable-pip-version-check',
    `ruff==${version}`,
  ]);
  return ruff;
}

function must(command: string, args: readonly string[]): void {
  const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
  if (error || status !== 0) throw new Error(`'${command} ${args.join(' ')}' failed: ${error?.message ?? stderr}`);
}
