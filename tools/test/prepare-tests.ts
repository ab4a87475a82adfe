import { buildAll } from '../build/build-all.ts';
import { ensureEngineImage, ensureHelm, ensureKubernetesBinary } from '../local-kubernetes/index.ts';

/** The engines that e2e runs on; each is built once a machine. */
const ENGINES = ['redis:8.0', 'redis:7.0', 'valkey:8.1'] as const;

/** Builds and fetches all that the tests run on; says what it does, and is quick when nothing is to be done. */
export async function prepareTests(): Promise<void> {
  const log = (line: string): void => console.log(`set-up: ${line}`);
  await buildAll();
  await ensureKubernetesBinary(log);
  for (const engine of ENGINES) {
    const image = await ensureEngineImage(engine, log);
    if (!('path' in image)) throw new Error(`the image ${engine} cannot be built: ${image.reason}`);
  }
  await ensureHelm(log);
}
