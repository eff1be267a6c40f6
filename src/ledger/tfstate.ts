/**
 * A ledger as Terraform state (format 4), so that `terraform state list`, `terraform output`, `terraform_remote_state`
 * and every state viewer can read it. The same ledger gives the same bytes.
 *
 * An object is a `null_resource` instance: its `id` is the remote path, its `triggers` say the rest in plain words
 * (`spec` is what was applied last, `secret/<pointer>` a digest, `out/<name>` an output). What belongs to the ledger
 * as a whole stands in a top-level `svcctl` key. Terraform ignores that key when it reads and leaves it out when it
 * writes: a file without it was rewritten by Terraform (`terraform state mv`, a push). What the entries say is there
 * still, and it is read; accounts and the salt of the secrets are lost, and come back with the next apply.
 */
import {z} from 'zod'
import {JsonBoundsError, parseAnyJson, parseJson} from '../base/bounded-json.ts'
import {hasDotSegment} from '../base/dot-segment.ts'
import {canonicalJson, isJsonObject, type Json, type JsonObject} from '../base/json.ts'
import {judge} from '../base/judge.ts'
import {wordOf} from '../base/word-of.ts'
import {
  CARRIED_CHARACTERS,
  CARRIED_FILES,
  CARRIED_LINES,
  FORMER_LEDGERS,
  type Ledger,
  type LedgerAudit,
  type LedgerEntry,
  type Tombstone,
  type TransferMark,
} from '../engine/model/ledger.ts'
import {pointerFault} from '../engine/model/pointer-schema.ts'
import {keyOf, keyOfOperation} from '../engine/model/value.ts'
import {ctyTypeOf} from './cty-type.ts'
import {LedgerDamagedError, LedgerForeignError, LedgerNewerError, LedgerNotOursError, type LedgerPlace} from './errors.ts'
import {assertOwnApp} from './own-app.ts'
import {formatAddress, type IndexKey, parseAddress, type ResourceAddress} from './resource-address.ts'

const STATE_VERSION = 4
const LEDGER_FORMAT = 1
/** The first release that promised this format for good; Terraform refuses states that name a later one than itself. */
const TERRAFORM_VERSION = '1.0.0'
const PROVIDER = 'provider["registry.terraform.io/hashicorp/null"]'
const REMOTE_PATH = /^(cloud|cluster)(\/[^/\s]+){1,20}$/

const text = z.string()
const isCarried = (lines: readonly string[]): boolean => lines.reduce((sum, it) => sum + it.length, 0) <= CARRIED_CHARACTERS
const digits = (count: number) => z.string().regex(new RegExp(`^[0-9a-f]{${count}}$`))
const chainHead = {seq: z.int().nonnegative(), hash: digits(64)}
const stateSchema = z.object({
  serial: z.int().nonnegative(),
  lineage: text.min(1),
  outputs: z.record(text, z.object({value: z.json(), sensitive: z.boolean().optional()})),
  resources: z.array(
    z.object({
      mode: z.literal('managed'),
      type: z.literal('null_resource'),
      name: text,
      instances: z.array(
        z.object({
          index_key: z.union([text, z.int().nonnegative()]).optional(),
          deposed: z
            .string()
            .regex(/^[0-9a-f]{8}$/)
            .optional(),
          attributes: z.object({id: text, triggers: z.record(text, text)}),
        }),
      ),
    }),
  ),
  svcctl: z.object({
    stack: text,
    app: text.optional(),
    made_from: z
      .array(z.object({serial: z.int().nonnegative(), lineage: text.min(1)}))
      .max(FORMER_LEDGERS)
      .optional(),
    accounts: z.record(text, z.object({address: text, keyHash: text, account: text.optional()})),
    secret_salt: text.optional(),
    secrets_digest: text.optional(),
    secret_groups: z.record(text, text).optional(),
    pending: z.json().optional(),
    audit: z
      .object({
        ...chainHead,
        files: z.array(z.object({file: digits(12), ...chainHead, place: digits(12).exactOptional()})).max(CARRIED_FILES),
        last: z.array(text).max(CARRIED_LINES).refine(isCarried, 'more than a ledger carries along').exactOptional(),
        same: z.object({serial: z.int(), as: z.int()}).exactOptional(),
      })
      .optional(),
    gone: z.array(z.object({id: text, address: text, remote_id: text, to: z.object({stack: text, address: text})})).optional(),
  }),
})

const ownTriggers = z.object({
  kind: text.min(1),
  spec: text,
  origin: z.enum(['created', 'imported', 'adopted']),
  removal: z.enum(['delete', 'retain']).default('delete'),
  prevent_destroy: z.literal('true').optional(),
  exclusive: text.default('[]'),
  ignore_changes: text.optional(),
  depends_on: text.default('[]'),
  json_outputs: text.default('[]'),
  /** `<id> <stack>:<address>`: on its way from there. */
  transfer: z
    .string()
    .regex(/^\S+ [^:]+:./s)
    .optional(),
  /** Of a former ledger of this stack: where that is. */
  transfer_state: text.optional(),
  /** The address letter by letter, where it is spelled another way than Terraform would. */
  address: text.optional(),
})
const texts = z.array(text)

/** What svcctl knows of a ledger that has nothing of its own in it. */
const rewritten = (stack: string): JsonObject => ({format: LEDGER_FORMAT, stack, accounts: {}})

/** @throws RangeError when an entry's address is none of `null_resource` */
export function encodeLedger(ledger: Ledger): string {
  const resources = new Map<string, {address: ResourceAddress; instance: JsonObject}[]>()
  for (const entry of ledger.entries.values()) {
    const address = parseAddress(entry.address)
    if (address === undefined) throw new RangeError(`not an address a ledger can hold: ${entry.address}`)
    const instances = resources.get(address.name) ?? []
    if (instances.length === 0) resources.set(address.name, instances)
    instances.push({address, instance: encodeInstance(ledger.stack, entry, address)})
  }
  const state = {
    version: STATE_VERSION,
    terraform_version: TERRAFORM_VERSION,
    serial: ledger.serial,
    lineage: ledger.lineage,
    outputs: Object.fromEntries(
      Object.entries(ledger.outputs)
        .sort(byKey)
        .map(([name, {value, sensitive}]) => [name, {value: sorted(value), type: ctyTypeOf(value), ...(sensitive && {sensitive})}]),
    ),
    resources: [...resources].sort(byKey).map(([name, instances]) => ({
      mode: 'managed',
      type: 'null_resource',
      name,
      provider: PROVIDER,
      instances: instances.sort((a, b) => compareInstances(a.address, b.address)).map(({instance}) => instance),
    })),
    check_results: null,
    svcctl: {
      format: LEDGER_FORMAT,
      stack: ledger.stack,
      ...(ledger.app !== undefined && {app: ledger.app}),
      ...(ledger.madeFrom !== undefined && {made_from: ledger.madeFrom.map(({serial, lineage}) => ({serial, lineage}))}),
      accounts: Object.fromEntries(
        Object.entries(ledger.accounts)
          .sort(byKey)
          .map(([api, {address, keyHash, account}]) => [api, {address, keyHash, ...(account !== undefined && {account})}]),
      ),
      ...(ledger.secretSalt !== undefined && {secret_salt: ledger.secretSalt}),
      ...(ledger.secretsDigest !== undefined && {secrets_digest: ledger.secretsDigest}),
      ...(ledger.secretGroups !== undefined && {secret_groups: sorted(ledger.secretGroups)}),
      ...(ledger.pending !== undefined && {pending: sorted(ledger.pending)}),
      ...(ledger.audit !== undefined && {audit: encodeAudit(ledger.audit)}),
      ...(ledger.gone !== undefined && ledger.gone.length > 0 && {gone: ledger.gone.map(encodeTombstone)}),
    },
  }
  return `${JSON.stringify(state, null, 2)}\n`
}

/**
 * @throws LedgerDamagedError, LedgerNewerError, LedgerNotOursError
 * @throws LedgerForeignError, LedgerOfOtherAppError when another stack wrote it, or another app
 */
export function decodeLedger(content: string, where: LedgerPlace): Ledger {
  const damaged = (what: string, cause?: unknown) => new LedgerDamagedError(where, what, cause)
  if (content.trim() === '') throw damaged('it is empty')
  let json: unknown
  try {
    json = parseJson(content)
  } catch (error) {
    throw damaged(error instanceof JsonBoundsError ? `it ${error.message}` : 'it is no JSON', error)
  }
  if (!isJsonObject(json) || typeof json.version !== 'number') throw damaged('it is no Terraform state')
  if (json.version > STATE_VERSION) throw new LedgerNewerError(where, `state format ${json.version}`)
  if (json.version < STATE_VERSION) throw damaged(`state format ${json.version} was never written by svcctl`)
  const {svcctl: own = rewritten(where.stack)} = json
  const rewrittenBy = json.svcctl === undefined ? `Terraform ${wordOf(json.terraform_version ?? 'of an unknown version')}` : undefined
  if (!isJsonObject(own) || typeof own.format !== 'number') throw damaged('its svcctl part is not what svcctl wrote')
  if (own.format > LEDGER_FORMAT) throw new LedgerNewerError(where, `ledger format ${own.format}`)
  const parsed = judge(stateSchema, {...json, svcctl: own})
  if (!parsed.success)
    throw rewrittenBy === undefined
      ? damaged(firstIssue(parsed.error))
      : new LedgerNotOursError(where, rewrittenBy, firstIssue(parsed.error))
  const state = parsed.data
  if (state.svcctl.stack !== where.stack) throw new LedgerForeignError(where, state.svcctl.stack)
  assertOwnApp(state.svcctl.app, where)

  const entries = new Map<string, LedgerEntry>()
  for (const {name, instances} of state.resources) {
    for (const {index_key, deposed, attributes} of instances) {
      const index = index_key === undefined ? {} : {index: index_key}
      const entry = decodeInstance({name, ...index, ...(deposed !== undefined && {deposed})}, attributes, where, rewrittenBy)
      if (entries.has(entry.address)) throw damaged(`${entry.address} is in it twice`)
      entries.set(entry.address, entry)
    }
  }
  const {app, made_from, accounts, secret_salt, secrets_digest, secret_groups, pending, audit, gone} = state.svcctl
  return {
    stack: where.stack,
    condition: 'present',
    serial: state.serial,
    lineage: state.lineage,
    ...(app !== undefined && {app}),
    ...(made_from !== undefined && {madeFrom: made_from}),
    accounts: mapValues(accounts, ({address, keyHash, account}) => ({address, keyHash, ...(account !== undefined && {account})})),
    entries,
    outputs: mapValues(state.outputs, ({value, sensitive = false}) => ({value, sensitive})),
    ...(secret_salt !== undefined && {secretSalt: secret_salt}),
    ...(secrets_digest !== undefined && {secretsDigest: secrets_digest}),
    ...(secret_groups !== undefined && {secretGroups: secret_groups}),
    ...(pending !== undefined && {pending}),
    ...(audit !== undefined && {audit}),
    ...(rewrittenBy !== undefined && {rewrittenBy}),
    ...(gone !== undefined && {gone: gone.map(({remote_id, ...it}) => ({...it, remoteId: remote_id}))}),
  }
}

/** Key by key, so that the same ledger gives the same bytes. */
const encodeAudit = ({seq, hash, files, last, same}: LedgerAudit): JsonObject => ({
  seq,
  hash,
  files: files.map(({file, seq, hash, place}) => ({file, seq, hash, ...(place !== undefined && {place})})),
  ...(last !== undefined && {last}),
  ...(same !== undefined && {same: {serial: same.serial, as: same.as}}),
})

const encodeTombstone = ({id, address, remoteId, to: {stack, address: there}}: Tombstone): JsonObject => ({
  id,
  address,
  remote_id: remoteId,
  to: {stack, address: there},
})

function markIn(text: string, state: string | undefined): TransferMark {
  const [, id = '', stack = '', address = ''] = /^(\S+) ([^:]+):([\s\S]*)$/.exec(text) ?? []
  return {id, from: {stack, address, ...(state !== undefined && {state})}}
}

/** The stack whose ledger this is; `undefined` for text that is none. @throws SyntaxError */
export function stackIn(content: string): string | undefined {
  const json: unknown = parseJson(content)
  const own = isJsonObject(json) ? json.svcctl : undefined
  return isJsonObject(own) && typeof own.stack === 'string' ? own.stack : undefined
}

/** Field by field and not from parts: ten thousand of these are written at once. */
function encodeInstance(stack: string, entry: LedgerEntry, address: ResourceAddress): JsonObject {
  const triggers: Record<string, string> = {}
  // Terraform names whole resources as dependencies, never one instance of them.
  const resources = new Set<string>()
  if (formatAddress(address) !== entry.address) triggers.address = entry.address
  if (entry.dependsOn.length > 0) {
    const dependsOn = entry.dependsOn.map(key => withoutStack(stack, key))
    triggers.depends_on = JSON.stringify(dependsOn)
    for (const own of dependsOn) {
      const name = parseAddress(own)?.name
      if (name !== undefined) resources.add(formatAddress({name}))
    }
  }
  if (entry.exclusive.length > 0) triggers.exclusive = JSON.stringify(entry.exclusive)
  if (entry.ignoreChanges !== undefined) triggers.ignore_changes = JSON.stringify(entry.ignoreChanges)
  const outputs = Object.entries(entry.outputs).sort(byKey)
  const jsonOutputs = outputs.filter(([, value]) => typeof value !== 'string').map(([name]) => name)
  if (jsonOutputs.length > 0) triggers.json_outputs = JSON.stringify(jsonOutputs)
  triggers.kind = entry.kind
  triggers.origin = entry.origin
  for (const [name, value] of outputs) triggers[`out/${name}`] = typeof value === 'string' ? value : canonicalJson(value)
  if (entry.preventDestroy) triggers.prevent_destroy = 'true'
  if (entry.removal === 'retain') triggers.removal = 'retain'
  for (const [pointer, digest] of Object.entries(entry.secrets).sort(byKey)) triggers[`secret${pointer}`] = digest
  triggers.spec = canonicalJson(entry.applied)
  if (entry.transfer) triggers.transfer = `${entry.transfer.id} ${keyOfOperation(entry.transfer.from)}`
  if (entry.transfer?.from.state !== undefined) triggers.transfer_state = entry.transfer.from.state
  return {
    ...(address.index !== undefined && {index_key: address.index}),
    ...(address.deposed !== undefined && {deposed: address.deposed}),
    schema_version: 0,
    attributes: {id: entry.remoteId, triggers},
    sensitive_attributes: [],
    ...(resources.size > 0 && {dependencies: [...resources].sort()}),
  }
}

function decodeInstance(
  address: ResourceAddress,
  {id, triggers}: {readonly id: string; readonly triggers: Readonly<Record<string, string>>},
  where: LedgerPlace,
  rewrittenBy?: string,
): LedgerEntry {
  const usual = formatAddress(address)
  const damaged = (what: string, cause?: unknown) =>
    rewrittenBy === undefined
      ? new LedgerDamagedError(where, `${usual}: ${what}`, cause)
      : new LedgerNotOursError(where, rewrittenBy, `${usual}: ${what}`)
  if (!REMOTE_PATH.test(id) || hasDotSegment(id)) throw damaged(`${JSON.stringify(id)} is no remote path`)
  const parsed = ownTriggers.safeParse(triggers)
  if (!parsed.success) throw damaged(firstIssue(parsed.error))
  const own = parsed.data
  try {
    const applied: unknown = parseJson(own.spec)
    if (!isJsonObject(applied)) throw damaged('its spec is no object')
    const jsonOutputs = new Set(listIn(own.json_outputs))
    const secrets: [string, string][] = []
    const outputs: [string, Json][] = []
    for (const [key, value] of Object.entries(triggers)) {
      if (key.startsWith('secret/')) {
        const pointer = key.slice('secret'.length)
        const fault = pointerFault(pointer)
        if (fault !== undefined) throw damaged(`the place of one of its secrets ${fault}`)
        secrets.push([pointer, value])
      } else if (key.startsWith('out/')) {
        const name = key.slice('out/'.length)
        outputs.push([name, jsonOutputs.has(name) ? parseJson(value) : value])
      }
    }
    return {
      // Terraform gives an entry another address, and knows nothing of the one that is written down in it.
      address: rewrittenBy === undefined ? (own.address ?? usual) : usual,
      kind: own.kind,
      remoteId: id,
      origin: own.origin,
      applied,
      secrets: Object.fromEntries(secrets),
      dependsOn: listIn(own.depends_on).map(it => (parseAddress(it) ? keyOf(where.stack, it) : it)),
      removal: own.removal,
      preventDestroy: own.prevent_destroy === 'true',
      exclusive: listIn(own.exclusive),
      ...(own.ignore_changes === undefined ? {} : {ignoreChanges: listIn(own.ignore_changes)}),
      outputs: Object.fromEntries(outputs),
      ...(own.transfer !== undefined && {transfer: markIn(own.transfer, own.transfer_state)}),
    }
  } catch (error) {
    if (error instanceof LedgerDamagedError || error instanceof LedgerNotOursError) throw error
    throw damaged('one of its triggers is no JSON', error)
  }
}

const listIn = (json: string): readonly string[] => (json === '[]' ? [] : texts.parse(parseAnyJson(json)))

/** An object of this stack is named without it, as Terraform does; others by their whole key. */
function withoutStack(stack: string, key: string): string {
  const own = key.startsWith(`${stack}:`) ? key.slice(stack.length + 1) : undefined
  return own !== undefined && parseAddress(own) ? own : key
}

const sorted = (value: Json): Json => parseAnyJson(canonicalJson(value)) as Json

const byKey = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : a > b ? 1 : 0)

/** Terraform's order: no index, numbers, text. */
function compareIndexes(a: IndexKey | undefined, b: IndexKey | undefined): number {
  const rank = (index: IndexKey | undefined) => (index === undefined ? 0 : typeof index === 'number' ? 1 : 2)
  if (rank(a) !== rank(b)) return rank(a) - rank(b)
  if (a === undefined || b === undefined || a === b) return 0
  return a < b ? -1 : 1
}

/** What is deposed stands after the one that has its address now. */
function compareInstances(a: ResourceAddress, b: ResourceAddress): number {
  const byIndex = compareIndexes(a.index, b.index)
  return byIndex !== 0 || a.deposed === b.deposed ? byIndex : (a.deposed ?? '') < (b.deposed ?? '') ? -1 : 1
}

const mapValues = <A, B>(record: Readonly<Record<string, A>>, change: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]))

/** Where and what, without the value: a damaged ledger may hold anything. */
function firstIssue(error: z.ZodError): string {
  const [issue] = error.issues
  return issue ? `${issue.path.join('.') || 'it'}: ${issue.message}` : 'it has an unknown shape'
}
