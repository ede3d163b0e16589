// The packages of test/ecosystem/packages.json on this machine: downloaded once with pip, their Python files unpacked.
// Nothing of them is ever installed, imported or run.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { findPython, root } from '../setup.mjs';

const folder = path.join(root, '.ecosystem');
const here = path.join(root, 'scripts', 'ecosystem');

/** Pinned packages, as listed. `from` is wheel or sdist; `platform` picks the smallest of several wheels. */
export function pinnedPackages() {
  return JSON.parse(readFileSync(path.join(root, 'test', 'ecosystem', 'packages.json'), 'utf8'));
}

/** Where the Python files of a package lie. */
function folderOf({ name, version }) {
  return path.join(folder, 'packages', `${name}-${version}`);
}

/** Brings a package here unless it is here already. Throws with pip's last words. */
export function obtain(pinned) {
  const target = folderOf(pinned);
  if (existsSync(target)) return target;
  const archive = download(pinned);
  // Renamed when it is whole, so that an interrupted run leaves no half of a package.
  mkdirSync(path.dirname(target), { recursive: true });
  const partial = mkdtempSync(path.join(folder, 'unpacking-'));
  try {
    python([path.join(here, 'unpack.py'), archive, partial], {});
    renameSync(partial, target);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  return target;
}

function download({ name, version, from, platform }) {
  const archives = path.join(folder, 'archives', `${name}-${version}`);
  if (existsSync(archives)) {
    const [archive] = readdirSync(archives);
    if (archive) return path.join(archives, archive);
  }
  mkdirSync(folder, { recursive: true });
  const partial = mkdtempSync(path.join(folder, 'downloading-'));
  const kind =
    from === 'sdist'
      ? ['--no-binary=:all:', '--no-build-isolation', '--use-pep517']
      : ['--only-binary=:all:', '--python-version=3.12', ...(platform ? [`--platform=${platform}`] : [])];
  try {
    python(
      [
        '-m',
        'pip',
        'download',
        '-q',
        '--no-deps',
        '--disable-pip-version-check',
        ...kind,
        '-d',
        partial,
        `${name}==${version}`,
      ],
      from === 'sdist' ? { PYTHONPATH: path.join(here, 'metadata') } : {},
    );
    mkdirSync(path.dirname(archives), { recursive: true });
    renameSync(partial, archives);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  return path.join(archives, readdirSync(archives)[0]);
}

function python(args, environment) {
  const interpreter = findPython();
  if (!interpreter) throw new Error('there is no Python; install Python 3 with pip');
  const { status, stderr, error } = spawnSync(interpreter, args, {
    encoding: 'utf8',
    env: { ...process.env, ...environment },
  });
  if (error) throw error;
  if (status !== 0) throw new Error(lastWords(stderr));
}

function lastWords(text) {
  const lines = text.trim().split('\n');
  return (lines.filter((line) => line.startsWith('ERROR')).at(-1) ?? lines.at(-1) ?? '').slice(0, 300);
}
