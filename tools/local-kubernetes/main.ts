// npm run local-kubernetes -- up a:3 b:1 | down [a] | kubeconfig a | status
import { ensureEngineImage, isEngineImage } from './engine-images.ts';
import { detachedClusters, endDetachedClusters, LocalKubernetes, type ClusterRequest } from './local-kubernetes.ts';
import { clusterAddresses } from './addresses.ts';
import { clusterFolders } from './cluster-spec.ts';
import { ensureKubernetesBinary } from './ensure-kubernetes-binary.ts';
import { parseClusterRequest } from './parse-cluster-request.ts';

const USAGE = `usage: npm run local-kubernetes -- COMMAND
  up NAME:NODES … [--image redis:8.0 …] [--short-grace-periods]
                     starts clusters and leaves them running, e.g. up a:3 b:1
  load NAME IMAGE    gives a running cluster an image: an engine's name such as redis:8.0, or the path of an OCI tar
  status             names the running clusters
  kubeconfig NAME    prints the path of its kubeconfig
  down [NAME …]      ends these clusters, or all, and removes every trace`;

async function up(args: string[]): Promise<void> {
  const images: string[] = [];
  const clusters: ClusterRequest[] = [];
  const short = args.includes('--short-grace-periods');
  for (let i = 0; i < args.length; i += 1) {
    const arg = args[i] ?? '';
    if (arg === '--image') images.push(await imagePath(args[(i += 1)] ?? ''));
    else if (arg !== '--short-grace-periods') clusters.push(parseClusterRequest(arg, short));
  }
  if (clusters.length === 0) throw new Error(USAGE);
  const taken = (await detachedClusters()).filter((spec) => clusters.some(({ name }) => name === spec.name));
  if (taken.length > 0) throw new Error(`already up: ${taken.map((spec) => spec.name).join(', ')}`);
  const started = await LocalKubernetes.start({ clusters, images, log: say, detached: true });
  const { kubectlPath } = await ensureKubernetesBinary();
  for (const cluster of started.clusters) {
    console.log(`\n${cluster.name}: ${cluster.apiServerUrl}; pods reach this machine at ${cluster.hostAddress}`);
    console.log(`  export KUBECONFIG=${cluster.kubeconfigPath}`);
  }
  console.log(`\nkubectl: ${kubectlPath}\nThey run until: npm run local-kubernetes -- down`);
}

async function load(args: string[]): Promise<void> {
  const [name = '', image = ''] = args;
  const attached = await LocalKubernetes.attach([name]);
  if (!attached) throw new Error(`no cluster ${name} is up`);
  await attached.cluster(name).loadImage(await imagePath(image));
  await attached.stop();
}

async function imagePath(image: string): Promise<string> {
  if (!isEngineImage(image)) return image;
  const built = await ensureEngineImage(image, say);
  if ('unavailable' in built) throw new Error(built.reason);
  return built.path;
}

async function status(): Promise<void> {
  for (const spec of await detachedClusters()) {
    const { apiServerUrl } = clusterAddresses(spec.index);
    console.log(`${spec.name}: ${spec.nodes} nodes, ${apiServerUrl}, ${clusterFolders(spec.index).kubeconfig}`);
  }
}

async function kubeconfig(args: string[]): Promise<void> {
  const spec = (await detachedClusters()).find(({ name }) => name === args[0]);
  if (!spec) throw new Error(`no cluster ${args[0] ?? ''} is up`);
  console.log(clusterFolders(spec.index).kubeconfig);
}

async function down(args: string[]): Promise<void> {
  const ended = await endDetachedClusters(args);
  console.log(ended.length > 0 ? `ended: ${ended.join(', ')}` : 'nothing was up');
}

function say(line: string): void {
  console.error(line);
}

const COMMANDS: Record<string, (args: string[]) => Promise<void>> = { up, load, status, kubeconfig, down };

const [command = '', ...args] = process.argv.slice(2);
try {
  const run = COMMANDS[command];
  if (!run) throw new Error(USAGE);
  await run(args);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
