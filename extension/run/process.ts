/**
 * One program under the recorder: its process group, its output, its end. Stopping goes from asking to killing, since a
 * program may hold on, and a recorder that is asked can still close its trace.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { RunSpec } from './runSpec.ts';

const askLimit = 5000;
const windows = process.platform === 'win32';

export interface RunningProgram {
  readonly ended: Promise<RunEnd>;
  write(text: string): void;
  /** Interrupt, after five seconds terminate, after five more kill; the whole group. */
  stop(): void;
}

export interface RunEnd {
  readonly code: number;
  readonly stopped: boolean;
}

export function startProgram(spec: RunSpec, output: (text: string) => void): RunningProgram {
  const child: ChildProcess = spawn(spec.command, [...spec.args], {
    cwd: spec.cwd,
    env: { ...spec.env },
    stdio: 'pipe',
    // A group of its own: the program's children (loaders, workers) end with it.
    detached: !windows,
    windowsHide: true,
  });
  const decode = (stream: NodeJS.ReadableStream | null) => {
    stream?.setEncoding('utf8');
    stream?.on('data', (text: string) => output(text));
  };
  decode(child.stdout);
  decode(child.stderr);
  child.stdin?.on('error', () => {});

  let stopped = false;
  let over = false;
  const timers: ReturnType<typeof setTimeout>[] = [];
  const ended = new Promise<RunEnd>((resolve) => {
    const end = (code: number) => {
      over = true;
      for (const timer of timers) clearTimeout(timer);
      resolve({ code, stopped });
    };
    child.on('error', (error: NodeJS.ErrnoException) => {
      output(`${spec.command} cannot be started: ${error.message}\n`);
      end(127);
    });
    child.on('close', (code, signal) => end(code ?? (signal ? 128 : 1)));
  });

  return {
    ended,
    write: (text) => child.stdin?.write(text),
    stop() {
      if (over || stopped) return;
      stopped = true;
      signalGroup(child, 'SIGINT');
      timers.push(setTimeout(() => signalGroup(child, 'SIGTERM'), askLimit));
      timers.push(setTimeout(() => signalGroup(child, 'SIGKILL'), 2 * askLimit));
    },
  };
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  if (windows) {
    // There is no interrupt for another console's group; the trace is valid up to its last whole line.
    spawn('taskkill', ['/pid', String(child.pid), '/T', '/F'], { stdio: 'ignore', windowsHide: true });
    return;
  }
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The group is gone already.
  }
}
