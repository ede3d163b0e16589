// The Python files below a folder, and which of them use streams.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const streamWords = new RegExp(
  [
    /\b(?:cuda|xpu|npu|accelerator|get_accelerator\(\)|device_module|torch)\.(?:[Ss]tream|Event|StreamContext)\(/,
    /\b(?:wait_stream|record_stream|wait_event|record_event|current_stream|default_stream|set_stream)\b/,
    /\b(?:CUDAGraph|make_graphed_callables|ExternalStream)\b|\bcuda\.graph\(/,
  ]
    .map(({ source }) => source)
    .join('|'),
);

export function pythonFiles(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.py'))
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}

export function usesStreams(file) {
  return streamWords.test(readFileSync(file, 'utf8'));
}
