/**
 * A Terraform state: which resources are in it, in Terraform's own spelling. It is only ever read. Format 4 alone is taken,
 * which every Terraform since 0.12 writes and `terraform state pull` prints.
 */
import {JsonBoundsError, parseJson} from '../base/bounded-json.ts'
import {AppError, EXIT} from '../base/errors.ts'
import {isJsonObject, type Json, type JsonObject} from '../base/json.ts'
import {shellWord} from '../base/shell-word.ts'

/** A file that is no state this program reads. */
export class TfstateError extends AppError {
  constructor(name: string, problem: string, cause?: unknown) {
    super(`${name} ${problem}`, {
      code: 'E_TFSTATE',
      exit: EXIT.usage,
      suggestions: [
        `In the folder of the Terraform configuration: terraform state pull > state.json; then: svcctl import --from-tfstate state.json`,
      ],
      cause,
    })
  }
}

/** One instance of one managed resource. */
export interface StateInstance {
  /** As `terraform state list` prints it: `module.a.rediscloud_subscription.b["k"]`. */
  readonly address: string
  readonly type: string
  /** `registry.terraform.io/redislabs/rediscloud` */
  readonly provider: string
  readonly attributes: JsonObject
  /** Terraform has made another one in its place and was to delete it. */
  readonly isDeposed: boolean
}

/** Larger ones are refused before they are read: what is parsed needs several times as much memory. */
export const MAX_STATE_BYTES = 256 * 1024 * 1024

/**
 * @param name - for messages: a path, or `standard input`
 * @throws TfstateError: never with a word of the file, which holds passwords
 */
export function readState(text: string, name: string): StateInstance[] {
  const state = parsed(text, name)
  if (!isJsonObject(state)) throw new TfstateError(name, 'is no Terraform state: it is no object')
  if (state.encrypted_data !== undefined) throw new TfstateError(name, 'is an encrypted state')
  if (typeof state.format_version === 'string')
    throw new TfstateError(name, 'is what terraform show -json prints, which leaves out what a state has')
  const {version} = state
  if (typeof version !== 'number') throw new TfstateError(name, 'is no Terraform state: it has no version')
  if (version !== 4) throw new TfstateError(name, `is a state of format ${version}, and only format 4 is read`)
  if (state.resources !== undefined && state.resources !== null && !Array.isArray(state.resources))
    throw new TfstateError(name, 'is a damaged state: its resources are no list')
  return listIn(state.resources).flatMap((resource, at) => instancesOf(resource, `${name}: resource ${at + 1}`))
}

function parsed(text: string, name: string): Json {
  try {
    return parseJson(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    // What the parser quotes of the file may be a password.
    throw new TfstateError(name, error instanceof JsonBoundsError ? error.message : 'is no Terraform state: it is not JSON')
  }
}

const listIn = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? (value as readonly Json[]) : [])

function instancesOf(resource: Json, where: string): StateInstance[] {
  if (!isJsonObject(resource)) throw new TfstateError(where, 'is no object: the state is damaged')
  const {mode, type, name, module, provider} = resource
  if (mode !== 'managed') return []
  if (typeof type !== 'string' || typeof name !== 'string') throw new TfstateError(where, 'has no type or no name: the state is damaged')
  const base = `${typeof module === 'string' && module !== '' ? `${module}.` : ''}${type}.${name}`
  return listIn(resource.instances).map(instance => {
    if (!isJsonObject(instance)) throw new TfstateError(where, 'has an instance that is no object: the state is damaged')
    const {attributes, index_key: key, deposed} = instance
    return {
      address: base + indexText(key),
      type,
      provider: providerIn(provider),
      attributes: isJsonObject(attributes) ? attributes : {},
      isDeposed: typeof deposed === 'string',
    }
  })
}

/** `[0]` of a count, `["k"]` of a for_each. */
function indexText(key: Json | undefined): string {
  if (typeof key === 'number') return `[${key}]`
  return typeof key === 'string' ? `[${JSON.stringify(key).replace(/([$%])\{/g, '$1$1{')}]` : ''
}

/** The source of a provider, whatever module configures it and under whatever alias. */
function providerIn(written: Json | undefined): string {
  const [, source = ''] = /provider\["([^"]+)"\]/.exec(typeof written === 'string' ? written : '') ?? []
  return source
}

/** What takes an instance out of the state, for Terraform to let go of it. */
export const removeCommand = (address: string): string => `terraform state rm ${shellWord(address)}`
