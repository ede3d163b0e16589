/** The pseudo terminal of a run: the program's output as it comes, typed lines to its input, Ctrl+C stops it. */
import path from 'node:path';
import * as vscode from 'vscode';
import { type RunEnd, type RunningProgram, startProgram } from './process.ts';
import { commandLine, type RunSpec } from './runSpec.ts';

export interface RunEvents {
  started(spec: RunSpec, program: RunningProgram): void;
  ended(spec: RunSpec, end: RunEnd): void;
}

export class RunTerminal implements vscode.Pseudoterminal {
  readonly #write = new vscode.EventEmitter<string>();
  readonly #close = new vscode.EventEmitter<number>();
  readonly onDidWrite = this.#write.event;
  readonly onDidClose = this.#close.event;
  readonly #prepare: () => Promise<RunSpec>;
  readonly #events: RunEvents;
  #program: RunningProgram | undefined;
  #closed = false;
  #typed = '';

  /** `prepare` may fail; its message is then what the terminal shows. */
  constructor(prepare: () => Promise<RunSpec>, events: RunEvents) {
    this.#prepare = prepare;
    this.#events = events;
  }

  async open(): Promise<void> {
    try {
      const spec = await this.#prepare();
      if (this.#closed) return;
      this.#print(`\x1b[2m${spec.cwd}\n${commandLine(spec)}\x1b[0m\n\n`);
      this.#program = startProgram(spec, (text) => this.#print(text));
      this.#events.started(spec, this.#program);
      const end = await this.#program.ended;
      this.#print(closingLine(spec, end));
      this.#events.ended(spec, end);
      this.#close.fire(end.code);
    } catch (error) {
      this.#print(`Raceline: ${(error as Error).message}\n`);
      this.#close.fire(2);
    }
  }

  close(): void {
    this.#closed = true;
    this.#program?.stop();
  }

  /** There is no terminal driver behind it: lines are echoed and edited here. */
  handleInput(data: string): void {
    for (const c of data) {
      if (c === '\x03') {
        this.#print('^C\n');
        this.#program?.stop();
      } else if (c === '\r') {
        this.#print('\n');
        this.#program?.write(`${this.#typed}\n`);
        this.#typed = '';
      } else if (c === '\x7f') {
        if (this.#typed) this.#write.fire('\b \b');
        this.#typed = this.#typed.slice(0, -1);
      } else if (c >= ' ') {
        this.#typed += c;
        this.#print(c);
      }
    }
  }

  #print(text: string): void {
    // A terminal needs the carriage return too; a program's own stays as it is.
    this.#write.fire(text.replace(/\r?\n/g, '\r\n'));
  }
}

function closingLine(spec: RunSpec, { code, stopped }: RunEnd): string {
  const how = stopped ? 'stopped by you' : code === 0 ? 'ended' : `ended with exit code ${code}`;
  const trace = spec.quiet ? '' : `; trace: ${path.relative(spec.cwd, spec.output) || spec.output}`;
  return `\n\x1b[2m${spec.name} ${how}${trace}\x1b[0m\n`;
}
