import { Agent, request } from 'node:https';
import type { IssuedCertificate } from './certificates.ts';

const REQUEST_TIMEOUT_MS = 5_000;

/** Reads from one API server with a client certificate; just enough to see whether a cluster is ready. */
export class ApiClient {
  readonly #url: string;
  readonly #agent: Agent;

  constructor(url: string, ca: string, client: IssuedCertificate) {
    this.#url = url;
    this.#agent = new Agent({ ca, cert: client.certificate, key: client.key, keepAlive: false });
  }

  /** Body of a GET; throws unless the answer is 200. */
  async get(path: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const sent = request(`${this.#url}${path}`, { agent: this.#agent, timeout: REQUEST_TIMEOUT_MS }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const body = Buffer.concat(chunks).toString();
          if (response.statusCode === 200) resolve(body);
          else reject(new Error(`GET ${path}: ${response.statusCode} ${body.slice(0, 300)}`));
        });
      });
      sent.on('timeout', () => sent.destroy(new Error(`GET ${path}: no answer within ${REQUEST_TIMEOUT_MS} ms`)));
      sent.on('error', reject);
      sent.end();
    });
  }

  /** Names of the nodes whose condition Ready is True. */
  async readyNodes(): Promise<string[]> {
    const list = JSON.parse(await this.get('/api/v1/nodes')) as NodeList;
    const isReady = (node: NodeList['items'][number]) =>
      node.status.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True');
    return list.items.filter(isReady).map((node) => node.metadata.name);
  }
}

interface NodeList {
  items: { metadata: { name: string }; status: { conditions?: { type: string; status: string }[] } }[];
}
