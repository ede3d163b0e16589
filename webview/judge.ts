import type { Trace, TraceHazard } from '../core/trace/trace.ts';

export const judgeTrace = (_trace: Trace): readonly TraceHazard[] => [];
