/** Holds docs/reference/link-rules.md to the tests it names, and the tests of the rules to it. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const ROOT = new URL('../../../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8').replaceAll("\\'", "'");
const table = read('docs/reference/link-rules.md');

/** `file: test` of each row. */
const proofs = [...table.matchAll(/`([^`]+\.spec\.ts)`: (.+?)(?=<br>| \|$)/gm)].map(([, path = '', name = '']) => ({
  path,
  name,
}));
const RULES = 'apps/hub/test/rules/';
const ruleSpecs = readdirSync(new URL(RULES, ROOT)).filter((file) =>
  /^(rule-\d\d|truth).*\.medium\.spec\.ts$/.test(file),
);

describe('the table of the rules', () => {
  it('names tests that exist', () => {
    expect(proofs.length).toBeGreaterThan(100);
    expect(proofs.filter(({ path, name }) => !read(path).includes(name))).toEqual([]);
  });

  it('has a section for truth and order and for each of the fifteen rules, each with a spec of its own', () => {
    const sections = [...table.matchAll(/^## (?:(\d+)\. )?(.+)$/gm)].map(([, number]) => number ?? '0');
    expect(sections).toEqual(Array.from({ length: 16 }, (_, number) => String(number)));
    const numbers = new Set(ruleSpecs.map((file) => Number(/^rule-(\d\d)/.exec(file)?.[1] ?? 0)));
    expect([...numbers].sort((a, b) => a - b)).toEqual(sections.map(Number));
  });

  it('leaves out no test of the rules', () => {
    const named = new Set(proofs.map(({ path, name }) => `${path} ${name}`));
    const tests = ruleSpecs.flatMap((file) =>
      [...read(`${RULES}${file}`).matchAll(/^ {2}it(?:\.concurrent)?(?:\.each\([^;]*?\))?\(\s*(['"])(.+?)\1,/gms)].map(
        ([, , name = '']) => `${RULES}${file} ${name}`,
      ),
    );
    expect(tests.length).toBeGreaterThan(80);
    expect(tests.filter((test) => !named.has(test))).toEqual([]);
  });
});
