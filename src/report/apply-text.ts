/** An apply as it happens, for people: a line per event that matters, and a summary at the end. */

import type {Ansis} from 'ansis'
import {formatDuration} from '../base/duration.ts'
import {AppError} from '../base/errors.ts'
import {shellWord} from '../base/shell-word.ts'
import type {ApplyResult, ResidualField} from '../engine/apply/work.ts'
import type {ApplyEvent, State} from '../engine/model/events.ts'
import type {Bill, BoundTime} from '../engine/model/plan.ts'
import {type Key, keyOfOperation} from '../engine/model/value.ts'
import {boundBy} from './bound-by.ts'
import {isLeftToApply} from './left-to-apply.ts'
import {shownValue} from './plan-text.ts'
import {type RunningObject, RunningObjects, titleOf} from './running-objects.ts'
import {harmless, oneLine} from './terminal-text.ts'

/** A waiting object says so again after this long. */
const SAY_AGAIN_MS = 10_000
const MOST_WORDS = 3
const MOST_LINES = 5
/** How far the whole is, and how long it will take, is said this often. */
const SAY_LEFT_MS = 60_000

export interface ApplyLines {
  /** Lines to show for an event; none for most. */
  on(event: ApplyEvent): readonly string[]
  /** Lines for what has been silent for long; to be asked every second or so. */
  tick(): readonly string[]
}

export interface ApplyLinesOptions {
  readonly paint: Ansis
  readonly now: () => number
  /** As of `RunningObjects`. */
  readonly awake?: () => number
  /** The plan covers several stacks: addresses are shown with theirs. */
  readonly several: boolean
  /** Construct paths of the objects that have one. */
  readonly constructs?: ReadonlyMap<Key, string>
  /** What goes on is shown elsewhere, by a live view: only what ended is said. */
  readonly quiet?: boolean
}

/** Line by line, for logs and pipes: what still waits is said every 10 s. */
export function applyLines({paint, now, awake, several, constructs, quiet = false}: ApplyLinesOptions): ApplyLines {
  let saidStill = Number.NEGATIVE_INFINITY
  const objects = new RunningObjects(now, awake)
  const title = (key: Key) => titleOf(key, several, constructs?.get(key))
  let saidLeft: number | undefined
  let saidReading = Number.NEGATIVE_INFINITY
  const stillReading = () => {
    const {reading} = objects
    if (reading === undefined || now() - saidReading < SAY_AGAIN_MS) return []
    saidReading = now()
    return [`${reading} ...`]
  }
  /** One line for all that wait, however many they are. */
  const stillRunning = () => {
    const {running} = objects
    const oldest = running.reduce<RunningObject | undefined>((first, it) => (first && first.since <= it.since ? first : it), undefined)
    if (oldest === undefined || now() - Math.max(saidStill, oldest.since) < SAY_AGAIN_MS) return []
    saidStill = now()
    const first = `${title(oldest.key)}: still ${doingOf(oldest)}, ${formatDuration(now() - oldest.since)}`
    return [
      running.length === 1 ? first : `${first}; ${running.length - 1} more: ${counted(running.filter(it => it !== oldest).map(doingOf))}`,
    ]
  }
  const whatIsLeft = () => {
    const {begun, left} = objects
    if (begun === undefined || left === undefined || now() - (saidLeft ?? begun) < SAY_LEFT_MS) return []
    saidLeft = now()
    return [`${objects.over} of ${objects.total} done, about ${formatDuration(left.ms)} left (${boundBy(left.bound)})`]
  }
  return {
    on: event => {
      objects.on(event)
      switch (event.type) {
        case 'started':
          return quiet ? [] : [`${title(event.key)}: ${event.action}${event.step === event.action ? '' : ` (${event.step})`} ...`]
        case 'in doubt':
          return [`${title(event.key)}: ${harmless(event.why)}; looking whether the ${event.step} happened`]
        case 'ended':
          return endedLines(event, title(event.key), several, paint)
        case 'recording':
          return quiet || event.secrets === 0
            ? []
            : [`writing the ledger, with digests of ${event.secrets} secret${event.secrets === 1 ? '' : 's'} ...`]
        case 'proving':
          return quiet || event.objects === 0 ? [] : [`proving ${event.objects} object${event.objects === 1 ? '' : 's'} ...`]
        case 'warning':
          return [`${paint.yellow('warning:')} ${harmless(event.message)}`]
        case 'reading':
        case 'begin':
        case 'accepted':
        case 'held':
        case 'waiting':
        case 'estimate':
        case 'proved':
        case 'end':
          return []
        default:
          return event satisfies never
      }
    },
    tick: () => (quiet ? [] : [...stillReading(), ...stillRunning(), ...whatIsLeft()]),
  }
}

const doingOf = ({doing, step}: RunningObject): string => (doing === '' || doing === 'accepted' ? `at its ${step}` : doing)

/** `12 at its create, 3 waiting for its task (processing)`, most first. */
function counted(words: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  const most = [...counts].sort(([, a], [, b]) => b - a).slice(0, MOST_WORDS)
  const others = words.length - most.reduce((sum, [, count]) => sum + count, 0)
  return [...most.map(([word, count]) => `${count} ${word}`), ...(others === 0 ? [] : [`${others} at something else`])].join(', ')
}

function endedLines(event: Extract<ApplyEvent, {type: 'ended'}>, title: string, several: boolean, paint: Ansis): readonly string[] {
  const {state, action, ms, remoteId, error, because} = event
  const id = remoteId === undefined ? '' : ` [${oneLine(remoteId)}]`
  if (state === 'done') return [`${title}: ${paint.green(`${action} done`)} after ${formatDuration(ms)}${id}`]
  if (because !== undefined) return [`${title}: ${paint.yellow(state)} because of ${titleOf(because, several)}`]
  if (state === 'skipped') return [`${title}: ${paint.yellow('skipped')}: ${harmless(error?.message ?? '')}`]
  if (state === 'detached') return [`${title}: ${paint.yellow('detached')}: ${harmless(error?.message ?? '')}${id}`]
  return [
    `${title}: ${paint.red(state)}: ${harmless(error?.message ?? '')}`,
    ...(error instanceof AppError ? error.suggestions.map(it => `  ${harmless(it)}`) : []),
  ]
}

/** A ledger that was slow. */
const WORTH_SAYING_MS = 1_000

const ORDER: readonly State[] = ['done', 'no-op', 'failed', 'skipped', 'blocked', 'detached', 'unknown']

export interface ApplyOutcome {
  readonly run?: string
  readonly result: ApplyResult
  /** Somebody stopped it. */
  readonly interrupted?: boolean
  /** All that the command sent. */
  readonly requests: number
  /** Those that were sent before anything was carried out. */
  readonly before: number
  readonly residualPlan?: string
  /** What the plan said it would take. */
  readonly bill?: Bill
  /** The last lines of the audits of its stacks. */
  readonly audit?: readonly {readonly stack: string; readonly seq: number; readonly hash: string}[]
}

/** What was expected, beside what it was. */
const beside = (expected: string | undefined): string => (expected === undefined ? '' : ` (planned: ${expected})`)

const timeText = ({seconds, bound}: BoundTime): string => `${formatDuration(seconds * 1000)}, ${boundBy(bound)}`

/** What a plan announces is what carrying it out takes: that stands last. */
const requestsText = ({requests: all, before, bill}: ApplyOutcome): string =>
  all === before
    ? `${all} request${all === 1 ? '' : 's'}`
    : `${all} requests: ${before} to plan, ${all - before} to apply${beside(bill && `${bill.requests}`)}`

/** Nothing where nothing was done. What goes on without the run was neither ready nor proven. */
function timesText({result: {summary, unproven, readyMs, recordedMs, provenMs}, bill}: ApplyOutcome): string {
  const goesOn = summary.detached + summary.unknown > 0
  if (!goesOn && summary.done + summary.failed === 0) return ''
  const waited = recordedMs < WORTH_SAYING_MS ? '' : `, waited ${formatDuration(recordedMs)} for the ledger (with digests of secrets)`
  if (goesOn) return `, ended after ${formatDuration(readyMs)}${waited}`
  // What sends nothing was not expected to take any time.
  const planned = bill !== undefined && bill.requests > 0 ? bill : undefined
  const ready = `, ready after ${formatDuration(readyMs)}${beside(planned && timeText(planned.ready))}${waited}`
  return unproven ? `${ready}, not proven` : `${ready}, proven after ${formatDuration(provenMs)}${beside(planned && timeText(planned))}`
}

/** Why a field, or the object itself, is not as it should be, and what to do. */
function residualText({path, before, after, diagnosis, advice}: ResidualField, here: (text: string) => string): string {
  const isKnown = before !== undefined || after !== undefined
  const values = isKnown
    ? ` is ${before === undefined ? '(absent)' : shownValue(before)}, not ${after === undefined ? '(gone)' : shownValue(after)}`
    : ''
  return `${path === '' ? '' : `${path.slice(1)}${values}: `}${diagnosis}; ${harmless(here(advice))}`
}

/** Beside a document that has them all: the first few, a line each. */
export function residualLines({residual}: Pick<ApplyResult, 'residual'>, several: boolean, here: (text: string) => string): string[] {
  const all = residual.flatMap(({key, fields}) => fields.map(it => `not converged: ${titleOf(key, several)}: ${residualText(it, here)}`))
  return all.length <= MOST_LINES ? all : [...all.slice(0, MOST_LINES), `not converged: ${all.length - MOST_LINES} more`]
}

/** @param here - commands as they work here */
export function applySummary(outcome: ApplyOutcome, paint: Ansis, here = (text: string): string => text): string {
  const {run, result, residualPlan, audit = []} = outcome
  const {summary, residual} = result
  const counts = ORDER.filter(state => summary[state] > 0).map(state => `${summary[state]} ${state}`)
  const lines = [
    `${paint.bold('Apply:')} ${counts.length === 0 ? 'nothing to do' : counts.join(', ')}. ${requestsText(outcome)}${timesText(outcome)}.`,
  ]
  for (const {address, fields} of residual) {
    lines.push(`${paint.red('not converged:')} ${address}`)
    for (const field of fields) lines.push(`  ${residualText(field, here)}`)
  }
  if (result.closed !== undefined) lines.push(`${paint.red('stopped:')} ${harmless(here(result.closed.by.message))}`)
  const isLeft = isLeftToApply(result.ended.map(({operation, state, because}) => ({key: keyOfOperation(operation), state, because})))
  // One way on: the run itself knows what is in flight.
  if (run !== undefined && (summary.detached + summary.unknown > 0 || (outcome.interrupted && isLeft)))
    lines.push(here(`To continue: svcctl apply --resume ${run}`))
  else if (residualPlan !== undefined && isLeft) lines.push(here(`What is left to do: svcctl apply ${shellWord(residualPlan)}`))
  for (const {stack, seq, hash} of audit) lines.push(`Audit: ${oneLine(stack)} ${seq} ${hash}`)
  return `${lines.join('\n')}\n`
}
