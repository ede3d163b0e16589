/**
 * `raceline run --with`: runs the program under another checker that is installed, and shows what it reports as a trace.
 * Nothing of Raceline's recorder is in such a run.
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { nameOf } from './executor.ts';
import { defaultOutput } from './recordings.ts';
import { trace } from './trace.ts';

export const peers = ['csan', 'compute-sanitizer'] as const;
export type Peer = (typeof peers)[number];

export async function runWithPeer(
  peer: Peer,
  python: string,
  program: readonly string[],
  out: string | undefined,
): Promise<number> {
  const report = out ?? defaultOutput(nameOf(program)).replace(/\.raceline$/, `.${peer}.txt`);
  const { command, args, env } = peer === 'csan' ? underCsan(python, program) : underSanitizer(python, program, report);
  const { code, errors } = await run(command, args, env);
  if (peer === 'csan') {
    const from = errors.indexOf('CSAN detected a possible data race');
    if (from < 0) return nothingFound('the CUDA sanitizer reports no race', code);
    writeFileSync(report, errors.slice(from));
  } else if (!existsSync(report) || !/^========= [A-Z]/m.test(readFileSync(report, 'utf8'))) {
    return nothingFound('compute-sanitizer reports no error', code);
  }
  const found = await trace([report]);
  console.log(`\n  raceline trace ${report}`);
  return found === 2 ? 2 : 1;
}

const underCsan = (python: string, program: readonly string[]) => ({
  command: python,
  args: [...program],
  env: { TORCH_CUDA_SANITIZER: '1' },
});

/**
 * With the stream-ordered allocator of CUDA and this option it sees memory that is handed out too early; with PyTorch's own
 * allocator it sees none of that.
 */
const underSanitizer = (python: string, program: readonly string[], report: string) => ({
  command: 'compute-sanitizer',
  args: ['--tool', 'memcheck', '--track-stream-ordered-races', 'all', '--log-file', report, python, ...program],
  env: { PYTORCH_CUDA_ALLOC_CONF: 'backend:cudaMallocAsync', PYTORCH_ALLOC_CONF: 'backend:cudaMallocAsync' },
});

/** A program that failed may have ended before what is looked for. */
function nothingFound(words: string, code: number): number {
  console.log(
    code === 0 ? `The program ended, and ${words}.` : `The program failed (exit code ${code}). Up to there, ${words}.`,
  );
  return code === 0 ? 0 : 2;
}

function run(command: string, args: readonly string[], env: Readonly<Record<string, string>>) {
  return new Promise<{ readonly code: number; readonly errors: string }>((resolve, reject) => {
    const child = spawn(command, [...args], {
      stdio: ['inherit', 'inherit', 'pipe'],
      env: { ...process.env, ELECTRON_RUN_AS_NODE: undefined, ...env },
    });
    let errors = '';
    child.stderr.setEncoding('utf8');
    child.stderr.on('data', (text: string) => {
      process.stderr.write(text);
      if (errors.length < longest) errors += text;
    });
    child.on('error', (error: NodeJS.ErrnoException) =>
      reject(
        new Error(
          error.code === 'ENOENT'
            ? `${command} is not found. ${command === 'compute-sanitizer' ? 'It comes with the CUDA toolkit: add its bin folder to PATH.' : 'Name an interpreter with --python.'}`
            : `${command} cannot be started: ${error.message}`,
        ),
      ),
    );
    child.on('close', (code, signal) => resolve({ code: code ?? (signal ? 128 : 2), errors }));
  });
}

const longest = 32 << 20;
