/**
 * A short made profile with all that the reader meets in real ones, which is read before the first large file. The engine
 * compiles a loop for what it has seen there: without this it throws the code of the scanner and of the joins away a few
 * dozen times in the first second, at the first wait, the first long time, the first line that goes over a seam.
 */

type Fields = Readonly<Record<string, string | number>>;

/** In Kineto's own layout. */
export function rehearsalProfile(): Uint8Array {
  const events: string[] = [];
  for (let turn = 0; turn < turns; turn++) events.push(...turnOf(turn));
  const whole = `\n  {\n    "schemaVersion": 1,\n  "baseTimeNanoseconds": 1790857026000000000,\n  "traceEvents": [\n${events.join(',\n')}\n  ],\n  "traceName": "rehearsal"\n}`;
  return Uint8Array.from(whole, (character) => character.charCodeAt(0));
}

/** Pieces of so many bytes have seams at all kinds of places. */
export const rehearsalPiece = 3_001;

const turns = 12;
const host = '"pid": 2224, "tid": 2260';

function turnOf(turn: number): string[] {
  const at = 5_113_776_687_716 + turn * 100;
  const call = 10 * turn;
  const stream = 7 + 6 * (turn % 3);
  const inside = (name: string, after: number, correlation: number) =>
    complete('cuda_runtime', name, host, `${at + after}.200`, '1.001', { 'External id': 3, cbid: 211, correlation });
  const kernel = (after: number, correlation: number, on: number) =>
    complete('kernel', `k<${turn % 4}>`, `"pid": 0, "tid": ${on}`, `${at + after}.100`, '8.001', {
      'External id': 3,
      device: 0,
      context: 1,
      stream: on,
      correlation,
      grid: '[8, 1, 1]',
    });
  const waits = (what: string, correlation: number, record: number) =>
    complete('cuda_sync', what, `"pid": 0, "tid": ${stream}`, `${at + 30}.300`, '0.500', {
      cuda_sync_kind: `"${what}"`,
      stream,
      correlation,
      device: 0,
      wait_on_stream: 7,
      wait_on_cuda_event_record_corr_id: record,
      wait_on_cuda_event_id: 4,
    });
  const memory = (after: number, bytes: number, address: number, device: number) =>
    `  {\n    "ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]",\n    ${host},\n    "ts": ${at + after}.100,\n    "args": {\n      "Total Reserved": 5242880, "Total Allocated": 4608, "Bytes": ${bytes}, "Addr": ${address}, "Device Id": ${device}, "Device Type": 1, "Ev Idx": 0\n    }\n  }`;
  const address = 139_872_361_021_440 + turn * 512;
  return [
    complete('python_function', `train.py(${turn % 7}): step`, host, `${at}.100`, '95.000', { 'Python id': turn }),
    complete('python_function', `module.py(${turn % 3}): \\"call\\"`, host, `${at + 1}.100`, '93.000', {
      'Python parent id': 'null',
    }),
    // Longer than what a small integer holds in nanoseconds.
    complete('cpu_op', `aten::op${turn % 5}`, host, `${at + 2}.873`, turn === 3 ? '5000000.842' : '90.842', {
      'External id': 16_897,
      'Concrete Inputs': '["", "1"]',
      'Input Dims': '[[2048, 16384], []]',
      'Ev Idx': 0,
    }),
    `  {\n    "ph": "s", "id": ${turn}, ${host}, "ts": ${at}.003,\n    "cat": "ac2g", "name": "ac2g"\n  }`,
    memory(4, 512, address, 0),
    inside('cudaLaunchKernel', 5, call),
    inside('cudaGraphLaunch', 8, call + 1),
    inside('cudaEventRecord', 11, call + 2),
    inside('cudaStreamWaitEvent', 14, call + 3),
    inside('cudaStreamSynchronize', 17, call + 4),
    memory(60, -512, address, 0),
    memory(62, -512, address + 7, turn % 2),
    complete('user_annotation', 'step', '"pid": 2224, "tid": 2261', `${at}.000`, '99.000', {}),
    kernel(20, call, stream),
    kernel(30, call + 1, 7),
    kernel(39, call + 1, 7),
    kernel(48, call + 1, 13),
    kernel(57, 900_000 + turn, 20),
    complete('gpu_memcpy', 'Memcpy HtoD', '"pid": 0, "tid": 7', `${at + 60}.100`, '2.000', {
      device: 0,
      stream: 7,
      correlation: -1,
      bytes: 4_294_967_296,
    }),
    waits('Stream Wait Event', call + 3, call + 2),
    waits('Stream Sync', call + 4, -1),
    `  {\n    "name": "thread_name", "ph": "M", "ts": ${at}.000, "pid": 0, "tid": ${stream},\n    "args": {\n      "name": "stream ${stream}"\n    }\n  }`,
  ];
}

function complete(category: string, name: string, row: string, time: string, lasts: string, fields: Fields): string {
  const written = Object.entries(fields).map(([key, value]) => `"${key}": ${value}`);
  return `  {\n    "ph": "X", "cat": "${category}", "name": "${name}", ${row},\n    "ts": ${time}, "dur": ${lasts},\n    "args": {\n      ${written.join(', ')}\n    }\n  }`;
}
