/** An apply as it happens, for people: a line per event that matters, and a summary at the end. */
import type {Ansis} from 'ansis'
import {formatDuration} from '../base/duration.ts'
import {AppError} from '../base/errors.ts'
import type {ApplyEvent, State} from '../engine/events.ts'
import type {ApplyResult} from '../engine/execute.ts'
import {shownValue} from './plan-text.ts'
import {harmless} from './terminal-text.ts'

/** A waiting object says so again after this long. */
const SAY_AGAIN_MS = 10_000

export interface ApplyLines {
  /** Lines to show for an event; none for most. */
  on(event: ApplyEvent): readonly string[]
}

/** Line by line, for logs and pipes: a waiting object is mentioned every 10 s. */
export function applyLines(paint: Ansis, now: () => number): ApplyLines {
  const said = new Map<string, number>()
  const title = (key: string) => key.slice(key.indexOf(':') + 1)
  const again = (key: string, text: string): readonly string[] => {
    const last = said.get(key)
    if (last === undefined) {
      said.set(key, now())
      return []
    }
    if (now() - last < SAY_AGAIN_MS) return []
    said.set(key, now())
    return [text]
  }
  return {
    on: event => {
      switch (event.type) {
        case 'started':
          said.set(event.key, now())
          return [`${title(event.key)}: ${event.action}${event.step === event.action ? '' : ` (${event.step})`} ...`]
        case 'held':
          return again(event.key, `${title(event.key)}: waiting: ${harmless(event.reason)}`)
        case 'waiting':
          return again(
            event.key,
            `${title(event.key)}: still waiting for ${event.for === 'task' ? 'its task' : `it to be ${event.for}`}${event.status === undefined ? '' : ` (${harmless(event.status)})`}, ${formatDuration(event.elapsedMs)}`,
          )
        case 'in doubt':
          return [`${title(event.key)}: ${harmless(event.why)}; looking whether the ${event.step} happened`]
        case 'ended':
          return endedLines(event, title(event.key), paint)
        case 'proving':
          return event.objects === 0 ? [] : [`proving ${event.objects} objects ...`]
        case 'warning':
          return [`${paint.yellow('warning:')} ${harmless(event.message)}`]
        case 'begin':
        case 'accepted':
        case 'proved':
        case 'end':
          return []
        default:
          return event satisfies never
      }
    },
  }
}

function endedLines(event: Extract<ApplyEvent, {type: 'ended'}>, title: string, paint: Ansis): readonly string[] {
  const {state, action, ms, remoteId, error, because} = event
  const id = remoteId === undefined ? '' : ` [${remoteId}]`
  if (state === 'done') return [`${title}: ${paint.green(`${action} done`)} after ${formatDuration(ms)}${id}`]
  if (state === 'skipped') return [`${title}: ${paint.yellow('skipped')}${because === undefined ? '' : ` because of ${because}`}`]
  if (state === 'detached') return [`${title}: ${paint.yellow('detached')}: its task goes on${id}`]
  return [
    `${title}: ${paint.red(state)}: ${harmless(error?.message ?? '')}`,
    ...(error instanceof AppError ? error.suggestions.map(it => `  ${harmless(it)}`) : []),
  ]
}

const ORDER: readonly State[] = ['done', 'no-op', 'failed', 'skipped', 'detached', 'unknown']

export interface ApplyOutcome {
  readonly run: string
  readonly result: ApplyResult
  readonly requests: number
  readonly residualPlan?: string
}

export function applySummary({run, result, requests, residualPlan}: ApplyOutcome, paint: Ansis): string {
  const {summary, residual, readyMs, provenMs} = result
  const counts = ORDER.filter(state => summary[state] > 0).map(state => `${summary[state]} ${state}`)
  const lines = [
    `${paint.bold('Apply:')} ${counts.length === 0 ? 'nothing to do' : counts.join(', ')}. ${requests} requests, ready after ${formatDuration(readyMs)}, proven after ${formatDuration(provenMs)}.`,
  ]
  for (const {address, fields} of residual) {
    lines.push(`${paint.red('not converged:')} ${address}`)
    for (const {path, before, after, diagnosis, advice} of fields) {
      const values =
        path === ''
          ? ''
          : `${path.slice(1)} is ${before === undefined ? '(absent)' : shownValue(before)}, not ${after === undefined ? '(gone)' : shownValue(after)}: `
      lines.push(`  ${values}${diagnosis}; ${harmless(advice)}`)
    }
  }
  if (summary.detached + summary.unknown > 0) lines.push(`Go on with: svcctl apply --resume ${run}`)
  if (residualPlan !== undefined) lines.push(`What is left to do: svcctl apply ${residualPlan}`)
  return `${lines.join('\n')}\n`
}
