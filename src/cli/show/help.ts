/** `--help`, for the program, a topic or a command. Results of a question: standard output, exit 0. */
import type {Ansis} from 'ansis'
import {largest} from '../../base/many.ts'
import {foldedLines} from '../../report/wrap-text.ts'
import {OPTIONAL_TOPIC} from '../shell/command-table.ts'
import type {CommandTable} from '../shell/context.ts'
import type {ArgInfo, CommandInfo, FlagInfo} from '../shell/manifest.ts'

type Row = readonly [left: string, right: string]

export function programHelp(infos: readonly CommandInfo[], {topics}: CommandTable, paint: Ansis, width: number): string {
  const top = infos.filter(info => !info.hidden && !info.id.includes(' '))
  // What may be typed without the topic it lies in is looked for among the first words.
  const topicRows = Object.entries(topics).flatMap(([topic, summary]): Row[] => {
    const [first, ...inner] = topic.split(' ')
    if (inner.length === 0) return [[topic, summary]]
    return first === OPTIONAL_TOPIC ? [[`[${first}] ${inner.join(' ')}`, summary]] : []
  })
  return page([
    'svcctl: declares what the cloud and cluster APIs should hold, and commands for people on call.',
    section('usage', ['svcctl <command> [options]'], paint),
    rowsSection(
      'commands',
      top.map(({id, summary}) => [id, summary]),
      paint,
      width,
    ),
    rowsSection('topics', topicRows, paint, width),
    `Words in brackets may be left out: "svcctl node list" is "svcctl enterprise node list". Options of a command: svcctl <command> --help`,
  ])
}

export function topicHelp(topic: string, infos: readonly CommandInfo[], {topics}: CommandTable, paint: Ansis, width: number): string {
  const inside = (id: string) => id.startsWith(`${topic} `)
  const depth = topic.split(' ').length + 1
  const commands = infos.filter(({id, hidden}) => !hidden && inside(id) && id.split(' ').length === depth)
  const subtopics = Object.entries(topics).filter(([id]) => inside(id) && id.split(' ').length === depth)
  return page([
    `${topic}: ${topics[topic] ?? ''}`,
    section('usage', [`svcctl ${topic} <command> [options]`], paint),
    rowsSection(
      'commands',
      commands.map(({id, summary}) => [id, summary]),
      paint,
      width,
    ),
    rowsSection('topics', subtopics, paint, width),
    section('examples', commands.flatMap(({examples}) => examples.slice(0, 1)).slice(0, 4), paint),
  ])
}

export function commandHelp(info: CommandInfo, paint: Ansis, width: number): string {
  const groups = new Map<string, FlagInfo[]>()
  for (const flag of info.flags) groups.set(flag.group ?? 'OPTIONS', [...(groups.get(flag.group ?? 'OPTIONS') ?? []), flag])
  // A command's own options first, the shared groups after them.
  const ordered = [...groups].sort(([a], [b]) => Number(b === 'OPTIONS') - Number(a === 'OPTIONS'))
  return page([
    info.summary,
    section('usage', [usageOf(info)], paint),
    rowsSection('arguments', info.args.map(argRow), paint, width),
    ...ordered.map(([group, flags]) => rowsSection(group.toLowerCase(), flags.map(flagRow), paint, width)),
    info.description === undefined
      ? ''
      : section(
          'description',
          info.description.split('\n').flatMap(line => foldedLines(line, width - 2)),
          paint,
        ),
    section('examples', info.examples, paint),
  ])
}

export const usageOf = ({id, args, flags}: CommandInfo): string =>
  [
    'svcctl',
    id,
    ...args.map(argLabel),
    ...flags.filter(flag => flag.required).map(flag => `--${flag.name} ${flag.value ?? ''}`),
    '[options]',
  ].join(' ')

function argLabel({name, required, multiple}: ArgInfo): string {
  const label = `${name.toUpperCase()}${multiple ? '...' : ''}`
  return required ? label : `[${label}]`
}

const argRow = (arg: ArgInfo): Row => [argLabel(arg), withOptions(arg.summary, arg.options)]

function flagRow(flag: FlagInfo): Row {
  const name = `${flag.char === undefined ? '    ' : `-${flag.char}, `}--${flag.allowNo ? '[no-]' : ''}${flag.name}`
  const notes = [flag.required ? 'required' : '', flag.multiple ? 'repeatable' : ''].filter(note => note !== '')
  const summary = withOptions(flag.summary, flag.options)
  return [flag.value === undefined ? name : `${name} ${flag.value}`, notes.length === 0 ? summary : `${summary} (${notes.join(', ')})`]
}

const withOptions = (summary: string, options: readonly string[] | undefined): string =>
  options === undefined ? summary : `${summary}: ${options.join(' | ')}`

const page = (parts: readonly string[]): string => `${parts.filter(part => part !== '').join('\n\n')}\n`

function section(title: string, lines: readonly string[], paint: Ansis): string {
  return lines.length === 0 ? '' : [paint.bold(title), ...lines.map(line => `  ${line}`)].join('\n')
}

function rowsSection(title: string, rows: readonly Row[], paint: Ansis, width: number): string {
  const left = Math.min(36, largest([0, ...rows.map(([label]) => label.length)]))
  return section(
    title,
    rows.flatMap(([label, text]) => {
      const lines = foldedLines(text, Math.max(30, width - left - 6))
      const long = label.length > left
      const first = long
        ? [label, ...lines.slice(0, 1).map(line => `${' '.repeat(left)}  ${line}`)]
        : [`${label.padEnd(left)}  ${lines[0] ?? ''}`.trimEnd()]
      return [...first, ...lines.slice(1).map(line => `${' '.repeat(left)}  ${line}`)]
    }),
    paint,
  )
}
