/** The secrets of stacks, as people read it. */
import type {Ansis} from 'ansis'
import {fieldColumns, table} from './table.ts'
import {oneLine} from './terminal-text.ts'

export interface ShownSecret {
  /** `stack:address` where it is of another stack. */
  readonly address: string
  /** JSON pointer. */
  readonly path: string
  readonly changeable: boolean
  /** Why not. */
  readonly why?: string
}

export interface SecretUse {
  readonly stack: string
  readonly name: string
  /** Of the environment. */
  readonly variable: string
  /** `null`: a salted digest of the value tells whether it changed. */
  readonly version: string | null
  readonly set: boolean
  /** Addresses. */
  readonly usedBy: readonly string[]
  /** Whether an apply can change it everywhere. */
  readonly changeable: boolean
  readonly fields: readonly ShownSecret[]
}

const versionOf = ({version}: SecretUse): string => (version === null ? 'no version' : `version ${oneLine(version)}`)

export function secretsText(secrets: readonly SecretUse[], paint: Ansis): string {
  if (secrets.length === 0) return 'No secrets: no stack has a sensitive variable.'
  const several = new Set(secrets.map(it => it.stack)).size > 1
  const lines = secrets.flatMap(it => [
    `${paint.bold(oneLine(several ? `${it.stack}:${it.name}` : it.name))} ${versionOf(it)}, ${it.set ? paint.green('set') : paint.yellow('not set')} (${oneLine(it.variable)})`,
    ...(it.fields.length === 0 ? ['    used by nothing'] : []),
    ...it.fields.flatMap(({address, path, why}) => {
      const field = `    ${oneLine(address)} ${oneLine(path)}`
      return why === undefined ? [field] : [`${field}: ${paint.magenta('cannot be changed')}`, `      ${oneLine(why)}`]
    }),
  ])
  const fixed = secrets.filter(it => !it.changeable)
  return [...lines, '', ...HOW, ...(fixed.length === 0 ? [] : ['', ...HOW_ELSE])].join('\n')
}

const HOW = [
  'To change one: give the new value (TF_VAR_...), raise its version in the stack,',
  'apply. Without a version the new value alone is enough.',
]

const HOW_ELSE = [
  'What the API cannot change: declare a second user with the new secret, move the',
  'clients, take the first one out. Or change it by other means, raise the version',
  'and apply with --accept ADDRESS, which records it without a request.',
]

/** `-o table`: one line a secret. */
export const secretsTable = (secrets: readonly SecretUse[], widest?: number): Promise<string> =>
  table(
    secrets,
    [
      ...fieldColumns('stack', 'name', 'variable'),
      {title: 'version', value: it => it.version ?? undefined},
      {title: 'set', value: it => (it.set ? 'yes' : 'no')},
      {title: 'changeable', value: it => (it.changeable ? 'yes' : 'no')},
      {title: 'used by', value: it => it.usedBy.join(', ')},
    ],
    widest,
  )
