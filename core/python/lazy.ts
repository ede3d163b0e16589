/** A module that is parsed when its syntax is first looked at: most files of a workspace are never looked into. */
import type { Module, Node, Statement } from './ast.ts';
import type { PythonParser } from './parse.ts';

/** `edited`: a text that is being worked on is parsed whole, so that the next edit costs what it changes. */
export function lazyModule(parser: PythonParser, file: string, text: string, edited = false): Module {
  return new LazyModule(parser, file, text, edited);
}

class LazyModule implements Module {
  readonly kind = 'Module';
  readonly start = 0;
  readonly end: number;
  readonly #parser: PythonParser;
  readonly #edited: boolean;
  #parsed: Module | undefined;

  constructor(
    parser: PythonParser,
    readonly file: string,
    readonly text: string,
    edited: boolean,
  ) {
    this.#edited = edited;
    this.#parser = parser;
    this.end = text.length;
  }

  get body(): readonly Statement[] {
    return this.#syntax().body;
  }

  get errors(): readonly Node[] {
    return this.#syntax().errors;
  }

  #syntax(): Module {
    this.#parsed ??= this.#edited
      ? this.#parser.parse(this.file, this.text)
      : this.#parser.outline(this.file, this.text);
    return this.#parsed;
  }
}
