/**
 * The words without which a program has nothing to order: what lets most files, and most functions of the others, be left
 * alone after one scan of their text. Comments and strings do not count. Pure text; knows no syntax.
 */
import type { Module, Node } from '../python/ast.ts';
import { codeOf } from '../python/code.ts';

/** One of these is in every text that `strong` finds: plain searches are many times faster than a pattern. */
const needles = [
  'tream',
  'non_blocking',
  'async_op',
  'wait_event',
  'CUDAGraph',
  'cuda.graph',
  'graphed_callables',
  'isend',
  'irecv',
  'copy_(',
  'Event(',
] as const;

/**
 * Only torch's streams, copies, collectives and graphs are called like this: a file without one starts nothing, nor does one
 * that only asks whether there is a capture, or hands the current stream's number on.
 */
const strong =
  /\b(?:External)?Stream\(|\b(?:cuda|xpu|npu|mtia|hpu|musa|torch|accelerator|\))\.Event\(|\b(?:cuda|torch)[ \t]+import\b[^\n]*\bEvent\b|(?:\)|\b(?:cuda|xpu|npu|mtia|hpu|mlu|musa|accelerator|torch|dev\w*|handle\w*|backend\w*|module\w*))\.stream\(|\bwith stream\(|(?<![A-Za-z])(?:current|default)_streams?(?![A-Za-z]|_capturing|\([^()\n]*\)\.cuda_stream\b)|(?<![A-Za-z])(?:set|record|wait)_stream\b|\bStreamContext\b|\bwait_event\b|\bnon_blocking\s*=\s*(?!False)|\basync_ops?\s*=\s*(?!False)|\bCUDAGraph\b|\bcuda\.graph\b|graphed_callables|\bisend\b|\birecv\b|\bcopy_\([^()\n]*,\s*True\s*\)/;

/** What a function of such a file says where it has to do with any of it. */
const spoken =
  /(?<![A-Za-z])streams?\b|_streams?\b|\bStreams?\b|[a-z]Stream\(|\bEvent\(|_event\b|\.record\(\)|non_blocking|async_op|CUDAGraph|cuda\.graph|pin_memory|isend|irecv|graphed_callables|\bcopy_\([^()\n]*,\s*True\s*\)/;

/** What a function does with any of it by itself: one that only hands streams on is judged where it is called. */
const acting =
  /\b(?:External)?Stream\(|[a-z]Stream\(|\bstream\(|\bwith \w*(?:\.\w+)*stream\w*\b(?!\()|\bwith [^\n]*_stream\w*\(|\b\w*(?:set|record|wait)_stream\w*\(|\bStreamContext\b|\bwait_event\(|\.(?:record|wait)\([^()\n]*stream|(?:stream|event)\w*\.(?:synchronize|wait|record)\(|\bnon_blocking\s*=\s*(?!False|True)|\basync_ops?\s*=\s*(?!False)|\bCUDAGraph\b|\bcuda\.graph\b|graphed_callables|\bisend\b|\birecv\b/;

/** Marks for others to wait for. */
const marking = /(?<!(?:threading|multiprocessing|asyncio|mp|\w*context|ctx)\.)\bEvent\(|\.record\(\)/;

/** The stream that is current, of which there is nothing to tell but that the host waits for it. */
const asking = /\b\w*(?:current|default)_stream\w*\((?![^()\n]*\)\.cuda_stream\b)/;

/** Marks of which the function itself asks for the time between them, their records, and what waits for them on the host. */
const timing =
  /\bEvent\([^()\n]*enable_timing\s*=\s*True[^()\n]*\)|\.record\((?:[^()\n]|\([^()\n]*\))*\)|\w*(?:start|begin|end|stop|event)\w*(?:\[\w+\])?\.synchronize\(\)/g;

/** A copy that may go on while the host does. */
const copying = /\bnon_blocking\s*=\s*True|\bcopy_\([^()\n]*,\s*True\s*\)/;

/** Where such a copy may come from or go to memory that the host works on; elsewhere it is work as any other. */
const hosting = /cpu|host|pin|numpy|copy_\(|empty|zeros/i;

/** What orders streams by itself, or selects one. */
const ordering = /\bwait_(?:stream|event)\(|\brecord_stream\(|\.stream\(/;

/** Whether a file has a word of streams in its code. */
export function mentionsStreams(text: string): boolean {
  return needles.some((needle) => text.includes(needle)) && strong.test(text) && strong.test(codeOf(text));
}

/** Whether a piece of code, of a file that does, has to do with streams. `code`: as `codeOf` gives it. */
export function speaksOfStreams(code: string): boolean {
  return spoken.test(code);
}

/**
 * Whether a function of such a module does something with streams, and does not only speak of them: a copy of what it was
 * given to a device is nothing to order by itself, unless the module has pinned memory.
 */
export function actsOnStreams(node: Node, module: Module): boolean {
  const said = codeOfNode(node, module);
  const code =
    /\benable_timing\s*=\s*True\b/.test(said) && said.includes('.elapsed_time(') ? said.replace(timing, '') : said;
  if (acting.test(code) || marking.test(code) || (asking.test(code) && /\bsynchronize\(/.test(code))) return true;
  if (!copying.test(code)) return false;
  const text = module.text.slice(node.start, node.end);
  if (hosting.test(text) || /pin_memory|pinned/.test(module.text)) return true;
  // What the object's constructor takes for a device may be the host.
  return /\bto\(\s*(?:device\s*=\s*)?self\.\w+/.test(text) && /["']cpu["']/.test(module.text);
}

/** Whether a piece of such code orders streams, or selects one. */
export function ordersStreams(code: string): boolean {
  return ordering.test(code);
}

const codes = new WeakMap<Module, string>();

/** `codeOf` of a part of a module. */
export function codeOfNode(node: Node, module: Module): string {
  let code = codes.get(module);
  if (code === undefined) {
    code = codeOf(module.text);
    codes.set(module, code);
  }
  return code.slice(node.start, node.end);
}

const mentioning = new WeakMap<Module, boolean>();

export function moduleMentionsStreams(module: Module): boolean {
  let known = mentioning.get(module);
  if (known === undefined) {
    known = mentionsStreams(module.text);
    mentioning.set(module, known);
  }
  return known;
}
