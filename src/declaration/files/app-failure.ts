/** What a program that failed has to say for itself: its own error and where it is, found in what it wrote. */
import {sep} from 'node:path'
import {fileURLToPath} from 'node:url'
import {largest} from '../../base/many.ts'

export interface AppFailure {
  /** The error's own words, in one or more lines. */
  readonly message: string
  /** `stacks/shop.ts:12`, the first place of the user's own. */
  readonly place?: string
  /** What to do about it, where an error of our constructs says so. */
  readonly suggestions: readonly string[]
  /** The error as the constructs say it: nothing has to be guessed. */
  readonly ours: boolean
}

/** Of svcctl itself, as sources or built. */
const HERE = fileURLToPath(import.meta.url)
const OWN_FOLDER = HERE.slice(0, largest(['src', 'dist'].map(it => HERE.lastIndexOf(`${sep}${it}${sep}`))) + 1)
const OWN = [`${OWN_FOLDER}src${sep}`, `${OWN_FOLDER}dist${sep}`]

const ESCAPES = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g')
const HEAD = /^(?:Uncaught )?(?:(Error)|([A-Za-z_$][\w$.]*(?:Error|Exception)))(?: \[[^\]]*\])?(?:: (.*))?$/
const OURS = /^(?:(\S+:\d+): )?(\S.*) \(E_[A-Z_]+\)$/
const FRAME = /^\s+at /
/** Of Node and npm, and of no use to anybody. */
const NOISE = /^npm (?:warn|notice)|^Node\.js v\d|^node:internal|^\s*triggerUncaughtException\($|^\s*\^+\s*$|^\s*throw .*;?$|^\s*$/
const MAX_LINES = 12

/** @param cwd - the folder of cdktf.json; places are shown relative to it */
export function failureIn(output: string, cwd: string): AppFailure | undefined {
  const lines = output.replaceAll(ESCAPES, '').replaceAll(`file://${cwd}/`, '').replaceAll(`${cwd}/`, '').split(/\r?\n/)
  return constructError(lines) ?? thrownError(lines)
}

function constructError(lines: readonly string[]): AppFailure | undefined {
  const at = lines.findIndex((line, index) => OURS.test(line) && lines[index + 1]?.startsWith('  > '))
  const [, place, message] = OURS.exec(lines[at] ?? '') ?? []
  if (message === undefined) return undefined
  const suggestions = lines.slice(at + 1).filter((_, index, all) => all.slice(0, index + 1).every(it => it.startsWith('  > ')))
  return {message, ...(place === undefined ? {} : {place}), suggestions: suggestions.map(it => it.slice('  > '.length)), ours: true}
}

function thrownError(lines: readonly string[]): AppFailure | undefined {
  const at = lines.findIndex(line => HEAD.test(line))
  const [, plain, name, words = ''] = HEAD.exec(lines[at] ?? '') ?? []
  if (at < 0 || (plain === undefined && name === undefined)) return undefined
  const rest = lines.slice(at + 1)
  const end = rest.findIndex(line => FRAME.test(line) || line === '' || line === '}')
  const more = rest.slice(0, Math.min(end < 0 ? rest.length : end, MAX_LINES)).filter(line => !NOISE.test(line))
  const first = [name, words].filter(part => part !== undefined && part !== '').join(': ')
  const place = placeIn(rest)
  return {
    message: [first === '' ? 'Error' : first, ...more.map(it => it.replace(/ \{$/, ''))].join('\n'),
    ...(place === undefined ? {} : {place}),
    suggestions: [],
    ours: false,
  }
}

/** The first frame that is neither Node's, nor of a package, nor ours. */
function placeIn(lines: readonly string[]): string | undefined {
  for (const line of lines) {
    if (!FRAME.test(line)) continue
    const [, file, number] = /(?:^|[\s(])([^\s()]+):(\d+):\d+\)?$/.exec(line) ?? []
    if (file === undefined || file.startsWith('node:') || /(?:^|[\\/])node_modules[\\/]/.test(file)) continue
    if (!OWN.some(own => file.startsWith(own))) return `${file}:${number}`
  }
  return undefined
}

/** The end of what it wrote, without what says nothing. */
export const usefulLines = (output: string): string =>
  output
    .replaceAll(ESCAPES, '')
    .split(/\r?\n/)
    .filter(line => !NOISE.test(line))
    .slice(-MAX_LINES)
    .join('\n')
