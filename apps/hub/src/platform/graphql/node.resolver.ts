import { Args, Context, ID, Query, Resolver } from '@nestjs/graphql';
import type { Caller } from '../auth/index.ts';
import { Node } from './node.model.ts';
import { NodeRegistry } from './node-registry.ts';

@Resolver()
export class NodeResolver {
  constructor(private readonly registry: NodeRegistry) {}

  @Query(() => Node, {
    nullable: true,
    description: 'Any object by its global id; null when there is none you may see.',
  })
  node(@Args('id', { type: () => ID }) id: string, @Context('caller') caller: Caller): Promise<Node | null> {
    return this.registry.read(id, caller);
  }

  @Query(() => [Node], { nullable: 'items', description: 'Several objects by their global ids, in that order.' })
  nodes(@Args('ids', { type: () => [ID] }) ids: string[], @Context('caller') caller: Caller): Promise<(Node | null)[]> {
    return this.registry.readMany(ids, caller);
  }
}
