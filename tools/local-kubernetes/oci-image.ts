import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { link, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { runCommand } from '../setup/run-command.ts';

export interface BuiltImage {
  /** Where its OCI tar lies. */
  path: string;
  /** Full name with registry and tag, under which pods ask for it. */
  reference: string;
}

export interface ImageLayer {
  tarPath: string;
  digest: string;
  size: number;
}

export interface ImageContents {
  /** Full name with registry and tag, e.g. docker.io/library/redis:8.0. */
  reference: string;
  layers: readonly ImageLayer[];
  entrypoint?: readonly string[];
  command?: readonly string[];
  /** Numeric, so that `runAsNonRoot` can be checked without reading the image's /etc/passwd. */
  user: number;
  workingFolder?: string;
}

const SAME_EVERY_TIME = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner'];
const IMAGE_PATH = 'PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin';

/** Packs a folder as an image layer; equal contents give an equal digest. */
export async function packLayer(folder: string, tarPath: string): Promise<ImageLayer> {
  await runCommand(['tar', ...SAME_EVERY_TIME, '-C', folder, '-cf', tarPath, '.']);
  const hash = createHash('sha256');
  await pipeline(createReadStream(tarPath), hash);
  return { tarPath, digest: `sha256:${hash.digest('hex')}`, size: (await stat(tarPath)).size };
}

/** Writes an OCI image tar (image-spec 1.0 layout) that `ctr images import` and `kind load image-archive` take. */
export async function writeImage(tarPath: string, image: ImageContents): Promise<void> {
  const folder = `${tarPath}.folder`;
  const blobs = join(folder, 'blobs', 'sha256');
  await mkdir(blobs, { recursive: true });
  for (const layer of image.layers) await link(layer.tarPath, join(blobs, layer.digest.slice('sha256:'.length)));
  const config = await writeBlob(blobs, 'config.v1+json', imageConfig(image));
  const layers = image.layers.map(({ digest, size }) => ({ mediaType: mediaType('layer.v1.tar'), digest, size }));
  const manifest = await writeBlob(blobs, 'manifest.v1+json', {
    schemaVersion: 2,
    mediaType: mediaType('manifest.v1+json'),
    config,
    layers,
  });
  const annotations = { 'io.containerd.image.name': image.reference };
  const index = { schemaVersion: 2, manifests: [{ ...manifest, annotations }] };
  await writeFile(join(folder, 'index.json'), JSON.stringify(index));
  await writeFile(join(folder, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  await runCommand(['tar', ...SAME_EVERY_TIME, '-C', folder, '-cf', tarPath, 'oci-layout', 'index.json', 'blobs']);
  await rm(folder, { recursive: true, force: true });
}

function imageConfig(image: ImageContents): unknown {
  return {
    architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
    os: 'linux',
    config: {
      ...(image.entrypoint ? { Entrypoint: image.entrypoint } : {}),
      ...(image.command ? { Cmd: image.command } : {}),
      User: String(image.user),
      WorkingDir: image.workingFolder ?? '/',
      Env: [IMAGE_PATH],
    },
    rootfs: { type: 'layers', diff_ids: image.layers.map((layer) => layer.digest) },
  };
}

function mediaType(kind: string): string {
  return `application/vnd.oci.image.${kind}`;
}

async function writeBlob(folder: string, kind: string, value: unknown) {
  const bytes = Buffer.from(JSON.stringify(value));
  const hex = createHash('sha256').update(bytes).digest('hex');
  await writeFile(join(folder, hex), bytes);
  return { mediaType: mediaType(kind), digest: `sha256:${hex}`, size: bytes.length };
}

/** A layer that was packed before, and whose digest stands beside it. */
export async function readLayer(tarPath: string): Promise<ImageLayer> {
  return JSON.parse(await readFile(`${tarPath}.json`, 'utf8')) as ImageLayer;
}
