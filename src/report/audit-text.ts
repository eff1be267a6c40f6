/** Audits and what they tell, for people. */
import type {Ansis} from 'ansis'
import type {Json} from '../base/json.ts'
import {shownValue} from './plan-text.ts'
import {oneLine} from './terminal-text.ts'

interface Head {
  readonly seq: number
  readonly hash: string
}

export interface ShownGap {
  readonly stack: string
  readonly from: number
  readonly to: number
}

export interface ShownChain {
  readonly stack: string
  readonly files: readonly {readonly file: string; readonly lines: number; readonly torn: boolean}[]
  readonly head: Head | null
  readonly ledger: Head | null
  readonly lines: number
  readonly ahead: number
  readonly gaps: readonly Omit<ShownGap, 'stack'>[]
  readonly beside?: readonly Head[]
}

const gapText = ({from, to}: Omit<ShownGap, 'stack'>): string =>
  from === to ? `line ${from} is not here: it was written elsewhere` : `lines ${from} to ${to} are not here: they were written elsewhere`

const MOST_NAMED = 5

function besideText(beside: readonly Head[]): string {
  const named = beside.slice(0, MOST_NAMED).map(it => `${it.seq} ${it.hash.slice(0, 12)}`)
  const rest = beside.length > MOST_NAMED ? `, and ${beside.length - MOST_NAMED} more` : ''
  return `beside the chain, and proven by nothing: ${named.join(', ')}${rest} (holds, unlocks, and runs that died, while another machine went on)`
}

export function auditText(chains: readonly ShownChain[], paint: Ansis): string {
  if (chains.length === 0) return 'No audit: nothing was applied, imported or moved here yet.'
  return chains.map(it => chainLines(it, paint).join('\n')).join('\n')
}

function chainLines({stack, files, head, ledger, lines, ahead, gaps, beside = []}: ShownChain, paint: Ansis): string[] {
  const last = head === null ? '' : `; the last is ${head.seq} ${head.hash}`
  const count = lines === 1 ? '1 line is as it was written' : `${lines} lines are as they were written`
  return [
    `${paint.bold(oneLine(stack))}: ${count}${last}`,
    ...gaps.map(it => `    ${paint.yellow(gapText(it))}`),
    ...(beside.length === 0 ? [] : [`    ${paint.yellow(besideText(beside))}`]),
    ...(ahead === 0 ? [] : [`    ${ahead} of them stand behind what its ledger knows: of a run that did not end, or of holds and freezes`]),
    ...files.filter(it => it.torn).map(it => `    the last line of ${oneLine(it.file)} was not written to its end, and does not count`),
    ...(ledger === null ? [`    ${paint.yellow('its ledger names no line: whether the end was cut off cannot be told')}`] : []),
  ]
}

export interface ShownChange {
  readonly path: string
  readonly before?: Json
  readonly after?: Json
}

export interface ShownEvent {
  readonly stack: string
  readonly seq: number
  readonly beside?: true
  readonly at: string
  readonly event: string
  readonly by: string
  readonly address?: string
  readonly remoteId?: string
  readonly action?: string
  readonly state?: string
  readonly commit?: string
  readonly url?: string
  readonly approvedBy?: string
  readonly approvedAt?: string
  readonly run?: string
  readonly changes?: readonly ShownChange[]
  readonly changesLeftOut?: number
  readonly reason?: string
  readonly until?: string
  readonly from?: {readonly stack: string; readonly address: string}
  readonly to?: {readonly stack: string; readonly address: string}
}

/** @param events - the newest first */
export function historyText(events: readonly ShownEvent[], gaps: readonly ShownGap[], paint: Ansis): string {
  const lines = events.flatMap(it => eventLines(it, paint))
  const missing = gaps.map(it => paint.yellow(`stack ${oneLine(it.stack)}: ${gapText(it)}`))
  return [...(lines.length === 0 ? ['Nothing is known of that.'] : lines), ...missing].join('\n')
}

function eventLines(it: ShownEvent, paint: Ansis): string[] {
  const what = [it.event === 'operation' ? it.action : it.event, it.state].filter(word => word !== undefined).join(' ')
  const which = it.address === undefined ? '' : ` ${oneLine(it.address)}`
  const place = (at: {readonly stack: string; readonly address: string}) =>
    oneLine(at.stack === it.stack ? at.address : `${at.stack}:${at.address}`)
  const moved = `${it.from ? `, before ${place(it.from)}` : ''}${it.to ? `, now ${place(it.to)}` : ''}`
  const approved =
    it.approvedBy === undefined
      ? ''
      : `, approved by ${oneLine(it.approvedBy)}${it.approvedAt === undefined ? '' : ` at ${oneLine(it.approvedAt)}`}`
  const commit = it.commit === undefined ? '' : `, commit ${oneLine(it.commit).slice(0, 12)}`
  return [
    `${oneLine(it.at)} ${oneLine(it.stack)} ${it.seq}: ${paint.bold(`${oneLine(what)}${which}`)}${moved}${it.beside ? ' (beside the chain)' : ''}`,
    `    by ${oneLine(it.by)}${commit}${approved}${it.run === undefined ? '' : `, run ${oneLine(it.run)}`}`,
    ...(it.reason === undefined ? [] : [`    ${oneLine(it.reason)}${it.until === undefined ? '' : ` (until ${oneLine(it.until)})`}`]),
    ...(it.changes ?? []).map(changeLine),
    ...(it.changesLeftOut === undefined ? [] : [`    and ${it.changesLeftOut} more`]),
  ]
}

function changeLine({path, before, after}: ShownChange): string {
  const field = path === '' ? 'all of it' : oneLine(path.slice(1))
  if (before === undefined) return `    ${field} = ${cutValue(after)}`
  return `    ${field}: ${cutValue(before)} -> ${after === undefined ? '(gone)' : cutValue(after)}`
}

/** What an audit has only the beginning and the end of. */
function cutValue(value: Json | undefined): string {
  if (value === undefined) return '(absent)'
  if (typeof value !== 'object' || value === null || !('cut' in value) || !('length' in value)) return shownValue(value)
  return `${shownValue(value.cut)} (${shownValue(value.length)} characters)`
}
