/** The native executor's slowdown next to the CUDA sanitizer's, in one process: needs a GPU. */
import { spawnSync } from 'node:child_process';
import path from 'node:path';

interface Row {
  readonly name: string;
  readonly value: string | number;
  readonly unit: string;
  readonly note?: string;
}

export async function bench({ root }: { root: string }): Promise<Row[]> {
  const python = process.env.RACELINE_TEST_PYTHON ?? 'python3';
  const probe = spawnSync(python, ['-c', 'import torch; print(torch.cuda.is_available())'], { encoding: 'utf8' });
  if (probe.status !== 0 || !probe.stdout.includes('True'))
    return [
      {
        name: 'native executor, slowdown next to the CUDA sanitizer',
        value: '-',
        unit: '',
        note: 'no GPU here; the last run on one is in docs/gpu-runs.md',
      },
    ];
  const script = path.join(root, 'executor', 'bench_overhead.py');
  const run = spawnSync(python, [script, '--json'], { encoding: 'utf8', maxBuffer: 1 << 26 });
  if (run.status !== 0) throw new Error(run.stderr.slice(-2000));
  return JSON.parse(run.stdout.trim().split('\n').at(-1)!) as Row[];
}
