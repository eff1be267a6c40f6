/**
 * The manual: svcctl(1), and a page for each command, made of what its `--help` shows.
 *
 * Only the requests of man(7) that every renderer knows: TH, SH, TP, PP, PD, B and the like.
 */

import type {CommandInfo, FlagInfo} from '../src/cli/shell/manifest.ts'
import {usageOf} from '../src/cli/show/help.ts'

export interface ManPage {
  /** `svcctl-profile-set.1` */
  readonly file: string
  readonly roff: string
}

/** @param topics - what the commands of each topic are about, by its words */
export function manPages(infos: readonly CommandInfo[], topics: Readonly<Record<string, string>>, version: string): readonly ManPage[] {
  const shown = infos.filter(info => !info.hidden)
  return [
    {file: 'svcctl.1', roff: programPage(shown, topics, version)},
    ...shown.map(info => ({file: `${nameOf(info.id)}.1`, roff: commandPage(info, version)})),
  ]
}

const ENVIRONMENT: readonly (readonly [string, string])[] = [
  ['SVC_CLOUD_API_KEY, SVC_CLOUD_SECRET_KEY, SVC_CLOUD_API_URL', 'Key, secret and address of the cloud API.'],
  [
    'SVC_ENTERPRISE_URL, SVC_ENTERPRISE_USER, SVC_ENTERPRISE_PASSWORD',
    'Address of the cluster, and whom to log in as. SVC_ENTERPRISE_INSECURE=true does not verify its certificate; SVC_ENTERPRISE_CA_FILE names certificates to trust.',
  ],
  ['SVC_SUBSCRIPTION_ID', 'The subscription of commands that need one and are not told.'],
  ['SVC_ENTERPRISE_FILES_API_KEY, SVC_FILES_API_KEY', 'The upload key: before the configuration, and after it.'],
  [
    'SVC_PROFILE, SVC_CONFIG_FILE, SVC_STATE_DIR',
    'The profile to use, the configuration file, the folder for what is remembered between calls.',
  ],
  ['SVC_LOG', 'debug or trace: say more on standard error.'],
  ['NO_COLOR, FORCE_COLOR, CI', 'No colours; colours anywhere; no questions.'],
]

/** Those of the exit codes that scripts tell apart. */
const EXIT_CODES: readonly (readonly [string, string])[] = [
  ['0', 'Success, or no changes.'],
  ['1', 'An error not listed here.'],
  ['2', 'Changes are pending (plan --detailed-exitcode, drift).'],
  ['3', 'Refused: a guard, a protection, not confirmed.'],
  ['4', 'Interrupted or detached, with work in flight.'],
  ['5', 'The saved plan is stale.'],
  ['6', 'Failed in part.'],
  ['7', 'Applied, but not converged.'],
  ['8', 'Rate or quota exhausted.'],
  ['9', 'Authentication or permission.'],
  ['10', 'A lock is held.'],
  ['11', 'Not found.'],
  ['12', 'Out of time while waiting.'],
  ['13', 'Network or TLS.'],
  ['64', 'The command line, the configuration or a declaration is wrong.'],
]

function programPage(infos: readonly CommandInfo[], topics: Readonly<Record<string, string>>, version: string): string {
  return page('svcctl', version, 'declare what the cloud and cluster APIs should hold', [
    section('SYNOPSIS', ['.B svcctl', text('<command> [options]')]),
    section('DESCRIPTION', [
      text('Plans and applies stacks of declarations, and has commands for people on call.'),
      text('The word enterprise may be left out of a command. Each command has a page of its own: man svcctl-plan.'),
    ]),
    section('COMMANDS', infos.map(({id, summary}) => entry([`svcctl ${id}`], summary)).map(joined)),
    section(
      'TOPICS',
      Object.entries(topics).map(([topic, summary]) => joined(entry([`svcctl ${topic} --help`], summary))),
    ),
    section('ENVIRONMENT', [
      text('The environment wins over a profile, and a profile over options.'),
      ...ENVIRONMENT.map(([names, summary]) => joined(entry([names], summary))),
    ]),
    section('FILES', [
      joined(entry(['$XDG_CONFIG_HOME/svcctl/config.toml'], 'Profiles (TOML, mode 0600).')),
      joined(entry(['terraform.<stack>.tfstate'], 'What a stack owns, beside cdktf.json or in the working folder.')),
      joined(entry(['.svcctl/runs/'], 'Journals of applies.')),
      joined(entry(['$XDG_CACHE_HOME/svcctl/code/'], 'Compiled code of svcctl itself, for quicker starts; may be removed.')),
    ]),
    section(
      'EXIT STATUS',
      EXIT_CODES.map(([code, meaning]) => joined(entry([code], meaning))),
    ),
    section('SEE ALSO', [text(infos.map(({id}) => `${nameOf(id)}(1)`).join(', '))]),
  ])
}

function commandPage(info: CommandInfo, version: string): string {
  const groups = new Map<string, FlagInfo[]>()
  for (const flag of info.flags) groups.set(flag.group ?? 'OPTIONS', [...(groups.get(flag.group ?? 'OPTIONS') ?? []), flag])
  const ordered = [...groups].sort(([a], [b]) => Number(b === 'OPTIONS') - Number(a === 'OPTIONS'))
  return page(nameOf(info.id), version, info.summary, [
    section('SYNOPSIS', [`.B ${escaped(`svcctl ${info.id}`)}`, text(usageOf(info).slice(`svcctl ${info.id} `.length))]),
    info.description === undefined ? '' : section('DESCRIPTION', info.description.split('\n').filter(Boolean).map(text)),
    section(
      'ARGUMENTS',
      info.args.map(({name, summary, options, required}) =>
        joined(entry([name.toUpperCase()], sentence(summary, options, required ? [] : ['optional']))),
      ),
    ),
    ...ordered.map(([group, flags]) => section(group, flags.map(flagEntry))),
    section(
      'EXAMPLES',
      info.examples.map(example => ['.RS 4', '.nf', escaped(example), '.fi', '.RE'].join('\n')),
    ),
    section('SEE ALSO', ['.BR svcctl (1)']),
  ])
}

function flagEntry(flag: FlagInfo): string {
  const names = [`--${flag.name}`, ...(flag.char === undefined ? [] : [`-${flag.char}`]), ...(flag.allowNo ? [`--no-${flag.name}`] : [])]
  const notes = [...(flag.required ? ['required'] : []), ...(flag.multiple ? ['repeatable'] : [])]
  return joined(entry(names, sentence(flag.summary, flag.options, notes), flag.value))
}

function sentence(summary: string, options: readonly string[] | undefined, notes: readonly string[]): string {
  const values = options === undefined ? '' : `: ${options.join(', ')}`
  return `${summary}${values}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`
}

/** A tagged paragraph: what people type in bold, what they put in its place in italics. */
const entry = (names: readonly string[], summary: string, value?: string): readonly string[] => [
  '.TP',
  `${names.map(name => `\\fB${escaped(name)}\\fR`).join(', ')}${value === undefined ? '' : ` \\fI${escaped(value)}\\fR`}`,
  text(summary),
]

const joined = (lines: readonly string[]): string => lines.join('\n')

function page(name: string, version: string, summary: string, sections: readonly string[]): string {
  const head = [
    `.TH ${name.toUpperCase().replaceAll('-', '\\-')} 1 "" "svcctl ${version}" "svcctl manual"`,
    '.SH NAME',
    `${escaped(name)} \\- ${text(summary)}`,
  ]
  return `${[...head, ...sections.filter(it => it !== '')].join('\n')}\n`
}

const section = (title: string, parts: readonly string[]): string => {
  if (parts.length === 0) return ''
  const body = parts.flatMap((part, at) => (at === 0 || part.startsWith('.') || parts[at - 1]?.startsWith('.B') ? [part] : ['.PP', part]))
  return [`.SH ${title}`, ...body].join('\n')
}

/** Running text. */
const text = (words: string): string => escaped(words.trim())

/** Nothing in it means anything to roff: no backslash, no hyphen that is taken for a minus, no request at a line's start. */
const escaped = (words: string): string =>
  words
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('…', '...')
    .replaceAll('’', "'")
    .replaceAll('`', '\\(ga')
    .replaceAll('^', '\\(ha')
    .replaceAll('~', '\\(ti')
    .replace(/^([.'])/gm, '\\&$1')

const nameOf = (id: string): string => `svcctl-${id.replaceAll(' ', '-')}`
