#!/usr/bin/env node
/**
 * The command line. Each command is a file of its own; this one only knows their names and turns a failure into one line
 * that says what to do. Exit codes: 0 nothing found, 1 findings, 2 failed.
 */
import { nearest } from '../core/settings/nearest.ts';
import { UsageError } from './arguments.ts';
import { bisect } from './bisect.ts';
import { check } from './check.ts';
import { confirm } from './confirm.ts';
import { conservative } from './conservative.ts';
import { explain } from './explain.ts';
import { exportTrace } from './export.ts';
import { lean } from './lean.ts';
import { lsp } from './lsp.ts';
import { preview } from './preview.ts';
import { run } from './run.ts';
import { trace } from './trace.ts';
import { view } from './view.ts';

const usage = `raceline finds missing stream synchronization in PyTorch programs.

  raceline bisect [--check EXPR | --exit-code] [--trace FILE] [--python EXE] -- SCRIPT.py ARGS…
  raceline check [--format text|json|sarif|github] [--fix|--diff] [PATH… | -]
  raceline confirm [--trace FILE] [--python EXE] [--format text|json] -- SCRIPT.py ARGS…
  raceline conservative [--write] PATH…
  raceline explain CODE | --list
  raceline lean [--format text|json] PATH…
  raceline preview FILE.py [--entry NAME] [-o OUT.raceline] [--witness [--hazard N]]
  raceline run [-o OUT.raceline] [--python EXE] [--level full|timeline] [--serialize blocks|stream] [--with csan|compute-sanitizer]
               -- SCRIPT.py ARGS…
  raceline trace FILE… [--format text|json]
  raceline view FILE… [--port N] [--no-open]
  raceline export FILE… -o OUT.html|.svg|.png|.json [--theme light|dark] [--width PIXELS]
  raceline lsp --stdio
  raceline --version

Exit codes: 0 nothing found, 1 findings, 2 failed. Options of check:

  --select CODE,…  --ignore CODE,…     codes to report, and not to; 'capture-*' and ALL name several
  --exclude PATTERN,…                  files and folders to leave out; --force-exclude: named ones too
  --torch-version VERSION              the oldest PyTorch that the program has to work with
  --config FILE  --isolated            one pyproject.toml for all files, or none
  --baseline FILE  --write-baseline FILE
                                       report only what is not in it; write what there is now
  --fix  --diff  --unsafe-fixes        apply or print the fixes; also those that hold on some paths only
  -o, --output-file FILE               write the report there
  --stdin-filename FILE                what the text of '-' (standard input) is called
  --exit-zero                          findings are no failure

They win over [tool.raceline] in the nearest pyproject.toml.`;

const commands: Readonly<Record<string, (args: readonly string[]) => Promise<number>>> = {
  bisect,
  check,
  confirm,
  conservative,
  explain,
  export: exportTrace,
  lean,
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
  if (!command) {
    const near = nearest(name, Object.keys(commands));
    throw new UsageError(`unknown command '${name}'${near ? `; did you mean '${near}'?` : ''}`);
  }
  if (rest.includes('--help') && !rest.includes('--')) {
    console.log(usage);
    return 0;
  }
  return command(rest);
}

// Whoever reads the output may stop, as `head` does: then there is nobody left to tell anything.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(2);
  });

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
