// Fails when a document names a path that does not exist: docs that lie are worse than none.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { findMissingPaths } from './find-missing-paths.ts';

const documents = [...globSync('docs/**/*.md'), 'README.md', 'CHANGELOG.md'].filter((file) => existsSync(file));
const wrong = documents.flatMap((file) =>
  findMissingPaths(readFileSync(file, 'utf8'), (path) => existsSync(path)).map(
    (path) => `${file}: ${path} does not exist`,
  ),
);
for (const line of wrong) console.error(line);
if (documents.length === 0) console.error('no documents found: run this in the root of the repository');
process.exitCode = wrong.length > 0 || documents.length === 0 ? 1 : 0;
