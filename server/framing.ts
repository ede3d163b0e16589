/**
 * Looks after the framing of the messages on standard input: `Content-Length: N`, an empty line, N bytes. Once it is
 * broken nothing after it can be read, so the server says so and ends, where it would else wait for ever or be gone without
 * a word. Reads along; the messages themselves are the connection's.
 */
import type { Readable } from 'node:stream';

const longestHeader = 4096;
/** Node's strings end there: a longer message could not be read. */
const longestBody = 512 << 20;
const failed = 2;

/** To be called before the connection reads the stream, so that it is the first to see a fault. */
export function endOnBrokenFraming(input: Readable): void {
  const framing = new Framing();
  const end = (why: string): void => {
    process.stderr.write(
      `raceline: the input is no Language Server Protocol: ${why}. Is the client started with --stdio?\n`,
    );
    process.exit(failed);
  };
  input.on('data', (chunk: Buffer) => {
    const fault = framing.read(chunk);
    if (fault) end(fault);
  });
  input.on('end', () => {
    const fault = framing.end();
    if (fault) end(fault);
  });
}

export class Framing {
  #header = '';
  /** Bytes of the body that are still to come; 0 in a header. */
  #left = 0;
  #length = 0;

  /** What is wrong with the bytes, if anything is. */
  read(chunk: Uint8Array): string | undefined {
    let at = 0;
    while (at < chunk.length) {
      if (this.#left > 0) {
        const taken = Math.min(this.#left, chunk.length - at);
        this.#left -= taken;
        at += taken;
        continue;
      }
      this.#header += String.fromCharCode(chunk[at++]!);
      const fault = this.#header.endsWith('\n') ? this.#readLine() : this.#tooLong();
      if (fault) return fault;
    }
    return undefined;
  }

  /** What is wrong if the input ends here. */
  end(): string | undefined {
    if (this.#left > 0) return `it ended after ${this.#length - this.#left} of the ${this.#length} bytes of a message`;
    return this.#header.trim() ? `it ended in a header, ${shown(this.#header)}` : undefined;
  }

  #readLine(): string | undefined {
    if (!this.#header.endsWith('\r\n')) return `a header line must end with CR LF, but ${shown(this.#header)} does not`;
    if (this.#header !== '\r\n' && !this.#header.endsWith('\r\n\r\n')) return this.#tooLong();
    const lines = this.#header.split('\r\n').filter(Boolean);
    this.#header = '';
    const value = lines
      .map((line) => /^content-length:(.*)$/i.exec(line)?.[1]?.trim())
      .find((one) => one !== undefined);
    if (value === undefined) return `a message must start with Content-Length, not with ${shown(lines[0] ?? '')}`;
    const length = /^\d+$/.test(value) ? Number(value) : Number.NaN;
    if (!(length <= longestBody))
      return `Content-Length must be a number of bytes up to ${longestBody}, not ${shown(value)}`;
    this.#length = length;
    this.#left = length;
    return undefined;
  }

  #tooLong(): string | undefined {
    if (this.#header.length <= longestHeader) return undefined;
    return `a header is longer than ${longestHeader} bytes, ${shown(this.#header)}`;
  }
}

function shown(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}
