/**
 * How an apply, or whatever reads for long before a command has its answer, is shown while it goes on: a live view on a
 * terminal, lines everywhere else. Both read one event stream.
 */
import type {Emit} from '../../engine/model/events.ts'
import type {Key} from '../../engine/model/value.ts'
import {applyLines} from '../../report/apply-text.ts'
import {LiveView} from '../../report/live-view.ts'
import {type Context, paintFor} from '../shell/context.ts'

const LOOK_MS = 250

export interface ProgressOptions {
  /** The plan covers several stacks. */
  readonly several: boolean
  /** Construct paths of the objects that have one. */
  readonly constructs: ReadonlyMap<Key, string>
}

export async function showProgress<T>(
  context: Context,
  {several, constructs}: ProgressOptions,
  work: (emit: Emit) => Promise<T>,
): Promise<T> {
  const {clock, environment, log, streams} = context
  const {stderr} = streams
  const paint = paintFor(stderr, environment)
  const now = () => clock.now()
  // A program that loads its own parts, or computes, waits for nobody.
  let stalledMs = 0
  const awake = () => clock.now() - stalledMs
  const live = stderr.isTTY === true && !environment.ci && environment.all.TERM !== 'dumb'
  const lines = applyLines({paint, now, awake, several, constructs, quiet: live})
  const view = live ? new LiveView({paint, now, awake, several, constructs, measure: (await import('string-width')).default}) : undefined
  const say = (texts: readonly string[]) => {
    for (const text of texts) log.painted(text)
  }
  const draw = () => {
    if (view) log.below(view.frame({columns: stderr.columns ?? 80, rows: stderr.rows ?? 24}))
  }
  const ended = new AbortController()
  const ticking = repeat(() => (view ? draw() : say(lines.tick())))
  async function repeat(look: () => void): Promise<void> {
    while (!ended.signal.aborted) {
      const since = clock.now()
      await clock.sleep(LOOK_MS, ended.signal).catch(() => undefined)
      stalledMs += Math.max(0, clock.now() - since - 2 * LOOK_MS)
      if (!ended.signal.aborted) look()
    }
  }
  try {
    return await work(event => {
      view?.on(event)
      // What is read is written next, and not below a line of ours.
      if (event.type === 'end' || event.type === 'reading') draw()
      say(lines.on(event))
    })
  } finally {
    ended.abort()
    await ticking
    log.below([])
  }
}
