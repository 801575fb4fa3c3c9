// Writes web/package/records.d.ts: the types of records, from the schemas of docs/schema, which a test of the library keeps equal to its
// records.
import { readFileSync, writeFileSync } from 'node:fs';

const read = (name) => JSON.parse(readFileSync(new URL(`../docs/schema/${name}.json`, import.meta.url), 'utf8'));
const ARRAYS = { b1: 'Uint8Array', f4: 'Float32Array', f8: 'Float64Array', u1: 'Uint8Array', u4: 'Uint32Array' };
const comment = (text, indent = '') => (text ? `${indent}/** ${text} */\n` : '');

/** A type of JSON as one of TypeScript. */
function typeOf(schema) {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(' | ');
  const many = schema.oneOf ?? schema.anyOf;
  if (many) return many.map(typeOf).join(' | ');
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type })).join(' | ');
  switch (schema.type) {
    case 'integer':
    case 'number':
      return 'number';
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type;
    case 'array':
      return `(${typeOf(schema.items)})[]`;
    case 'object':
      return schema.properties ? `{\n${fields(schema, typeOf)}}` : 'Record<string, unknown>';
    default:
      throw new Error(`the schema has a type that is not known here: ${JSON.stringify(schema)}`);
  }
}

function fields({ properties, required = [] }, type) {
  const line = ([name, one]) => `${comment(one.description, '  ')}  ${name}${required.includes(name) ? '' : '?'}: ${type(one)};\n`;
  return Object.entries(properties).map(line).join('');
}

const columns = read('columns').$defs;
const column = (one) => {
  const array = ARRAYS[one.dtype];
  if (!array) throw new Error(`a column has a type that is not known here: ${JSON.stringify(one)}`);
  return array;
};
const QUERIES = ['approach', 'closest', 'contains', 'count', 'interval', 'occluded', 'transmittance'];
const name = (text) => text.replace(/(^|[- ])(\w)/g, (_, __, letter) => letter.toUpperCase());
const RECORDS = ['circumstances', 'conventions', 'path-point', 'solar-eclipse'];

writeFileSync(
  new URL('./package/records.d.ts', import.meta.url),
  `// Written by web/types.mjs from docs/schema.
${QUERIES.map((query) => `${comment(`Columns of \`${query}\`: one entry per ray or point.`)}export interface ${name(query)}Columns {\n${fields(columns[query], column)}}\n`).join('\n')}
${RECORDS.map((record) => `${comment(read(record).description)}export interface ${name(record)}Record {\n${fields(read(record), typeOf)}}\n`).join('\n')}`,
);
