import { describe, expect, it } from 'vitest';
import { OpenActivation } from '../../../core/lower/interpreter/activation.ts';
import { copier } from '../../../core/lower/interpreter/copy.ts';
import { FunctionV, Unknown } from '../../../core/lower/values.ts';

describe('classes that name the fields of a copy', () => {
  it.each([
    ['Unknown', Unknown],
    ['FunctionV', FunctionV],
    ['OpenActivation', OpenActivation],
  ] as const)('%s leaves none out', (_name, cls) => {
    const object = new (cls as new () => object)() as Record<string, unknown>;
    // A constant of the class.
    for (const key of Object.keys(object)) if (key !== 'kind') object[key] = `the ${key}`;
    expect({ ...copier()(object) }).toEqual({ ...object });
  });
});
