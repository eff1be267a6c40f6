/** Values asked for while somebody types: quick, from files only, and silent when there is nothing. */
import {existsSync, readdirSync, readFileSync} from 'node:fs'
import {dirname, join} from 'node:path'
import {isJsonObject} from '../../base/json.ts'
import type {Context} from '../context.ts'
import type {ValueKind} from './tree.ts'

export function completionValues(kind: ValueKind, {cwd, profiles}: Pick<Context, 'cwd' | 'profiles'>): readonly string[] {
  switch (kind) {
    case 'profiles':
      return profiles().names
    case 'stacks':
      return [...new Set([...ledgers(cwd).map(({stack}) => stack), ...synthesized(cwd).map(({stack}) => stack)])].sort()
    case 'addresses':
      return [...new Set([...ledgers(cwd), ...synthesized(cwd)].flatMap(({file}) => addressesIn(file)))].sort()
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

/** Of a ledger (a list of resources) or of a stack file (resources by type and name). */
function addressesIn(file: string): string[] {
  const {resources, resource} = fieldsOf(readJson(file))
  if (Array.isArray(resources))
    return resources.map(fieldsOf).flatMap(({type, name}) => (type === 'null_resource' ? [`null_resource.${name}`] : []))
  return Object.keys(fieldsOf(fieldsOf(resource).null_resource)).map(name => `null_resource.${name}`)
}

function projectFolder(cwd: string): string {
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'cdktf.json'))) return folder
    if (dirname(folder) === folder) return cwd
  }
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> => (isJsonObject(value) ? value : {})
