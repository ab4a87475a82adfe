import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { clusterAddresses, nodeAddresses } from './addresses.ts';
import { ApiClient } from './api-client.ts';
import { CertificateAuthority, writeServiceAccountKeys, type IssuedCertificate } from './certificates.ts';
import { clusterFolders, nodeName, type ClusterSpec } from './cluster-spec.ts';
import {
  CONTROL_PLANE_PARTS,
  controlPlaneArguments,
  renderCorefile,
  type ControlPlanePart,
} from './control-plane-arguments.ts';
import { renderKubeconfig } from './kubeconfig.ts';
import { Part } from './part.ts';
import { waitUntil } from './wait-until.ts';

const READY_TIMEOUT_MS = 90_000;
const ADMINS = 'system:masters';

/** etcd, API server and all that hangs on it, from inside the cluster's own process namespace. */
export class ControlPlane {
  readonly #spec: ClusterSpec;
  readonly #parts: Record<ControlPlanePart, Part>;
  #api: ApiClient | undefined;

  constructor(spec: ClusterSpec) {
    this.#spec = spec;
    const { logs } = clusterFolders(spec.index);
    const parts = Object.entries(controlPlaneArguments(spec)).map(([name, args]) => {
      return [name, new Part({ name, argv: () => [spec.binary, name, ...args], logPath: join(logs, `${name}.log`) })];
    });
    this.#parts = Object.fromEntries(parts) as Record<ControlPlanePart, Part>;
  }

  part(name: ControlPlanePart): Part {
    return this.#parts[name];
  }

  get api(): ApiClient {
    if (!this.#api) throw new Error('the cluster has no certificates yet');
    return this.#api;
  }

  /** Certificates and kubeconfigs of all parts and nodes, and the administrator's. */
  async prepare(): Promise<void> {
    const spec = this.#spec;
    const { root, pki, logs, volumes, kubeconfig } = clusterFolders(spec.index);
    for (const folder of [pki, logs, volumes]) await mkdir(folder, { recursive: true });
    const { host, apiService, apiServerUrl } = clusterAddresses(spec.index);
    const ca = await CertificateAuthority.create(`${spec.name}-ca`);
    await writeFile(join(pki, 'ca.crt'), ca.certificatePem);
    await writeFile(join(pki, 'ca.key'), await ca.keyPem(), { mode: 0o600 });
    await writeServiceAccountKeys(pki);

    const api = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'kubernetes.default.svc.cluster.local'];
    const server = await ca.issue({ commonName: 'kube-apiserver', alternativeNames: [host, apiService, ...api] });
    await writeCertificate(pki, 'apiserver', server);
    const kubelets = await ca.issue({ commonName: 'apiserver-kubelet-client', organization: ADMINS });
    await writeCertificate(pki, 'kubelet-client', kubelets);

    const writeKubeconfig = async (path: string, client: IssuedCertificate) =>
      writeFile(path, renderKubeconfig(spec.name, apiServerUrl, ca.certificatePem, client), { mode: 0o600 });
    for (const part of ['kube-controller-manager', 'kube-scheduler', 'kube-proxy']) {
      await writeKubeconfig(join(root, `${part}.kubeconfig`), await ca.issue({ commonName: `system:${part}` }));
    }
    for (const part of ['coredns', 'provisioner']) {
      const client = await ca.issue({ commonName: `atoll:${part}`, organization: ADMINS });
      await writeKubeconfig(join(root, `${part}.kubeconfig`), client);
    }
    for (let n = 1; n <= spec.nodes; n += 1) {
      const name = nodeName(spec.name, n);
      const alternativeNames = [name, nodeAddresses(spec.index, n).ip];
      const client = await ca.issue({
        commonName: `system:node:${name}`,
        organization: 'system:nodes',
        alternativeNames,
      });
      await writeCertificate(pki, name, client);
      await writeKubeconfig(join(root, `${name}.kubeconfig`), client);
    }
    const admin = await ca.issue({ commonName: 'admin', organization: ADMINS });
    await writeKubeconfig(kubeconfig, admin);
    await writeFile(join(root, 'Corefile'), renderCorefile(spec));
    this.#api = new ApiClient(apiServerUrl, ca.certificatePem, admin);
  }

  /** Starts etcd and API server at once, the others when it is ready: earlier their roles are not there and they exit. */
  async start(): Promise<void> {
    await this.part('etcd').start();
    await this.part('kube-apiserver').start();
    await this.apiServerReady();
    for (const name of CONTROL_PLANE_PARTS) await this.part(name).start();
  }

  async apiServerReady(): Promise<void> {
    await waitUntil(async () => (await this.api.get('/readyz')) === 'ok', {
      what: 'API server ready',
      timeoutMs: READY_TIMEOUT_MS,
      parts: [this.part('kube-apiserver'), this.part('etcd')],
    });
  }

  /** Resolves when pods can be made in this cluster on these nodes. */
  async ready(nodes: readonly string[], nodeParts: readonly Part[]): Promise<void> {
    const parts = [...CONTROL_PLANE_PARTS.map((name) => this.part(name)), ...nodeParts];
    const options = { timeoutMs: READY_TIMEOUT_MS, parts };
    await waitUntil(
      async () => {
        const ready = await this.api.readyNodes();
        return nodes.every((node) => ready.includes(node));
      },
      { ...options, what: `Ready nodes ${nodes.join(', ')}` },
    );
    const exists = (path: string) => async () => (await this.api.get(path)) !== '';
    await waitUntil(exists('/api/v1/namespaces/default/serviceaccounts/default'), {
      ...options,
      what: 'service account',
    });
    await waitUntil(exists('/apis/storage.k8s.io/v1/storageclasses/local'), { ...options, what: 'storage class' });
    const dns = `http://${clusterAddresses(this.#spec.index).host}:8181/ready`;
    await waitUntil(async () => (await fetch(dns)).ok, { ...options, what: 'DNS' });
  }
}

async function writeCertificate(folder: string, name: string, issued: IssuedCertificate): Promise<void> {
  await writeFile(join(folder, `${name}.crt`), issued.certificate);
  await writeFile(join(folder, `${name}.key`), issued.key, { mode: 0o600 });
}
