#!/usr/bin/env node
/**
 * The command line. Each command is a file of its own; this one only knows their names and turns a failure into one line
 * that says what to do. Exit codes: 0 nothing found, 1 findings, 2 failed.
 */
import { check } from './check.ts';
import { lsp } from './lsp.ts';
import { preview } from './preview.ts';
import { run } from './run.ts';
import { trace } from './trace.ts';
import { UsageError } from './arguments.ts';
import { view } from './view.ts';

const usage = `raceline finds missing stream synchronization in PyTorch programs.

  raceline check [--format text|json|github] [--select CODE,…] [--fix] [--diff] PATH…
  raceline preview FILE.py [--entry NAME] [-o OUT.raceline]
  raceline run [-o OUT.raceline] [--python EXE] [--level full|timeline] -- SCRIPT.py ARGS…
  raceline trace FILE… [--format text|json]
  raceline view FILE… [--port N] [--no-open]
  raceline lsp --stdio
  raceline --version

Exit codes: 0 nothing found, 1 findings, 2 failed.`;

const commands: Readonly<Record<string, (args: readonly string[]) => Promise<number>>> = {
  check,
  lsp,
  preview,
  run,
  trace,
  view,
};

async function main(argv: readonly string[]): Promise<number> {
  const [name, ...rest] = argv;
  if (!name || name === '--help' || name === '-h' || name === 'help') {
    console.log(usage);
    return name ? 0 : 2;
  }
  if (name === '--version' || name === '-V') {
    const { version } = await import('./version.ts');
    console.log(`raceline ${version()}`);
    return 0;
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) throw new UsageError(`unknown command '${name}'`);
  if (rest.includes('--help') && !rest.includes('--')) {
    console.log(usage);
    return 0;
  }
  return command(rest);
}

main(process.argv.slice(2)).then(
  (code) => {
    // Not process.exit: what is still buffered for a pipe would be lost.
    process.exitCode = code;
  },
  (error: unknown) => {
    if (error instanceof UsageError) console.error(`raceline: ${error.message}\n\n${usage}`);
    else console.error(`raceline: ${error instanceof Error ? error.message : String(error)}`);
    if (process.env.RACELINE_DEBUG && error instanceof Error) console.error(error.stack);
    process.exitCode = 2;
  },
);
