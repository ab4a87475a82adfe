/**
 * Writes schema.graphql, the public API as the hub's code says it. Usage: node tools/schema/main.ts [--check | --release
 * VERSION]. --check writes nothing and fails when the file drifted from the code, or when a query that worked with a
 * released schema would fail with this one. No database and no running hub are needed.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { findBreaks } from './find-breaks.ts';
import { printHubSchema } from './print-hub-schema.ts';

const root = join(import.meta.dirname, '..', '..');
const schemaFile = join(root, 'schema.graphql');
const releasedFolder = join(import.meta.dirname, 'released');

async function findDrift(printed: string): Promise<string[]> {
  const committed = await readFile(schemaFile, 'utf8').catch(() => '');
  if (committed === printed) return [];
  return ['schema.graphql is not what the code says; run: node tools/schema/main.ts'];
}

async function findReleasedBreaks(printed: string): Promise<string[]> {
  const names = (await readdir(releasedFolder)).filter((name) => name.endsWith('.graphql')).sort();
  const findings: string[] = [];
  for (const name of names) {
    const released = await readFile(join(releasedFolder, name), 'utf8');
    findings.push(...findBreaks(released, printed).map((finding) => `${name}: ${finding}`));
  }
  return findings;
}

const { values } = parseArgs({ options: { check: { type: 'boolean' }, release: { type: 'string' } } });
const printed = await printHubSchema(root);
const findings = [...(values.check ? await findDrift(printed) : []), ...(await findReleasedBreaks(printed))];
for (const finding of findings) console.error(`GraphQL schema: ${finding}`);
if (findings.length > 0) process.exitCode = 1;
else if (!values.check) {
  await writeFile(schemaFile, printed);
  if (values.release !== undefined) {
    await writeFile(join(releasedFolder, `${values.release}.graphql`), printed, { flag: 'wx' });
  }
}
