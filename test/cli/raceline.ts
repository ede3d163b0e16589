/** Runs the built command line as a user does, in a folder of its own. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function raceline(cwd: string, ...args: readonly string[]): Ran {
  return racelineWith('', cwd, ...args);
}

/** With a text on standard input. */
export function racelineWith(input: string, cwd: string, ...args: readonly string[]): Ran {
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...args], { cwd, input, encoding: 'utf8' });
  return { code: status, stdout, stderr };
}

/** A folder with these files. */
export function folder(files: Readonly<Record<string, string | Uint8Array>>): string {
  const root = mkdtempSync(path.join(tmpdir(), 'raceline-'));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), content);
  }
  return root;
}

/** `mul` reads on `compute` what `fill_` writes on `copy`, with no wait between. */
export const racy = `import torch

copy = torch.cuda.Stream()
compute = torch.cuda.Stream()
x = torch.zeros(1024, device="cuda")
torch.cuda.synchronize()
with torch.cuda.stream(copy):
    x.fill_(1.0)
with torch.cuda.stream(compute):
    y = x.mul(2.0)
torch.cuda.synchronize()
print(y)
`;
