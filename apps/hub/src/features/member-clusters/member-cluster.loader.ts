import { Injectable } from '@nestjs/common';
import { orderByKey, type Loaders } from '../../platform/graphql/index.ts';
import { toMemberCluster } from './member-cluster.mapper.ts';
import type { MemberCluster } from './member-cluster.model.ts';
import { MemberClusterReadsRepository } from './member-cluster-reads.repository.ts';

@Injectable()
export class MemberClusterLoader {
  constructor(private readonly repository: MemberClusterReadsRepository) {}

  /** The member cluster of a row that exists, by uuid. */
  async load(loaders: Loaders, id: string): Promise<MemberCluster> {
    const loader = loaders.get<string, MemberCluster | undefined>(this, async (ids) => {
      const rows = await this.repository.readMemberClusters(ids);
      return orderByKey(ids, rows, (row) => row.id).map((row) => row && toMemberCluster(row));
    });
    const found = await loader.load(id);
    if (!found) throw new Error(`member cluster ${id} of a row does not exist`);
    return found;
  }
}
