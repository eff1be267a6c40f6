/**
 * All commands described as data, for help, completion and man pages. The build writes it beside the bundle, so that
 * help does not load every command; from the sources it is made when it is needed.
 */

import {readFileSync} from 'node:fs'
import {parseAnyJson} from '../../base/bounded-json.ts'
import type {CommandClass, CommandTable, Definition} from './context.ts'

export interface FlagInfo {
  readonly name: string
  readonly char?: string
  readonly summary: string
  readonly group?: string
  /** Absent for a switch. */
  readonly value?: string
  readonly options?: readonly string[]
  readonly multiple?: true
  readonly required?: true
  readonly allowNo?: true
}

export interface ArgInfo {
  readonly name: string
  readonly summary: string
  readonly required: boolean
  readonly multiple?: true
  readonly options?: readonly string[]
}

export interface CommandInfo {
  readonly id: string
  readonly summary: string
  readonly description?: string
  readonly examples: readonly string[]
  readonly args: readonly ArgInfo[]
  readonly flags: readonly FlagInfo[]
  readonly hidden?: true
}

export const MANIFEST_FILE = 'commands.json'

export async function commandInfos(table: CommandTable): Promise<readonly CommandInfo[]> {
  let text: string
  try {
    text = readFileSync(new URL(MANIFEST_FILE, import.meta.url), 'utf8')
  } catch {
    return describeAll(table)
  }
  return parseAnyJson(text) as readonly CommandInfo[]
}

export const describeAll = ({commands}: CommandTable): Promise<CommandInfo[]> =>
  Promise.all(
    Object.entries(commands)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(async ([id, load]) => describe(id, (await load()).default)),
  )

export function describe(id: string, command: CommandClass): CommandInfo {
  const flags: Record<string, Definition> = {...command.baseFlags, ...command.flags}
  const args: Record<string, Definition> = command.args
  return {
    id,
    summary: command.summary,
    ...(command.description === undefined ? {} : {description: command.description}),
    examples: command.examples.map(example => fill(example, id)),
    args: Object.entries(args)
      .filter(([, arg]) => !arg.hidden)
      .map(([name, arg]) => ({
        name,
        summary: arg.description ?? '',
        required: arg.required === true,
        // A parser that is not strict takes any number of words.
        ...(command.strict ? {} : {multiple: true}),
        ...(arg.options ? {options: arg.options.map(String)} : {}),
      })),
    flags: Object.entries(flags)
      .filter(([, flag]) => !flag.hidden)
      .map(([name, flag]) => describeFlag(name, flag)),
    ...(command.hidden ? {hidden: true} : {}),
  }
}

function describeFlag(name: string, flag: Definition): FlagInfo {
  const value = Array.isArray(flag.helpValue) ? flag.helpValue[0] : flag.helpValue
  return {
    name,
    summary: flag.summary ?? flag.description ?? '',
    ...(flag.char === undefined ? {} : {char: flag.char}),
    ...(flag.helpGroup === undefined ? {} : {group: flag.helpGroup}),
    ...(flag.type === 'boolean' ? {} : {value: value ?? '<value>'}),
    ...(flag.options ? {options: flag.options.map(String)} : {}),
    ...(flag.multiple ? {multiple: true} : {}),
    ...(flag.required ? {required: true} : {}),
    ...(flag.allowNo ? {allowNo: true} : {}),
  }
}

const fill = (example: string, id: string): string =>
  example.replaceAll(/<%=\s*config\.bin\s*%>/g, 'svcctl').replaceAll(/<%=\s*command\.id\s*%>/g, id)
