/** Values asked for while somebody types: quick, from files only, and silent when there is nothing. */

import {existsSync, readdirSync} from 'node:fs'
import {dirname, join} from 'node:path'
import {parseAnyJson} from '../../base/bounded-json.ts'
import {isJsonObject} from '../../base/json.ts'
import {readKeptFileSync} from '../../base/whole-file.ts'
import {listRuns, runsFolder} from '../../ledger/journal-file.ts'
import {formatAddress, type IndexKey} from '../../ledger/resource-address.ts'
import type {Context} from '../shell/context.ts'
import type {ValueKind} from './tree.ts'

/** Nothing with a character that nobody types: quotes for it work differently from shell to shell, and each name is a line. */
export const completionValues = (kind: ValueKind, context: Pick<Context, 'cwd' | 'profiles'>): readonly string[] =>
  valuesOf(kind, context).filter(it => !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(it))

function valuesOf(kind: ValueKind, {cwd, profiles}: Pick<Context, 'cwd' | 'profiles'>): readonly string[] {
  switch (kind) {
    case 'profiles':
      return profiles().names
    case 'stacks':
      return [...new Set([...ledgers(cwd).map(({stack}) => stack), ...synthesized(cwd).map(({stack}) => stack)])].sort()
    case 'addresses':
      return [...new Set([...ledgers(cwd), ...synthesized(cwd)].flatMap(({file}) => addressesIn(file)))].sort()
    // The newest first: it is the one that is asked about.
    case 'runs':
      return listRuns(runsFolder(projectFolder(cwd)))
        .map(({run}) => run)
        .reverse()
  }
}

interface StackFile {
  readonly stack: string
  readonly file: string
}

/** `terraform.<stack>.tfstate`, beside cdktf.json or in the working folder. */
function ledgers(cwd: string): StackFile[] {
  const folder = projectFolder(cwd)
  return readdirSync(folder).flatMap(name => {
    const stack = /^terraform\.(.+)\.tfstate$/.exec(name)?.[1]
    return stack === undefined ? [] : [{stack, file: join(folder, name)}]
  })
}

/** What the last synth left in cdktf.out. */
function synthesized(cwd: string): StackFile[] {
  const out = join(projectFolder(cwd), 'cdktf.out')
  const stacks = fieldsOf(fieldsOf(readJson(join(out, 'manifest.json'))).stacks)
  return Object.entries(stacks).flatMap(([stack, entry]) => {
    const path = fieldsOf(entry).synthesizedStackPath
    return typeof path === 'string' ? [{stack, file: join(out, path)}] : []
  })
}

/** Of a ledger (a list of resources) or of a stack file (resources by type and name). A bare name covers all its instances. */
function addressesIn(file: string): string[] {
  const {resources, resource} = fieldsOf(readJson(file))
  if (Array.isArray(resources))
    return resources
      .map(fieldsOf)
      .flatMap(({type, name, instances}) =>
        type === 'null_resource' && typeof name === 'string' ? spelled(name, ledgerKeys(instances)) : [],
      )
  return Object.entries(fieldsOf(fieldsOf(resource).null_resource)).flatMap(([name, block]) => spelled(name, declaredKeys(fieldsOf(block))))
}

const spelled = (name: string, keys: readonly IndexKey[]): string[] => [
  formatAddress({name}),
  ...keys.map(index => formatAddress({name, index})),
]

const ledgerKeys = (instances: unknown): IndexKey[] =>
  Array.isArray(instances) ? instances.map(it => fieldsOf(it).index_key).filter(it => typeof it === 'string' || typeof it === 'number') : []

/** More than anybody reads through at a prompt. */
const MOST_INSTANCES = 1_000

/** As far as they stand in the file; what an expression makes of them is known to the ledger once it was applied. */
function declaredKeys({count, for_each}: Readonly<Record<string, unknown>>): IndexKey[] {
  if (typeof count === 'number') return Array.from({length: Math.max(0, Math.min(Math.trunc(count), MOST_INSTANCES))}, (_, at) => at)
  return Object.keys(fieldsOf(for_each)).slice(0, MOST_INSTANCES)
}

function projectFolder(cwd: string): string {
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'cdktf.json'))) return folder
    if (dirname(folder) === folder) return cwd
  }
}

function readJson(file: string): unknown {
  try {
    return parseAnyJson(readKeptFileSync(file).toString())
  } catch {
    return undefined
  }
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> => (isJsonObject(value) ? value : {})
