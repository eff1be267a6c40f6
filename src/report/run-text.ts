/** The story of a run, from its journal. */
import type {JsonObject} from '../base/json.ts'
import type {State} from '../engine/model/events.ts'
import type {JournalEntry} from '../engine/model/journal.ts'
import type {Key} from '../engine/model/value.ts'

export interface ToldRun {
  readonly header: {
    readonly run: string
    readonly startedAt: number
    readonly stacks: readonly string[]
    readonly plan: string
    readonly version: string
  }
  readonly entries: readonly JournalEntry[]
  readonly loose: readonly {readonly key: string; readonly step: string; readonly taskId?: string}[]
  readonly ended: boolean
  readonly alive: boolean
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
    operations: [...statesOf(entries)].map(([key, state]) => ({key, state})),
    sent: entries.flatMap(it =>
      it.type === 'sent' ? [{at: new Date(it.at).toISOString(), key: it.key, step: it.step, method: it.method, path: it.path}] : [],
    ),
  }
}

/** How each ended; one that was let go of and has settled since is as was found then. */
function statesOf(entries: readonly JournalEntry[]): ReadonlyMap<Key, State> {
  const states = new Map<Key, State>()
  for (const it of entries) {
    if (it.type === 'ended') states.set(it.key, it.state)
    else if ((it.type === 'settled' || it.type === 'void') && LEFT_OPEN.includes(states.get(it.key) ?? 'done'))
      states.set(it.key, it.type === 'settled' && it.failed === undefined ? 'done' : 'failed')
  }
  return states
}

/** What a run ends without knowing the end of. */
export const LEFT_OPEN: readonly State[] = ['detached', 'unknown']

export function runText(run: ToldRun): string {
  const {header, entries, loose} = run
  const lines = [
    `run ${header.run} (${runState(run)}), stacks ${header.stacks.join(', ')}, plan ${header.plan.slice(0, 12)}, started ${new Date(header.startedAt).toISOString()}`,
  ]
  for (const it of entries) {
    if (it.type === 'sent') lines.push(`  ${new Date(it.at).toISOString()} ${it.method} ${it.path} for ${it.key}`)
    else if (it.type === 'handle') lines.push(`    task ${it.taskId} for ${it.key}`)
    else if (it.type === 'settled')
      lines.push(
        `    ${it.key} ${it.step}: ${it.failed === undefined ? `done${it.remoteId === undefined ? '' : ` [${it.remoteId}]`}` : `failed (${it.failed})`}`,
      )
    else if (it.type === 'void') lines.push(`    ${it.key} ${it.step}: nothing happened (${it.why})`)
    else if (it.type === 'ended') lines.push(`  ${it.key}: ${it.state}`)
  }
  for (const it of loose) lines.push(`  in flight: ${it.step} ${it.key}${it.taskId === undefined ? '' : ` (task ${it.taskId})`}`)
  return lines.join('\n')
}
