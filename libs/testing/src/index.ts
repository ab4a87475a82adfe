export * from './redis/index.ts';
