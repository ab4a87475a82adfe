/**
 * Claims that a pod of the data set would mount although they lack its label, as one that was restored or made by hand:
 * a StatefulSet finds them by name alone. Those that the watch does not show are asked for by name, so a data set whose
 * claims are all labelled costs nothing. Invariant: whatever a new pod would start on is in the picture before the pod
 * exists. Without that an old state is taken for a member's copy, and a data set is created beside one that is there.
 */
import { LABEL } from '#domain';
import type { KubeObject } from '#domain';
import { RESOURCE } from '#kube';
import type { KubeClient } from '#kube';
import { projectChild } from './project-child.ts';

export interface AskedClaims {
  readonly namespace: string;
  /** Value of the data set label. */
  readonly hash: string;
  readonly names: readonly string[];
}

export class ClaimReader {
  readonly #client: Pick<KubeClient, 'find'>;

  constructor(client: Pick<KubeClient, 'find'>) {
    this.#client = client;
  }

  /**
   * Of the named claims those that exist without the label of this data set. One with it is the watch's to tell: seen here
   * ahead of its StatefulSet it would look as if it had been there before. Rejects with a KubeError when the API server
   * does not say.
   */
  async readUnlabelled(asked: AskedClaims, labelled: readonly KubeObject[]): Promise<readonly KubeObject[]> {
    const { namespace, hash, names } = asked;
    const seen = new Set(labelled.filter(({ kind }) => kind === CLAIM.kind).map(({ metadata }) => metadata.name));
    const found = await Promise.all(
      names.filter((name) => !seen.has(name)).map((name) => this.#client.find(CLAIM, { namespace, name })),
    );
    return found
      .filter((claim) => claim !== undefined)
      .filter(({ metadata }) => metadata.labels?.[LABEL.dataSet] !== hash)
      .map(projectChild);
  }
}

const CLAIM = RESOURCE.persistentVolumeClaim;
