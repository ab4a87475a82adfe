import { describe, expect, it } from 'vitest';
import { assertLight, BUNDLE_LIMIT_BYTES } from './build-agent.ts';

describe("the agent's bundle", () => {
  it('may not be larger than an agent may be', () => {
    expect(() => assertLight(BUNDLE_LIMIT_BYTES)).not.toThrow();
    expect(() => assertLight(BUNDLE_LIMIT_BYTES + 1)).toThrow('metafile.json');
  });
});
