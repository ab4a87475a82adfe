import { a } from '#domain';
console.log(a);
