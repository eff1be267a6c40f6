/** Terraform's `lifecycle` and our `policy` trigger: what holds for an object beside its fields. */
import {JsonBoundsError, parseJson} from '../../base/bounded-json.ts'
import {isJsonObject, type Json, type JsonObject} from '../../base/json.ts'
import type {Policy} from '../../engine/model/declaration.ts'
import type {Kind} from '../../engine/model/kind.ts'
import {pointerFault} from '../../engine/model/pointer-schema.ts'
import {jsonFault} from '../files/json-positions.ts'
import type {Problems, SourcePlace} from '../files/problems.ts'
import {blocksIn} from '../files/stack-document.ts'
import {parseReference} from '../language/expression-parser.ts'
import {hint} from '../language/hint.ts'
import {unescapeTemplate} from '../language/values/expression.ts'

type Say = (message: string) => void

const UNSAID = ['lifecycle', 'provisioner', 'connection']
const DEFAULT: Policy = {exclusive: [], removal: 'delete', ignoreChanges: [], preventDestroy: false, createBeforeDestroy: false}

export function policyOf(body: JsonObject, triggers: JsonObject, kind: Kind, place: SourcePlace, problems: Problems): Policy {
  const say: Say = message => problems.add(place, message)
  if (UNSAID.every(argument => body[argument] === undefined) && triggers.policy === undefined) return DEFAULT
  const own = policyTrigger(triggers.policy, kind, say)
  const lifecycle = Object.assign({}, ...blocksIn(body.lifecycle)) as JsonObject
  for (const argument of ['provisioner', 'connection']) {
    if (body[argument] !== undefined) say(`svcctl runs no ${argument}: take it away`)
  }
  for (const name of Object.keys(lifecycle)) {
    if (name === 'replace_triggered_by')
      say('svcctl does not do replace_triggered_by yet: change an immutable field, or destroy the object and apply again')
    else if (name === 'precondition' || name === 'postcondition')
      say(`svcctl does not evaluate a ${name} yet: check it in the stack's own code`)
    else if (!LIFECYCLE.includes(name)) say(`lifecycle has no ${JSON.stringify(name)}${hint(name, LIFECYCLE)}`)
  }
  return {
    exclusive: own.exclusive,
    removal: own.removal,
    ignoreChanges: [...new Set([...own.ignoreChanges, ...ignoredBy(lifecycle.ignore_changes, say)])],
    preventDestroy: flag(lifecycle, 'prevent_destroy', say),
    createBeforeDestroy: flag(lifecycle, 'create_before_destroy', say),
  }
}

const LIFECYCLE = ['prevent_destroy', 'ignore_changes', 'create_before_destroy', '//']

function flag(lifecycle: JsonObject, name: string, say: Say): boolean {
  const value = lifecycle[name]
  if (value === undefined || value === null || typeof value === 'boolean') return value === true
  if (value === 'true' || value === 'false') return value === 'true'
  say(`lifecycle.${name} must be true or false`)
  return true
}

/** Terraform names attributes of the resource: `triggers["spec/password"]`; `all` is the whole object. */
function ignoredBy(value: Json | undefined, say: Say): readonly string[] {
  if (value === undefined || value === null) return []
  if (value === 'all') return ['']
  const items = Array.isArray(value) ? (value as readonly Json[]) : [value]
  return items.flatMap(item => {
    if (item === 'all') return ['']
    const pointer = typeof item === 'string' ? ignoredPointer(item) : undefined
    if (pointer !== undefined) return [pointer]
    say(
      `lifecycle.ignore_changes: ${JSON.stringify(item)} names no field: write "all", or triggers["spec/<pointer>"], or the pointer in the policy's ignoreChanges`,
    )
    return []
  })
}

function ignoredPointer(text: string): string | undefined {
  const node = parseReference(text)
  if (node === undefined) return undefined
  if (node.type === 'root' && node.name === 'triggers') return ''
  if (node.type !== 'index' || node.of.type !== 'root' || node.of.name !== 'triggers' || node.key.type !== 'literal') return undefined
  const key = String(node.key.value)
  if (key === 'spec') return ''
  return /^(?:spec|json)\//.test(key) ? key.slice('spec'.length) : undefined
}

interface OwnPolicy {
  readonly exclusive: readonly string[]
  readonly removal: 'delete' | 'retain'
  readonly ignoreChanges: readonly string[]
}

/** Of lists and objects. */
const MAX_LEVELS = 100
/** Of a text that is none. */
const MOST_SHOWN = 100
const NO_POLICY: OwnPolicy = {exclusive: [], removal: 'delete', ignoreChanges: []}
const WORDS = ['exclusive', 'removal', 'ignoreChanges']

function policyTrigger(trigger: Json | undefined, kind: Kind, say: Say): OwnPolicy {
  if (trigger === undefined) return NO_POLICY
  let policy: Json = trigger
  if (typeof trigger === 'string') {
    try {
      policy = parseJson(unescapeTemplate(trigger), MAX_LEVELS)
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      if (error instanceof JsonBoundsError) {
        say(`the trigger "policy" ${error.message}`)
        return NO_POLICY
      }
      say(`the trigger "policy" is not JSON: ${jsonFault(trigger)}`)
      return NO_POLICY
    }
  }
  if (!isJsonObject(policy)) {
    say('the trigger "policy" must be the JSON text of an object')
    return NO_POLICY
  }
  for (const word of Object.keys(policy)) if (!WORDS.includes(word)) say(`policy has no ${JSON.stringify(word)}${hint(word, WORDS)}`)
  const {removal = 'delete'} = policy
  if (removal !== 'delete' && removal !== 'retain') say(`policy.removal must be "delete" or "retain", not ${JSON.stringify(removal)}`)
  const collections = Object.keys(kind.exclusive ?? {})
  const exclusive = texts(policy.exclusive, 'policy.exclusive', say).filter(word => {
    if (collections.includes(word)) return true
    say(
      collections.length === 0
        ? `policy.exclusive: a ${kind.name} has no collections`
        : `policy.exclusive: a ${kind.name} has no collection ${JSON.stringify(word)}${hint(word, collections)}`,
    )
    return false
  })
  const ignoreChanges = texts(policy.ignoreChanges, 'policy.ignoreChanges', say).filter(pointer => {
    const fault = pointerFault(pointer)
    if (fault === undefined) return true
    const advice = pointer.startsWith('/') ? '' : `: write "/${pointer.replaceAll('.', '/')}"`
    say(`policy.ignoreChanges: ${JSON.stringify(pointer.slice(0, MOST_SHOWN))} ${fault}${advice}`)
    return false
  })
  return {exclusive, removal: removal === 'retain' ? 'retain' : 'delete', ignoreChanges}
}

function texts(value: Json | undefined, what: string, say: Say): readonly string[] {
  if (value === undefined || value === null) return []
  const items = Array.isArray(value) ? (value as readonly Json[]) : undefined
  if (items?.every(item => typeof item === 'string')) return items as readonly string[]
  say(`${what} must be a list of texts`)
  return []
}
