/**
 * The shape of a stack file: which blocks and arguments there are at which level, and of what type. What does not fit is
 * said with its place; it is never passed over, because a block that is not read is an object that nobody declares.
 *
 * As in Terraform's JSON syntax a block is an object or a list of objects, text stands for a boolean (`"true"`), and
 * `null` for an argument that is left out. A block is never null, and a list of blocks under a name never empty: what a
 * stack does not have is not in it.
 */
import {isJsonObject, type Json, type JsonObject} from '../../base/json.ts'
import {LEDGER_BACKENDS} from '../../ledger/backends/registry.ts'
import {hint} from '../language/hint.ts'
import {typeNameOf} from '../language/values/rule.ts'

/** Says what is wrong; `place` is the path below the block, `''` for the block itself. */
export type SayShape = (place: string, message: string) => void

type Argument = 'any' | 'text' | 'word' | 'number' | 'flag' | 'texts' | 'object' | BodyShape

interface BodyShape {
  /** What it is, for messages. */
  readonly what: string
  readonly arguments: Readonly<Record<string, Argument>>
  readonly required?: readonly string[]
  /** Names that are not listed pass: they are the user's own, or checked elsewhere. */
  readonly others?: 'any' | BodyShape
  /** Terraform's words that svcctl does not evaluate, and what to do about it. */
  readonly refused?: Readonly<Record<string, string>>
  /** Said elsewhere. */
  readonly unread?: readonly string[]
  /** May stand several times. */
  readonly many?: true
}

/** What is checked by whoever reads it, and only has to be a block. */
const block = (what: string): BodyShape => ({what, arguments: {}, others: 'any', many: true})

const LIFECYCLE = block('lifecycle')

/** Of a name that is not among its arguments backend-block.ts says so. */
const BACKENDS: Readonly<Record<string, BodyShape>> = Object.fromEntries(
  [...LEDGER_BACKENDS].map(([type, it]) => [type, {what: `the backend ${type}`, arguments: it.arguments, others: 'any'}]),
)

/** Bodies of the blocks a stack may have, by the word they begin with. */
export const BODIES = {
  resource: {
    what: 'a null_resource',
    arguments: {triggers: 'object', depends_on: 'any', count: 'any', for_each: 'any', provider: 'text', lifecycle: LIFECYCLE},
    // policy.ts says that none is run.
    unread: ['provisioner', 'connection'],
  },
  foreign: block('a block'),
  data: block('a data source'),
  provider: block('a provider'),
  variable: {
    what: 'a variable',
    arguments: {
      type: 'text',
      default: 'any',
      description: 'text',
      sensitive: 'flag',
      nullable: 'flag',
      ephemeral: 'flag',
      deprecated: 'text',
      validation: block('validation'),
    },
  },
  output: {
    what: 'an output',
    arguments: {
      value: 'any',
      description: 'text',
      sensitive: 'flag',
      ephemeral: 'flag',
      deprecated: 'text',
      depends_on: 'texts',
      precondition: block('precondition'),
    },
    required: ['value'],
  },
  module: block('a module'),
  moved: {what: 'a moved block', arguments: {from: 'text', to: 'text'}, required: ['from', 'to']},
  removed: {
    what: 'a removed block',
    arguments: {from: 'text', lifecycle: {what: 'lifecycle of a removed block', arguments: {destroy: 'flag'}}},
    required: ['from'],
    refused: {provisioner: 'svcctl runs no provisioner: take it away', connection: 'svcctl opens no connection: take it away'},
  },
  import: {
    what: 'an import block',
    arguments: {to: 'text', id: 'any', provider: 'text'},
    required: ['to', 'id'],
    refused: {
      for_each: 'svcctl does not evaluate for_each of an import block: write one block for each object',
      identity: 'svcctl imports by id: write the remote path into "id"',
    },
  },
  terraform: {
    what: 'the terraform block',
    arguments: {
      required_version: 'text',
      required_providers: block('required_providers'),
      provider_meta: block('provider_meta'),
      experiments: 'any',
      backend: {what: 'a backend', arguments: BACKENDS, others: block('a backend')},
      cloud: block('cloud'),
      remote: block('remote'),
    },
  },
  metadata: {
    what: 'the notes for svcctl',
    arguments: {
      cloud: {what: 'the target of the cloud API', arguments: {profile: 'text', account: 'word'}},
      cluster: {what: 'the target of the cluster API', arguments: {profile: 'text', account: 'word'}},
      secrets: {
        what: 'the secrets',
        arguments: {},
        others: {what: 'a secret', arguments: {version: 'word', description: 'text'}},
      },
    },
  },
} as const satisfies Readonly<Record<string, BodyShape>>

/** The words a stack file may have at its top. */
export const TOP_WORDS = [
  'resource',
  'data',
  'variable',
  'output',
  'module',
  'locals',
  'moved',
  'removed',
  'import',
  'terraform',
  'provider',
  '//',
]

/** What `value` says as one block or several: `undefined` when it is none, with what is wrong said. */
export function blocksOf(value: Json | undefined, say: (message: string) => void, empty: 'refused' | 'allowed'): readonly JsonObject[] {
  if (value === undefined) return []
  if (isJsonObject(value)) return [value]
  if (!Array.isArray(value)) {
    say(`must be an object or a list of objects, and it is ${typeNameOf(value)}`)
    return []
  }
  const items = value as readonly Json[]
  if (items.length === 0 && empty === 'refused') say('is an empty list: take it away, or write an object')
  const wrong = items.find(item => !isJsonObject(item))
  if (wrong !== undefined) say(`must be an object or a list of objects, and ${typeNameOf(wrong)} is in the list`)
  return items.filter(isJsonObject)
}

/** The body with booleans for their texts and without the arguments that are null; everything that does not fit is said. */
export function shapedBody(shape: BodyShape, body: JsonObject, say: SayShape, place = ''): JsonObject {
  const shaped: Record<string, Json> = {}
  const at = (name: string): string => (place === '' ? name : `${place}.${name}`)
  for (const [name, value] of Object.entries(body)) {
    if (name === '//' || shape.unread?.includes(name)) {
      shaped[name] = value
      continue
    }
    const refused = shape.refused && Object.hasOwn(shape.refused, name) ? shape.refused[name] : undefined
    const argument = Object.hasOwn(shape.arguments, name) ? shape.arguments[name] : shape.others
    if (refused !== undefined) say('', refused)
    else if (argument === undefined) say('', `${shape.what} has no ${JSON.stringify(name)}${hint(name, Object.keys(shape.arguments))}`)
    else {
      const fitted = shapedArgument(argument, value, say, at(name))
      if (fitted !== undefined) shaped[name] = fitted
    }
  }
  for (const name of shape.required ?? []) {
    if (!Object.hasOwn(body, name)) say('', `${shape.what} needs ${JSON.stringify(name)}`)
  }
  return shaped
}

function shapedArgument(argument: Argument, value: Json, say: SayShape, place: string): Json | undefined {
  if (argument === 'any') return value
  if (typeof argument === 'object') {
    const bodies = blocksOf(value, message => say(place, message), 'refused')
    if (bodies.length > 1 && argument.many !== true) say(place, 'stands there several times, and one is allowed')
    const shaped = bodies.map(body => shapedBody(argument, body, say, place))
    return Array.isArray(value) ? shaped : shaped[0]
  }
  if (value === null) return undefined
  const fitted = plainArgument(argument, value)
  if (fitted === undefined) say(place, `must be ${EXPECTED[argument]}, and it is ${typeNameOf(value)}`)
  return fitted
}

const EXPECTED = {
  text: 'text',
  word: 'text or a number',
  number: 'a number',
  flag: 'true or false',
  texts: 'a list of texts',
  object: 'an object',
} as const satisfies Readonly<Record<Exclude<Argument, 'any' | BodyShape>, string>>

function plainArgument(argument: keyof typeof EXPECTED, value: Json): Json | undefined {
  switch (argument) {
    case 'text':
      return typeof value === 'string' ? value : undefined
    case 'word':
      return typeof value === 'string' || typeof value === 'number' ? value : undefined
    case 'number':
      return typeof value === 'number' || (typeof value === 'string' && /^\d+$/.test(value)) ? Number(value) : undefined
    case 'flag':
      if (value === 'true' || value === 'false') return value === 'true'
      return typeof value === 'boolean' ? value : undefined
    case 'texts':
      return Array.isArray(value) && (value as readonly Json[]).every(item => typeof item === 'string') ? value : undefined
    case 'object':
      return isJsonObject(value) ? value : undefined
    default:
      return argument satisfies never
  }
}
