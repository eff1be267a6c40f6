/** Words for ids, variables and classes, made of names that may hold anything. */
import {createHash} from 'node:crypto'

/** Longest id. */
const LONGEST = 64
const DIGEST_LENGTH = 8

/** Letters without marks, in lower case, and digits; every run of something else is one `_`. */
export const plainWord = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')

/** An id that is too long keeps its beginning, and gets what no other one has. */
export function shortened(id: string, remoteId: string): string {
  if (id.length <= LONGEST) return id
  const digest = createHash('sha256').update(remoteId).digest('hex').slice(0, DIGEST_LENGTH)
  return `${id.slice(0, LONGEST - DIGEST_LENGTH - 1)}_${digest}`
}

export const camelCase = (id: string): string => id.replace(/_+([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())

export const pascalCase = (id: string): string => camelCase(`_${id}`)

/** What no variable may be called. */
const LANGUAGE =
  'arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for ' +
  'function if implements import in instanceof interface let new null package private protected public return static super switch ' +
  'this throw true try typeof undefined var void while with yield'

/** What the class of a stack uses itself, as a variable or as an id. */
const OWN = 'cloud cluster id own scope secret unlisted'

/** What every object has, and is taken for a child that is there already. */
const INHERITED = 'constructor'

const RESERVED: ReadonlySet<string> = new Set(`${LANGUAGE} ${OWN} ${INHERITED}`.split(' '))

/** @param id - as an id or as a variable */
export const isReserved = (id: string): boolean => RESERVED.has(id)

/** Names in the files that a class may not have; beside those of the constructs. */
export const RESERVED_CLASSES: readonly string[] = [
  ...['App', 'Construct', 'TerraformResource', 'TerraformStack', 'CloudTarget', 'ClusterTarget'],
  ...['Array', 'Boolean', 'Date', 'Error', 'Function', 'Map', 'Number', 'Object', 'Promise', 'Record', 'Set', 'String', 'Symbol'],
]
