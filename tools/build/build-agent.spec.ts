import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { assertLight, BUNDLE_LIMIT_BYTES } from './build-agent.ts';
import { assertAscii, writeCodeCache } from './write-code-cache.ts';

const folder = mkdtempSync(join(tmpdir(), 'build-agent-'));
afterAll(() => rmSync(folder, { recursive: true }));
const write = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

describe("the agent's bundle", () => {
  it('may not be larger than an agent may be', () => {
    expect(() => assertLight(BUNDLE_LIMIT_BYTES)).not.toThrow();
    expect(() => assertLight(BUNDLE_LIMIT_BYTES + 1)).toThrow('metafile.json');
  });

  it('is ASCII, or V8 would keep two bytes a character', () => {
    expect(() => assertAscii(write('good.cjs', 'const plain = "a";'))).not.toThrow();
    expect(() => assertAscii(write('bad.cjs', 'const arrow = "a \u2192 b";'))).toThrow('const arrow');
  });

  it('has a code cache that V8 takes', () => {
    const program = write('program.cjs', 'const twice = (n) => 2 * n; if (twice(2) === 4) process.exit(1);');
    expect(() => writeCodeCache(program, join(folder, 'program.cache'))).not.toThrow();
    expect(() => writeCodeCache(join(folder, 'none.cjs'), join(folder, 'none.cache'))).toThrow('code cache');
  }, 60_000);
});
