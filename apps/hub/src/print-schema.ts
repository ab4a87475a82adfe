/**
 * Prints the API's schema, sorted, without a database and without a server: what the code says is what is committed as
 * schema.graphql. Run by tools/schema.
 */
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { GraphQLSchemaBuilderModule, GraphQLSchemaFactory } from '@nestjs/graphql';
import { lexicographicSortSchema, printSchema } from 'graphql';
import { RESOLVERS } from './resolvers.ts';

const app = await NestFactory.createApplicationContext(GraphQLSchemaBuilderModule, { logger: false });
const schema = await app.get(GraphQLSchemaFactory).create(RESOLVERS);
process.stdout.write(`${printSchema(lexicographicSortSchema(schema))}\n`);
await app.close();
