/** The story of a run, from its journal. */
import type {JsonObject} from '../base/json.ts'
import type {DeadRun, JournalEntry} from '../engine/model/journal.ts'
import type {Operation} from '../engine/model/plan.ts'
import {type Key, keyOfOperation} from '../engine/model/value.ts'
import {type ToldEnd, toldEnds} from '../engine/plan/told-ends.ts'
import {oneLine} from './terminal-text.ts'

export interface ToldRun {
  readonly header: {
    readonly run: string
    readonly startedAt: number
    readonly stacks: readonly string[]
    readonly plan: string
    readonly version: string
  }
  readonly entries: readonly JournalEntry[]
  readonly loose: DeadRun['loose']
  readonly ended: boolean
  readonly alive: boolean
  /** Of its plan; absent where that is gone. */
  readonly operations?: readonly Operation[]
}

export type RunState = 'running' | 'ended' | 'unfinished'

export const runState = ({ended, alive}: Pick<ToldRun, 'ended' | 'alive'>): RunState => (ended ? 'ended' : alive ? 'running' : 'unfinished')

/** All that its command sent, as it said when it ended; of one that died, as far as it had come. */
export const requestsSent = ({entries}: Pick<ToldRun, 'entries'>): number =>
  entries.findLast(it => it.requests !== undefined)?.requests ?? entries.filter(it => it.type === 'sent').length

export function runDocument(run: ToldRun): JsonObject {
  const {header, entries, loose} = run
  return {
    run: header.run,
    state: runState(run),
    started: new Date(header.startedAt).toISOString(),
    stacks: [...header.stacks],
    plan: header.plan,
    requests: requestsSent(run),
    in_flight: loose.map(({key, step, taskId}) => ({key, step, ...(taskId === undefined ? {} : {task_id: taskId})})),
    operations: endsOf(run).map(([key, {state, why}]) => ({key, state, ...(why === undefined ? {} : {reason: why})})),
    sent: entries.flatMap(it =>
      it.type === 'sent' ? [{at: new Date(it.at).toISOString(), key: it.key, step: it.step, method: it.method, path: it.path}] : [],
    ),
  }
}

/** Of a process that still works on it nothing is said but what it has said itself. */
function endsOf({entries, loose, alive, operations = []}: ToldRun): readonly (readonly [Key, ToldEnd])[] {
  const planned = new Map(operations.map(it => [keyOfOperation(it), it]))
  const said = new Set(entries.flatMap(it => (it.type === 'ended' || (it.type === 'sent' && !alive) ? it.key : [])))
  const others = alive ? [] : operations.filter(it => it.action !== 'no-op').map(keyOfOperation)
  const endOf = toldEnds({entries, loose})
  return [...new Set([...said, ...others])].map(key => {
    const operation = planned.get(key)
    const told = endOf(key, operation)
    return [key, told.state === 'blocked' && operation !== undefined ? {...told, why: operation.reason} : told]
  })
}

export function runText(run: ToldRun): string {
  const {header, entries, loose} = run
  const lines: string[] = []
  // What a server said, and what somebody has named, begins no line.
  const add = (indent: string, text: string): void => void lines.push(`${indent}${oneLine(text)}`)
  add(
    '',
    `run ${header.run} (${runState(run)}), stacks ${header.stacks.join(', ')}, plan ${header.plan.slice(0, 12)}, started ${new Date(header.startedAt).toISOString()}`,
  )
  for (const it of entries) {
    if (it.type === 'sent') add('  ', `${new Date(it.at).toISOString()} ${it.method} ${it.path} for ${it.key}`)
    else if (it.type === 'handle') add('    ', `task ${it.taskId} for ${it.key}`)
    else if (it.type === 'settled')
      add(
        '    ',
        `${it.key} ${it.step}: ${it.failed === undefined ? `done${it.remoteId === undefined ? '' : ` [${it.remoteId}]`}` : `failed (${it.failed})`}`,
      )
    else if (it.type === 'void') add('    ', `${it.key} ${it.step}: nothing happened (${it.why})`)
  }
  for (const [key, {state, why}] of endsOf(run)) add('  ', `${key}: ${state}${why === undefined ? '' : ` (${why})`}`)
  for (const it of loose) add('  ', `in flight: ${it.step} ${it.key}${it.taskId === undefined ? '' : ` (task ${it.taskId})`}`)
  return lines.join('\n')
}
