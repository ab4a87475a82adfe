import { Field, ID, InterfaceType } from '@nestjs/graphql';
import { readGlobalId } from './global-id.ts';

/** Relay's Node. The concrete type is read from the id itself, so a mapper cannot forget to name it. */
@InterfaceType('Node', {
  description: 'An object that can be read again by its global id.',
  resolveType: (value: { id: string }) => readGlobalId(value.id)?.type,
})
export abstract class Node {
  @Field(() => ID)
  id!: string;
}
